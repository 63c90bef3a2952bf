// One listener of the live feed: what it has not taken yet, bounded, as the body of its response.
//
// A client that is slower than the feed loses what waits for it: it hears how much, and gets a
// new snapshot. Frames are shared by all clients of a topic.
// Ownership: of its HTTP connection; the feed only knows it. It leaves the feed when destroyed.
// Threads: pinned to the hub's loop.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "http/body_stream.h"

namespace evenkeel::dashboard {

using Frame = std::shared_ptr<const std::string>;

class LiveClient final : public http::BodyStream {
public:
    static constexpr std::size_t frames_max = 256;
    static constexpr std::size_t bytes_max = std::size_t{4} << 20;

    struct Place {
        std::function<std::string()> snapshots;  // of all its topics, as frames
        std::function<void(LiveClient&)> gone;
    };
    LiveClient(Place place, Instant now) : place_(std::move(place)), last_pushed_(now) {}
    ~LiveClient() override { place_.gone(*this); }

    void next(Next done) override;
    void push(const Frame& frame, Instant now);
    // The body ends when everything was taken.
    void end();

    Instant last_pushed() const { return last_pushed_; }

private:
    void give();

    const Place place_;
    std::deque<Frame> frames_;
    std::size_t bytes_ = 0;
    std::uint64_t dropped_ = 0;
    bool needs_snapshot_ = true;
    bool has_ended_ = false;
    Instant last_pushed_;
    Next waiting_;
};

}  // namespace evenkeel::dashboard
