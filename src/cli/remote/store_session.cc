#include "cli/remote/store_session.h"

#include <chrono>
#include <string_view>

#include <fmt/core.h>

#include "io/file.h"
#include "io/system/files.h"

namespace evenkeel::cli {

Result<> check_file_of_store(const std::string& url) {
    constexpr std::string_view sqlite = "sqlite:";
    if (!url.starts_with(sqlite)) return {};
    const std::string file = url.substr(sqlite.size());
    io::system::SystemFiles files;
    const auto opened = files.open(file, io::OpenMode::read);
    if (opened.ok()) return {};
    if (opened.error().code != ErrorCode::not_found) return opened.error();
    return Error{ErrorCode::not_found,
                 fmt::format("there is no file '{}'; the first processor that runs with --store {} "
                             "makes it, or the name is another one",
                             file, url)};
}

ExitCode fail_store(std::string_view what, const Error& error, const std::string& url) {
    const bool is_out_of_reach =
        error.code == ErrorCode::unavailable || error.code == ErrorCode::timed_out;
    fail(what, error,
         is_out_of_reach
             ? fmt::format("is the checkpoint store {} running? --store or EVENKEEL_STORE names "
                           "another",
                           url)
             : "");
    return is_out_of_reach ? ExitCode::cannot_reach : exit_code(error.code);
}

Result<std::unique_ptr<StoreSession>> StoreSession::open(const std::string& url,
                                                         const checkpoint::GroupName& group,
                                                         const checkpoint::OpenOptions& options) {
    std::unique_ptr<StoreSession> session(new StoreSession());
    EK_TRY_ASSIGN(session->store_, checkpoint::open_store(url, group, session->loop_, options));
    if (!session->store_) return std::unique_ptr<StoreSession>();
    session->loop_.start();
    return session;
}

StoreSession::~StoreSession() {
    loop_.stop();
    store_.reset();
}

bool StoreSession::is_alive(const checkpoint::Member& member) const {
    const bool is_thrifty = store_->pace() == checkpoint::Pace::thrifty;  // written every 35 s
    return member.age < std::chrono::seconds(is_thrifty ? 120 : 30);
}

}  // namespace evenkeel::cli
