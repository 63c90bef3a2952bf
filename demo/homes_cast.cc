// tidy: no test: run as real processes by the tests of the demo
#include "demo/homes_cast.h"

#include <cstdlib>

#include "base/clock.h"
#include "cli/remote/entries.h"
#include "processor/ownership/operator_requests.h"

namespace evenkeel::demo {
namespace {

// What a killed aggregator has written without a checkpoint: windows of a second.
constexpr double windows_repeated_max = 3;
// Reports of a home in a second, at most: with the new sensor, doors and windows.
constexpr double readings_max = 0.2;

template <typename T>
Result<> result_of(const Result<T>& answer) {
    return answer.ok() ? Result<>() : answer.error();
}

}  // namespace

HomesCast::HomesCast(Cast& cast, HomesOptions options)
    : cast_(cast), options_(std::move(options)) {}

Result<> HomesCast::open(std::uint32_t process) {
    EK_TRY_ASSIGN(folder_, cli::TemporaryFolder::make({}, "demo-aggregates"));
    ledger_ = folder_->path() + "/ledger";
    const std::string where =
        options_.aggregates.empty() ? folder_->path() + "/aggregates" : options_.aggregates;
    // By the environment: they may have a key in them, which arguments would show.
    ::setenv("HOME_AGGREGATES", where.c_str(), 1);
    ::setenv("EVENKEEL_STORE", options_.store.c_str(), 1);
    EK_TRY_ASSIGN(
        const std::size_t alarms,
        cast_.start(alarms_arguments(options_.programs, options_.is_fast), process, translation()));
    EK_TRY_ASSIGN(
        const std::size_t page,
        cast_.start(page_arguments(options_.programs, options_.homes), process + 1, translation()));
    others_ = {alarms, page};
    return {};
}

Result<std::size_t> HomesCast::start_aggregator(const std::string& id, std::uint32_t process) {
    return cast_.start(aggregator_arguments(options_.programs, id, options_.is_fast), process,
                       translation());
}

Result<std::size_t> HomesCast::start_devices(std::uint32_t process) {
    return cast_.start(devices_arguments(options_.programs, options_.homes, ledger_), process,
                       translation());
}

std::string HomesCast::page() {
    return news_.page.with([](const auto& page) { return page; });
}

Cast::Translate HomesCast::translation() {
    return [this](std::string_view line) {
        return report_of(line, SystemClock().wall().milliseconds, news_);
    };
}

Result<> HomesCast::pause(bool on) {
    cli::RemoteOptions remote;
    remote.connection = options_.connection;
    EK_TRY_ASSIGN(const auto store,
                  cli::open_entries(options_.store, {"", options_.event_hub, "aggregator"}, remote,
                                    {cli::EntriesFor::changing, true}));
    if (on) {
        return result_of(store->ask<processor::Paused>(
            [](auto& asked, auto done) { processor::pause(asked, {}, std::move(done)); }));
    }
    return result_of(store->ask<processor::Resumed>(
        [](auto& asked, auto done) { processor::resume(asked, {}, std::move(done)); }));
}

Result<> HomesCast::verify() {
    EK_TRY_ASSIGN(aggregates_, verify_aggregates(options_.programs, ledger_));
    return {};
}

void HomesCast::judge(Verdict& verdict, std::size_t orphans, std::uint32_t partitions) {
    const double repeated = windows_repeated_max * readings_max * options_.homes *
                            static_cast<double>(orphans) / partitions;
    verdict.repeated_max = static_cast<std::uint64_t>(repeated) + 1;
    verdict.homes = options_.homes;
    verdict.producers = 1;
    verdict.event_bytes = 0;
    verdict.aggregates_checked = aggregates_ ? aggregates_->checked : 0;
    verdict.aggregates_wrong = aggregates_ ? aggregates_->wrong : 0;
    const auto alarms = news_.alarms.with([](const auto& known) { return known; });
    verdict.alarms = alarms.count;
    verdict.alarm_ms_max = alarms.slowest_ms;
    verdict.dead_letters = alarms.dead_letters;
}

}  // namespace evenkeel::demo
