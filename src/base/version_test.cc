#include <evenkeel/version.h>

namespace evenkeel {
namespace {

TEST(Version, says_the_same_as_number_and_text) {
    EXPECT_EQ(version(), fmt::format("{}.{}.{}", EVENKEEL_VERSION_MAJOR, EVENKEEL_VERSION_MINOR,
                                     EVENKEEL_VERSION_PATCH));
    EXPECT_EQ(version(), EVENKEEL_VERSION_STRING);
    EXPECT_EQ(EVENKEEL_VERSION_NUMBER, 100);
}

}  // namespace
}  // namespace evenkeel
