#include "cli/store_session.h"

#include <chrono>

namespace evenkeel::cli {

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
