#include "cli/commands/host_status.h"

#include <cerrno>
#include <cstdlib>
#include <memory>

#include <signal.h>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"
#include "cli/host_status.h"
#include "io/system/files.h"

namespace evenkeel::cli {
namespace {

constexpr std::uint64_t status_bytes_max = std::uint64_t{16} << 20;

Error not_running(const std::string& folder, std::string_view why) {
    return {ErrorCode::not_found,
            fmt::format("no host of '{}' runs on this machine{}", folder, why)};
}

Result<std::string> file_of(const HostStatusOptions& options) {
    if (!options.file.empty()) return options.file;
    const std::unique_ptr<char, decltype(&std::free)> whole(
        realpath(options.folder.c_str(), nullptr), &std::free);
    if (!whole) {
        return Error{ErrorCode::not_found, fmt::format("'{}' does not exist", options.folder)};
    }
    return status_file_of(whole.get());
}

// One that was killed could not remove its file.
bool is_running(const std::string& text) {
    boost::system::error_code error;
    const auto parsed = boost::json::parse(text, error);
    if (error || !parsed.is_object()) return true;  // status_text() says what is wrong with it
    const auto* process = parsed.get_object().if_contains("pid");
    if (process == nullptr || !process->is_int64() || process->get_int64() <= 0) return true;
    return kill(static_cast<pid_t>(process->get_int64()), 0) == 0 || errno != ESRCH;
}

Result<std::string> read_status(const HostStatusOptions& options) {
    EK_TRY_ASSIGN(const auto file, file_of(options));
    io::system::SystemFiles files;
    const auto bytes = io::read_file(files, file, status_bytes_max);
    if (!bytes.ok()) {
        if (bytes.error().code == ErrorCode::not_found) return not_running(options.folder, "");
        return bytes.error();
    }
    std::string text(as_text(*bytes));
    if (!is_running(text)) return not_running(options.folder, " any more: it was killed");
    return text;
}

}  // namespace

ExitCode host_status(const HostStatusOptions& options) {
    const std::string what = fmt::format("cannot show the host of '{}'", options.folder);
    const auto status = read_status(options);
    if (!status.ok()) {
        return fail(what, status.error(),
                    status.error().code == ErrorCode::not_found
                        ? "'evenkeel host APP' runs it; one with --instance has no scale controller"
                        : "");
    }
    const auto text = status_text(*status, SystemClock().wall(), terminal_of(stdout));
    if (!text.ok()) return fail(what, text.error());
    fmt::print("{}{}", options.output == "json" ? *status : *text,
               options.output == "json" ? "\n" : "");
    return ExitCode::done;
}

}  // namespace evenkeel::cli
