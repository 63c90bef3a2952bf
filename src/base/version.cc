#include <evenkeel/version.h>

namespace evenkeel {

std::string_view version() {
    return EVENKEEL_VERSION_STRING;
}

}  // namespace evenkeel
