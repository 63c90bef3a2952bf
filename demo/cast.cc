#include "demo/cast.h"

#include <fmt/core.h>

namespace evenkeel::demo {

Cast::Cast(Checker& checker, std::string connection, std::string program)
    : checker_(checker),
      connection_(std::move(connection)),
      program_(std::move(program)),
      judge_("judge") {}

Cast::~Cast() {
    for (auto& member : members_) {
        member.stopping = true;
        member.child.end();
    }
    finish();
}

Result<std::size_t> Cast::start(const std::vector<std::string>& arguments, std::uint32_t process) {
    EK_TRY_ASSIGN(auto child, cli::Child::start(arguments, program_));
    if (!child.say(connection_)) {
        return Error{ErrorCode::unavailable, "a child process ended immediately"};
    }
    Member& member = members_.emplace_back(std::move(child), process);
    member.listener.post([this, &member] { listen(member); });
    return members_.size() - 1;
}

void Cast::stop(std::size_t member) {
    members_[member].stopping = true;
    members_[member].child.close_input();
}

void Cast::kill(std::size_t member) {
    members_[member].stopping = true;
    const std::int64_t now = SystemClock().wall().milliseconds;
    members_[member].child.end();
    io::system::run_and_wait(judge_, [&] { checker_.killed(members_[member].process, now); });
}

void Cast::fail(const Error& error) {
    io::system::run_and_wait(judge_, [&] { checker_.fail(error); });
}

void Cast::finish() {
    for (auto& member : members_) member.listener.finish();
    judge_.finish();
}

void Cast::listen(Member& member) {
    while (member.child.fill()) {
        std::vector<Report> reports;
        while (const auto line = member.child.line()) {
            auto report = parse_report(*line);
            if (!report.ok()) {
                reports.push_back({.kind = Report::Kind::failed, .error = report.error()});
                continue;
            }
            if (report->kind == Report::Kind::ready) member.ready = true;
            reports.push_back(std::move(*report));
        }
        io::system::run_and_wait(judge_, [this, &reports, &member] {
            for (const auto& report : reports) checker_.take(report, member.process);
        });
    }
    if (!member.stopping) fail({ErrorCode::unavailable, "a process of the demo ended early"});
    member.gone = true;
}

}  // namespace evenkeel::demo
