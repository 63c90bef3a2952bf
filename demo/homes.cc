#include "demo/homes.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "cli/child.h"

namespace evenkeel::demo {
namespace {

// For aggregates that are still to come when the last event was handled.
constexpr int verify_wait_seconds = 20;

// The words of a line, and numbers among them.
class Words {
public:
    explicit Words(std::string_view line) : rest_(line) {}
    std::string_view next() {
        const std::size_t begin = std::min(rest_.find_first_not_of(' '), rest_.size());
        rest_.remove_prefix(begin);
        const std::string_view word = rest_.substr(0, rest_.find(' '));
        rest_.remove_prefix(word.size());
        return word;
    }
    // True if the next word is this one.
    bool has(std::string_view word) { return next() == word; }
    template <typename Number>
    bool number(Number& to) {
        const std::string_view word = next();
        const auto parsed = std::from_chars(word.data(), word.data() + word.size(), to);
        return parsed.ec == std::errc() && parsed.ptr == word.data() + word.size();
    }
    bool empty() const { return rest_.empty(); }

private:
    std::string_view rest_;
};

void take_alarm(std::string_view line, HomesNews& news) {
    Words in(line);
    std::uint32_t home = 0;
    if (!in.has("alarm") || !in.has("home") || !in.number(home)) return;
    while (!in.empty() && !in.has("after")) {
    }
    std::int64_t late_ms = 0;
    if (!in.number(late_ms)) return;
    news.alarms.with([&](auto& alarms) {
        ++alarms.count;
        alarms.slowest_ms = std::max(alarms.slowest_ms, late_ms);
        alarms.last_home = home;
    });
}

std::vector<std::string> call_of(const std::string& folder, std::string_view name) {
    return {"demo-program", fmt::format("{}/{}", folder, name)};
}

void add(std::vector<std::string>& to, std::initializer_list<std::string> more) {
    to.insert(to.end(), more);
}

}  // namespace

std::optional<Report> report_of(std::string_view line, std::int64_t now_ms, HomesNews& news) {
    constexpr std::string_view ready = "ready";
    if (line.starts_with(ready)) {
        const std::size_t address = line.find("http://");
        if (address != std::string_view::npos) {
            news.page.with([&](auto& page) { page = line.substr(address); });
        }
        return Report{.kind = Report::Kind::ready};
    }
    take_alarm(line, news);
    if (line.starts_with("dead letter:")) {
        news.alarms.with([](auto& alarms) { ++alarms.dead_letters; });
    }
    Words in(line);
    Report report{.kind = Report::Kind::read, .at_ms = now_ms};
    std::int64_t last = 0;
    if (!in.has("wrote") || !in.has("partition") || !in.number(report.partition) ||
        !in.has("epoch") || !in.number(report.epoch) || !in.has("sequences") ||
        !in.number(report.sequence) || !in.number(last) || report.sequence < 0 ||
        last < report.sequence) {
        return std::nullopt;
    }
    // Events are counted by their place in the partition.
    report.number = static_cast<std::uint64_t>(report.sequence);
    report.count = static_cast<std::uint64_t>(last - report.sequence + 1);
    return report;
}

std::string aggregates_of_run(const std::string& where, std::uint64_t run) {
    const bool is_blob = where.starts_with("azblob:");
    return fmt::format("{}{}run-{:016x}", where, is_blob ? ";Folder=" : "/", run);
}

std::vector<std::string> devices_arguments(const std::string& folder, std::uint32_t homes,
                                           const std::string& ledger) {
    auto arguments = call_of(folder, "devices");
    add(arguments, {"--homes", std::to_string(homes), "--ledger", ledger});
    return arguments;
}

std::vector<std::string> aggregator_arguments(const std::string& folder, const std::string& id,
                                              bool is_fast) {
    auto arguments = call_of(folder, "aggregator");
    add(arguments, {"--window", "1", "--id", id, "--profile", is_fast ? "fast" : "standard"});
    return arguments;
}

std::vector<std::string> alarms_arguments(const std::string& folder, bool is_fast) {
    auto arguments = call_of(folder, "alarms");
    add(arguments, {"--profile", is_fast ? "fast" : "standard"});
    return arguments;
}

std::vector<std::string> page_arguments(const std::string& folder, std::uint32_t homes) {
    auto arguments = call_of(folder, "page");
    add(arguments, {"--homes", std::to_string(homes), "--partitions",
                    std::to_string(homes_partitions), "--port", "0"});
    return arguments;
}

cli::ExitCode run_program(const std::vector<std::string>& call) {
    cli::live_with_parent();
    const auto connection = cli::next_word();
    if (!connection || call.empty()) return cli::ExitCode::failed;
    ::setenv("EVENKEEL_HUB", connection->c_str(), 1);
    ::setpgid(0, 0);  // Ctrl-C is for the demo, which stops it in its turn
    std::vector<char*> raw;
    for (const auto& word : call) raw.push_back(const_cast<char*>(word.c_str()));
    raw.push_back(nullptr);
    ::execv(raw.front(), raw.data());
    fmt::print(stderr, "cannot run {}; ./run builds it\n", call.front());
    return cli::ExitCode::failed;
}

Result<Aggregates> parse_aggregates(std::string_view json) {
    const Error wrong{ErrorCode::corrupt, "'verify' has printed something else than its result"};
    boost::system::error_code error;
    const auto value = boost::json::parse(json, error);
    if (error || !value.is_object()) return wrong;
    const auto number = [&](std::string_view name, std::uint64_t& to) {
        const auto* field = value.get_object().if_contains(name);
        if (field == nullptr || !field->is_int64() || field->get_int64() < 0) return false;
        to = static_cast<std::uint64_t>(field->get_int64());
        return true;
    };
    Aggregates found;
    if (!number("aggregates_checked", found.checked) || !number("aggregates_wrong", found.wrong) ||
        !number("events", found.events)) {
        return wrong;
    }
    return found;
}

Result<Aggregates> verify_aggregates(const std::string& folder, const std::string& ledger) {
    auto arguments = call_of(folder, "verify");
    add(arguments, {"--ledger", ledger, "--wait", std::to_string(verify_wait_seconds)});
    EK_TRY_ASSIGN(auto child, cli::Child::start(arguments));
    if (!child.say("")) {
        return Error{ErrorCode::unavailable, "'verify' of the demo ended immediately"};
    }
    const auto line = child.next_line();
    if (!line) return Error{ErrorCode::unavailable, "'verify' of the demo printed no result"};
    return parse_aggregates(*line);
}

}  // namespace evenkeel::demo
