// Where this build's programs and the tree's files are. Only paths.cc knows the folders: a test
// that had them as definitions of its own would be compiled anew in each checkout.
#pragma once

#include <string>
#include <string_view>

namespace evenkeel::test {

// The program that users run.
std::string evenkeel_program();
// Of something else that was built, by its path in the build folder, such as kill_target in
// tests/process/serve.
std::string built_path(std::string_view path);
// Of a file in the tree: "examples/evenkeel.toml".
std::string source_path(std::string_view path);
// Of a file in tests/data.
std::string data_path(std::string_view name);

}  // namespace evenkeel::test
