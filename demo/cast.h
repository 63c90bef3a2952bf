// The demo's processes: starts them, passes their reports to the checker, and knows which of them
// are ready, done or have exited.
//
// Threads: the one that made it; the checker is called on a thread of the cast's own.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
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

    // What a line of a program that writes no reports means to the checker, if anything. Called
    // on a thread of the cast's own.
    using Translate = std::function<std::optional<Report>(std::string_view line)>;

    // Returns its place in the cast. The checker knows it as `process`.
    Result<std::size_t> start(const std::vector<std::string>& arguments, std::uint32_t process,
                              Translate translate = {});
    bool is_ready(std::size_t member) const { return members_[member].ready; }
    // Its stdout has ended.
    bool is_gone(std::size_t member) const { return members_[member].gone; }
    // Asks it to stop; it may still report what is under way. A program with a translation gets
    // SIGTERM.
    void stop(std::size_t member);
    pid_t id(std::size_t member) const { return members_[member].child.id(); }
    // With SIGKILL: it has no time to say or store anything.
    void kill(std::size_t member);
    void signal(std::size_t member, int number) const;
    // Reports of nobody's stdout.
    void take(const std::vector<Report>& reports, std::uint32_t process);
    // The demo cannot go on.
    void fail(const Error& error);
    // Reads the remaining reports. All processes must be stopped or have exited.
    void finish();

private:
    struct Member {
        Member(cli::Child started, std::uint32_t known_as, Translate translation)
            : process(known_as),
              translate(std::move(translation)),
              child(std::move(started)),
              listener("hear") {}
        const std::uint32_t process;
        const Translate translate;  // empty: it writes reports
        cli::Child child;
        std::atomic<bool> ready{false};
        std::atomic<bool> gone{false};
        std::atomic<bool> stopping{false};
        io::system::WorkerThread listener;  // reads its lines
    };

    void listen(Member& member);
    static std::optional<Report> report_in(const Member& member, std::string_view line);

    Checker& checker_;
    const std::string connection_;
    const std::string program_;
    io::system::WorkerThread judge_;  // the checker's
    std::deque<Member> members_;
};

}  // namespace evenkeel::demo
