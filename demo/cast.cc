#include "demo/cast.h"

#include <signal.h>

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

Result<std::size_t> Cast::start(const std::vector<std::string>& arguments, std::uint32_t process,
                                Translate translate) {
    EK_TRY_ASSIGN(auto child, cli::Child::start(arguments, program_));
    if (!child.say(connection_)) {
        return Error{ErrorCode::unavailable, "a child process ended immediately"};
    }
    Member& member = members_.emplace_back(std::move(child), process, std::move(translate));
    member.listener.post([this, &member] { listen(member); });
    return members_.size() - 1;
}

void Cast::stop(std::size_t member) {
    members_[member].stopping = true;
    if (members_[member].translate) signal(member, SIGTERM);
    members_[member].child.close_input();
}

void Cast::signal(std::size_t member, int number) const {
    if (!members_[member].gone) ::kill(members_[member].child.id(), number);
}

void Cast::take(const std::vector<Report>& reports, std::uint32_t process) {
    io::system::run_and_wait(judge_, [&] {
        for (const auto& report : reports) checker_.take(report, process);
    });
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

std::optional<Report> Cast::report_in(const Member& member, std::string_view line) {
    if (member.translate) return member.translate(line);
    auto report = parse_report(line);
    if (report.ok()) return std::move(*report);
    return Report{.kind = Report::Kind::failed, .error = report.error()};
}

void Cast::listen(Member& member) {
    while (member.child.fill()) {
        std::vector<Report> reports;
        while (const auto line = member.child.line()) {
            auto report = report_in(member, *line);
            if (!report) continue;
            if (report->kind == Report::Kind::ready) member.ready = true;
            reports.push_back(std::move(*report));
        }
        take(reports, member.process);
    }
    if (!member.stopping) fail({ErrorCode::unavailable, "a process of the demo ended early"});
    member.gone = true;
}

}  // namespace evenkeel::demo
