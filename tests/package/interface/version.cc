// The version at compile time and at run time.
#include "package/interface/check.h"
#include <evenkeel/version.h>

static_assert(EVENKEEL_VERSION_NUMBER >= 100, "older than what this program was written for");

int main() {
    check(evenkeel::version() == EVENKEEL_VERSION_STRING, "compiled and linked are the same");
}
