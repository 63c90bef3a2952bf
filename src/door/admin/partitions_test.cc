#include <boost/json.hpp>

#include "door/admin/admin_fixture.h"
#include "hub/stream_reader.h"

namespace evenkeel::door {
namespace {

using namespace std::chrono_literals;

class AdminPartitions : public AdminTest {
protected:
    boost::json::value partition(std::uint32_t index) {
        const auto response = as_root("GET", "/api/v1/hubs/homes/partitions");
        EXPECT_EQ(response.status, 200) << response.body;
        return boost::json::parse(response.body).at("partitions").at(index);
    }
    static double number(const boost::json::value& value, const char* key) {
        return value.at(key).to_number<double>();
    }
    void append(std::uint32_t partition, std::size_t count, const std::string& body = "x") {
        ASSERT_TRUE(world_.append("homes", partition, std::vector<std::string>(count, body)).ok());
    }
};

TEST_F(AdminPartitions, tell_what_comes_in_and_goes_out_in_ten_seconds) {
    ASSERT_TRUE(world_.create("homes", {.partitions = 2}));
    world_.run_for(15s);
    append(1, 50);
    const auto reader = world_.attach("homes", 1);
    ASSERT_TRUE(reader.ok());
    (*reader)->count_sent(50);
    append(1, 50);

    EXPECT_NEAR(number(partition(1), "events_in_per_second"), 10, 1);
    EXPECT_NEAR(number(partition(1), "events_out_per_second"), 5, 1);
    EXPECT_EQ(number(partition(0), "events_in_per_second"), 0);
    world_.run_for(12s);
    EXPECT_EQ(number(partition(1), "events_in_per_second"), 0);
    EXPECT_EQ(number(partition(1), "events_out_per_second"), 0);
}

TEST_F(AdminPartitions, tell_of_damage_that_readers_met) {
    ASSERT_TRUE(world_.create("homes", {.partitions = 1}));
    append(0, 3, std::string(1000, 'x'));
    EXPECT_TRUE(partition(0).at("problems").as_array().empty());
    reopen();
    for (const auto& path : world_.disk->files()) {
        if (path.ends_with(".log") && world_.disk->file_size(path) > 3000) {
            world_.disk->flip_bit(path, 1600, 3);
        }
    }
    const auto reader = world_.attach("homes", 0);
    ASSERT_TRUE(reader.ok());
    auto step = (*reader)->read(1 << 20);
    ASSERT_TRUE(step.ok());
    (*reader)->advance(std::get<commitlog::ColdRead>(*step).perform().value());

    const auto problems = partition(0).at("problems").as_array();
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_TRUE(std::string(problems[0].as_string()).starts_with("events 1 to 1 in "));
}

TEST_F(AdminPartitions, report_the_range_of_a_file_that_vanished) {
    ASSERT_TRUE(world_.create("homes", {.partitions = 1}));
    append(0, 3, std::string(1000, 'x'));
    reopen();
    for (const auto& path : world_.disk->files()) {
        if (!path.ends_with(".log") || world_.disk->file_size(path) <= 3000) continue;
        ASSERT_TRUE(world_.disk->remove(path).ok());
    }
    io::sim::SimExecutor executor(world_.scheduler, "read/0");
    hub::ExecutorReads reads(world_.node->loop, executor);
    hub::StreamReader reader(world_.node->loop, reads);
    ASSERT_TRUE(
        reader.attach(**world_.hub->find("homes"), "$Default", {0}, Position::earliest(), {}).ok());
    const auto read = [&] {
        std::optional<Result<commitlog::Slice>> answer;
        reader.read(1s, [&](Result<commitlog::Slice> slice) { answer = std::move(slice); });
        world_.run_for(2s);
        EXPECT_TRUE(answer);
        return answer ? std::move(*answer) : Error{ErrorCode::timed_out, "no answer"};
    };

    const auto gone = read();
    const auto problems = partition(0).at("problems").as_array();
    append(0, 1);
    const auto next = read();

    EXPECT_FALSE(gone.ok());
    ASSERT_EQ(problems.size(), 1u);
    const std::string problem(problems[0].as_string());
    EXPECT_TRUE(problem.starts_with("events 0 to 2 in ")) << problem;
    ASSERT_TRUE(next.ok()) << next.error().detail;
    EXPECT_EQ((*next->begin()).sequence, SequenceNumber{3});
    EXPECT_EQ(partition(0).at("problems").as_array().size(), 1u) << "reported once";
}

TEST_F(AdminPartitions, do_not_count_what_was_there_before_the_hub_opened) {
    ASSERT_TRUE(world_.create("homes", {.partitions = 1}));
    append(0, 1000);
    reopen();

    EXPECT_EQ(number(partition(0), "events_in_per_second"), 0);
    append(0, 3);
    EXPECT_EQ(number(partition(0), "events_in_per_second"), 3) << "in less than a second";
}

TEST_F(AdminPartitions, tell_when_the_oldest_event_that_is_left_was_stored) {
    ASSERT_TRUE(world_.create("homes", {.partitions = 1}));
    EXPECT_TRUE(partition(0).at("oldest_enqueued_at").is_null());
    const WallTime first = world_.append("homes", 0, {"a"})->enqueued;
    world_.run_for(90s);
    const WallTime second = world_.append("homes", 0, {"b"})->enqueued;
    ASSERT_GT(second, first);

    EXPECT_EQ(partition(0).at("oldest_enqueued_at").as_string(), to_string(first));
    ASSERT_EQ(as_root("POST", "/api/v1/hubs/homes/purge", R"({"before_sequence_number":1})").status,
              204);
    EXPECT_EQ(partition(0).at("oldest_enqueued_at").as_string(), to_string(second));
    ASSERT_EQ(as_root("POST", "/api/v1/hubs/homes/purge", "{}").status, 204);
    EXPECT_TRUE(partition(0).at("oldest_enqueued_at").is_null());
}

TEST_F(AdminPartitions, read_the_oldest_event_from_disk) {
    ASSERT_TRUE(world_.create("homes", {.partitions = 1}));
    const WallTime first = world_.append("homes", 0, {"a"})->enqueued;
    world_.run_for(90s);
    for (int i = 0; i < 12; ++i) append(0, 1, std::string(900'000, 'x'));
    const auto reader = world_.attach("homes", 0);
    ASSERT_TRUE(reader.ok());
    const auto step = (*reader)->read(1);
    ASSERT_TRUE(step.ok() && std::holds_alternative<commitlog::ColdRead>(*step));

    EXPECT_EQ(partition(0).at("oldest_enqueued_at").as_string(), to_string(first));
}

}  // namespace
}  // namespace evenkeel::door
