// tidy: no test: tested by live_feed_test.cc
#include "dashboard/live_client.h"

#include <utility>

#include <fmt/core.h>

namespace evenkeel::dashboard {

void LiveClient::next(Next done) {
    waiting_ = std::move(done);
    give();
}

void LiveClient::push(const Frame& frame, Instant now) {
    last_pushed_ = now;
    if (needs_snapshot_) {  // which will have it
        if (dropped_ > 0) ++dropped_;
        return;
    }
    frames_.push_back(frame);
    bytes_ += frame->size();
    if (frames_.size() > frames_max || bytes_ > bytes_max) {
        dropped_ += frames_.size();
        frames_.clear();
        bytes_ = 0;
        needs_snapshot_ = true;
    }
    give();
}

void LiveClient::end() {
    has_ended_ = true;
    give();
}

void LiveClient::give() {
    if (!waiting_) return;
    std::string bytes;
    if (std::exchange(needs_snapshot_, false)) {
        if (dropped_ > 0) {
            bytes = fmt::format("event: dropped\ndata: {{\"count\":{}}}\n\n",
                                std::exchange(dropped_, 0));
        }
        bytes += place_.snapshots();
    }
    for (const Frame& frame : frames_) bytes += *frame;
    frames_.clear();
    bytes_ = 0;
    if (bytes.empty() && !has_ended_) return;
    Next done = std::exchange(waiting_, nullptr);
    if (bytes.empty()) return done(std::nullopt);
    done(std::move(bytes));
}

}  // namespace evenkeel::dashboard
