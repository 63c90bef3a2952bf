// `evenkeel demo` with its processors meeting in Blob storage.
#include "process/store/blob_command_fixture.h"
#include "support/demo_run.h"

namespace evenkeel::test {
namespace {

TEST_P(BlobCommand, demo_ends_well) {
    if (!is_azurite()) GTEST_SKIP() << "it takes its time, and runs on the emulator";
    fault::expect_a_good_demo(container(), 9);
}

}  // namespace
}  // namespace evenkeel::test
