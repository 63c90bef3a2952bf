// `evenkeel demo` with its processors meeting in Blob storage.
#include "blob/blob_command_fixture.h"
#include "fault/demo_run.h"

namespace evenkeel::test {
namespace {

TEST_P(BlobCommand, demo_ends_well) {
    fault::expect_a_good_demo(container(), is_azurite() ? 9 : 1);
}

}  // namespace
}  // namespace evenkeel::test
