// The file of `evenkeel serve`: TOML, each key known by name, each value checked, everything that
// is wrong reported immediately, with its line.
//
//     evenkeel.toml:12: limits.connections_max: must be a whole number from 1 to 1000000
//
// docs/configuration.md has all keys. Paths are as seen from the folder of the file. A value that
// may be a secret is never part of an error.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "door/auth/jwt.h"
#include "io/file.h"
#include "server/server.h"

namespace evenkeel::server {

enum class LogFormat : std::uint8_t { automatic, text, json };

struct JwtConfig {
    door::JwtOptions options;
    std::string key_set_file;  // or
    std::string key_set_url;
    std::string ca_file;  // whom to trust there
    std::chrono::milliseconds refresh{std::chrono::hours(1)};
    std::chrono::milliseconds pause{std::chrono::seconds(10)};
};

struct Config {
    ServerOptions server;  // all but what is in the files named below
    std::string certificate_file;
    std::string key_file;
    std::optional<JwtConfig> jwt;
    LogFormat log_format = LogFormat::automatic;
    TraceLevel log_level = TraceLevel::info;
    std::string ready_file;
};

// `path` is for errors, and its folder for paths within. invalid_argument has a line for each thing
// that is wrong. Keys in files of their own are named by key_files(), and are still empty.
struct KeyFile {
    std::size_t rule;  // its place in server.rules
    bool is_primary;
    std::string path;
};
struct ParsedConfig {
    Config config;
    std::vector<KeyFile> key_files;
};
Result<ParsedConfig> parse_config(std::string_view text, const std::string& path);

// Reads the file and all that it names: keys, certificate, key set. Blocks.
Result<Config> load_config(io::FileSystem& files, const std::string& path);

// The keys whose values differ and that take effect only after a restart; for the log.
std::vector<std::string> needs_restart(const Config& before, const Config& after);

}  // namespace evenkeel::server
