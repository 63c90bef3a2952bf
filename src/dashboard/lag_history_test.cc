#include "dashboard/lag_history.h"

#include <gtest/gtest.h>

namespace evenkeel::dashboard {
namespace {

GroupView behind(std::vector<std::optional<std::int64_t>> all) {
    GroupView view;
    for (const auto& each : all) {
        view.partitions.emplace_back();
        view.partitions.back().progress.behind_ms = each;
    }
    return view;
}

std::string written(const LagHistory& history, std::int64_t minutes, WallTime now) {
    JsonWriter json;
    json.object([&] { history.write(json, minutes, now); });
    return json.take();
}

TEST(LagHistory, tells_furthest_median_and_each_partition) {
    LagHistory history;
    history.sample(behind({100, 300, std::nullopt, 200}), {60'000});
    EXPECT_EQ(written(history, 60, {60'000}),
              R"({"step_s":60,"t":[60000],"furthest_ms":[300],"median_ms":[200],)"
              R"("heat":[[100,300,null,200]]})");
}

TEST(LagHistory, keeps_a_day_and_shows_what_is_asked_for) {
    LagHistory history;
    for (std::int64_t minute = 0; minute < 2000; ++minute) {
        history.sample(behind({minute}), {minute * 60'000});
    }
    const WallTime now{1999 * 60'000};
    const std::string hour = written(history, 60, now);
    EXPECT_NE(hour.find("\"t\":[116340000,"), std::string::npos) << hour.substr(0, 80);
    const std::string day = written(history, 1440, now);
    EXPECT_NE(day.find("\"heat\":[[560],"), std::string::npos) << "of 1,440 minutes";
}

TEST(LagHistory, is_coarser_for_very_many_partitions) {
    LagHistory history;
    const GroupView view = behind(std::vector<std::optional<std::int64_t>>(1001, 5));
    for (std::int64_t minute = 0; minute < 6; ++minute) history.sample(view, {minute * 60'000});
    const std::string all = written(history, 60, {300'000});
    EXPECT_NE(all.find("\"step_s\":300,\"t\":[0,300000]"), std::string::npos) << all.substr(0, 60);
}

}  // namespace
}  // namespace evenkeel::dashboard
