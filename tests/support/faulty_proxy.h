// A TCP proxy in front of a server on 127.0.0.1 that can do what networks do: refuse, fall silent,
// lose the answers, be slow, cut.
// Threads: any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <poll.h>

#include "base/check.h"
#include "io/system/loop.h"

namespace evenkeel::test {

class FaultyProxy {
public:
    explicit FaultyProxy(std::uint16_t target) : target_(target) {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        sockaddr_in address = loopback(0);
        socklen_t size = sizeof address;
        EK_CHECK(listener_ >= 0 &&
                     ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::listen(listener_, 64) == 0 &&
                     ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0,
                 "a proxy can listen");
        port_ = ntohs(address.sin_port);
        thread_.post([this] { run(); });
    }
    ~FaultyProxy() {
        stopped_ = true;
        thread_.finish();
        ::close(listener_);
    }
    FaultyProxy(const FaultyProxy&) = delete;
    FaultyProxy& operator=(const FaultyProxy&) = delete;

    std::uint16_t port() const { return port_; }
    // Ends what is connected, and whoever comes while it is true.
    void refuse(bool on) { refuses_ = on; }
    // Nothing goes through in either direction; connections stay.
    void hold(bool on) { holds_ = on; }
    // Requests go through, answers are thrown away.
    void lose_answers(bool on) { loses_ = on; }
    // One answer is lost with its connection: the next one, or that after so many others. -1: none.
    void lose_answer_after(int others) { lose_after_ = others; }
    // Whatever comes from the server comes so much later, one piece after another.
    void slow_down(std::chrono::milliseconds by) { delay_ms_ = static_cast<int>(by.count()); }
    // Ends what is connected.
    void cut() { cuts_ = true; }
    // As refuse(true), and nothing is connected any more: no answer comes from here on.
    void refuse_and_wait() {
        refuses_ = true;
        while (connected_ > 0) ::poll(nullptr, 0, 1);  // tidy: allow sleep: between two looks
    }
    std::uint64_t lost_bytes() const { return lost_bytes_; }

private:
    struct Pair {
        int client = -1;
        int server = -1;
        bool is_over = false;
    };

    static sockaddr_in loopback(std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address.sin_port = htons(port);
        return address;
    }

    void run() {
        while (!stopped_) {
            std::vector<pollfd> ready = {{listener_, POLLIN, 0}};
            for (const Pair& pair : pairs_) {
                ready.push_back({pair.client, POLLIN, 0});
                ready.push_back({pair.server, POLLIN, 0});
            }
            const bool held = holds_;
            ::poll(ready.data(), held ? 0 : ready.size(), held ? 2 : 5);
            if (refuses_ || cuts_.exchange(false)) {
                for (Pair& pair : pairs_) pair.is_over = true;
            }
            std::size_t at = 1;
            for (Pair& pair : pairs_) {
                if (!holds_ && !pair.is_over) {
                    if (ready[at].revents != 0) forward(pair, pair.client, pair.server, false);
                    if (ready[at + 1].revents != 0) forward(pair, pair.server, pair.client, loses_);
                }
                at += 2;
            }
            pairs_.remove_if([](const Pair& pair) {
                if (pair.is_over) close_both(pair);
                return pair.is_over;
            });
            accept();
            connected_ = pairs_.size();
        }
        for (const Pair& pair : pairs_) close_both(pair);
        pairs_.clear();
    }

    void accept() {
        const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0) return;
        const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const sockaddr_in address = loopback(target_);
        if (refuses_ ||
            ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
            close_both({client, server});
            return;
        }
        pairs_.push_back({client, server});
    }

    void forward(Pair& pair, int from, int to, bool is_lost) {
        char buffer[16'384];
        const ssize_t got = ::recv(from, buffer, sizeof buffer, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (from == pair.server && delay_ms_ > 0) {
            ::poll(nullptr, 0, delay_ms_);  // tidy: allow sleep: a slow line
        }
        if (got <= 0) {
            pair.is_over = true;
        } else if (from == pair.server && lose_after_ >= 0 && lose_after_-- == 0) {
            lost_bytes_ += static_cast<std::uint64_t>(got);
            pair.is_over = true;
        } else if (is_lost) {
            lost_bytes_ += static_cast<std::uint64_t>(got);
        } else if (::send(to, buffer, static_cast<std::size_t>(got), MSG_NOSIGNAL) != got) {
            pair.is_over = true;
        }
    }

    static void close_both(const Pair& pair) {
        ::close(pair.client);
        ::close(pair.server);
    }

    const std::uint16_t target_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::list<Pair> pairs_;  // the thread's
    std::atomic<bool> stopped_ = false, refuses_ = false, holds_ = false, loses_ = false;
    std::atomic<bool> cuts_ = false;
    std::atomic<std::size_t> connected_ = 0;
    std::atomic<int> delay_ms_ = 0, lose_after_ = -1;
    std::atomic<std::uint64_t> lost_bytes_ = 0;
    io::system::WorkerThread thread_{"proxy"};
};

}  // namespace evenkeel::test
