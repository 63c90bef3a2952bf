#include "process/cli/process_fixture.h"

#include <algorithm>
#include <chrono>

#include <boost/json.hpp>

#include "base/clock.h"
#include "support/paths.h"

namespace evenkeel::cli_tests {

void ProcessTest::SetUp() {
    CliTest::SetUp();
    std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    name.resize(std::min<std::size_t>(name.size(), 40));
    while (name.ends_with('_')) name.pop_back();
    set_name(name);
}

void ProcessTest::set_name(const std::string& name) {
    name_ = name;
    store_ = "sqlite:" + hub_->file(name + ".db");
}

void ProcessTest::create(int partition_count) const {
    const std::string count = std::to_string(partition_count);
    ASSERT_EQ(evenkeel({"hub", "create", name_, "--partitions", count}).exit_code, 0);
}

void ProcessTest::send(std::vector<std::string> more) const {
    more.insert(more.begin(), {"send", name_, "-q"});
    const auto sent = evenkeel(more);
    ASSERT_EQ(sent.exit_code, 0) << sent.errors;
}

std::vector<std::string> ProcessTest::process(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {
        test::evenkeel_program(), "process", name_, "--store", store_, "--profile", "fast"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

Outcome ProcessTest::status() const {
    return evenkeel({"status", name_, "--store", store_, "-o", "json"});
}

std::vector<PartitionStatus> ProcessTest::partitions() const {
    boost::system::error_code error;
    const auto parsed = boost::json::parse(status().output, error);
    std::vector<PartitionStatus> all;
    if (error) return all;
    for (const auto& each : parsed.at("partitions").as_array()) {
        PartitionStatus told;
        told.partition = each.at("partition").to_number<std::int64_t>();
        if (each.at("owner").is_string()) told.owner = each.at("owner").as_string();
        told.position = each.at("position").to_number<std::int64_t>();
        if (each.at("lag_events").is_int64()) told.lag_events = each.at("lag_events").as_int64();
        told.failed_attempts = each.at("failed_attempts").to_number<std::int64_t>();
        all.push_back(std::move(told));
    }
    return all;
}

std::ptrdiff_t ProcessTest::owned_by(const std::string& id) const {
    const auto all = partitions();
    return std::count_if(all.begin(), all.end(),
                         [&](const PartitionStatus& each) { return each.owner == id; });
}

bool ProcessTest::is_done() const {
    const auto all = partitions();
    return !all.empty() && std::all_of(all.begin(), all.end(), [](const PartitionStatus& each) {
        return each.position >= 0 && each.lag_events == 0;
    });
}

bool ProcessTest::eventually(const std::function<bool()>& condition) {
    const SystemClock clock;
    const Instant end = clock.now() + std::chrono::seconds(120);
    while (!condition()) {
        if (clock.now() > end) return false;
    }
    return true;
}

}  // namespace evenkeel::cli_tests
