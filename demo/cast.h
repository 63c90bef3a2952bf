// The demo's processes: starts them, passes their reports to the checker, and knows which of them
// are ready, done or have exited.
//
// Threads: the one that made it; the checker is called on a thread of the cast's own.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/child.h"
#include "demo/checker.h"
#include "io/system/loop.h"

namespace evenkeel::demo {

class Cast {
public:
    // Each process gets `connection` as its first line: it holds a key, which arguments would show
    // to everybody on the machine.
    Cast(Checker& checker, std::string connection, std::string program = "/proc/self/exe");
    // Kills the processes that still run.
    ~Cast();
    Cast(const Cast&) = delete;
    Cast& operator=(const Cast&) = delete;

    // Returns its place in the cast. The checker knows it as `process`.
    Result<std::size_t> start(const std::vector<std::string>& arguments, std::uint32_t process);
    bool is_ready(std::size_t member) const { return members_[member].ready; }
    // Its stdout has ended.
    bool is_gone(std::size_t member) const { return members_[member].gone; }
    // Asks it to stop; it may still report what is under way.
    void stop(std::size_t member);
    pid_t id(std::size_t member) const { return members_[member].child.id(); }
    // With SIGKILL: it has no time to say or store anything.
    void kill(std::size_t member);
    // The demo cannot go on.
    void fail(const Error& error);
    // Reads the remaining reports. All processes must be stopped or have exited.
    void finish();

private:
    struct Member {
        Member(cli::Child started, std::uint32_t known_as)
            : process(known_as), child(std::move(started)), listener("hear") {}
        const std::uint32_t process;
        cli::Child child;
        std::atomic<bool> ready{false};
        std::atomic<bool> gone{false};
        std::atomic<bool> stopping{false};
        io::system::WorkerThread listener;  // reads its lines
    };

    void listen(Member& member);

    Checker& checker_;
    const std::string connection_;
    const std::string program_;
    io::system::WorkerThread judge_;  // the checker's
    std::deque<Member> members_;
};

}  // namespace evenkeel::demo
