#include "support/paths.h"

namespace evenkeel::test {

std::string evenkeel_program() {
    return built_path("src/cli/evenkeel");
}

std::string built_path(std::string_view path) {
    return EK_BUILD_FOLDER "/" + std::string(path);
}

std::string source_path(std::string_view path) {
    return EK_SOURCE_FOLDER "/" + std::string(path);
}

std::string data_path(std::string_view name) {
    return source_path("tests/data/" + std::string(name));
}

}  // namespace evenkeel::test
