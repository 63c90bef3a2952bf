#include "cli/store_session.h"

#include "checkpoint/open.h"

namespace evenkeel::cli {

Result<std::unique_ptr<StoreSession>> StoreSession::open(const std::string& url,
                                                         const checkpoint::GroupName& group) {
    std::unique_ptr<StoreSession> session(new StoreSession());
    EK_TRY_ASSIGN(session->store_, checkpoint::open_store(url, group, session->loop_));
    session->loop_.start();
    return session;
}

StoreSession::~StoreSession() {
    loop_.stop();
    store_.reset();
}

}  // namespace evenkeel::cli
