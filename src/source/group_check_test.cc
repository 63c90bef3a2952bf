#include "source/group_check.h"

#include <optional>

#include <gtest/gtest.h>

#include "hub/hub_fixture.h"
#include "source/embedded_source.h"

namespace evenkeel::source {
namespace {

struct GroupCheck : testing::Test {
    GroupCheck() {
        hub::opened(hub);
        EXPECT_TRUE(hub.create("homes", {.partitions = 2}).ok());
    }
    EmbeddedSource in_group(const std::string& group) {
        return EmbeddedSource({loop, hub.node->loop, reads, *hub.hub}, {"data", "homes"}, group);
    }
    Result<> check(Source& source, const std::string& group) {
        std::optional<Result<>> answer;
        check_group(source, group, [&](Result<> result) { answer = std::move(result); });
        EXPECT_FALSE(answer) << "answered within the call";
        EXPECT_TRUE(
            hub.scheduler.run_until([&] { return answer.has_value(); }, std::chrono::minutes(1)));
        hub.run_for(std::chrono::seconds(1));
        return *answer;
    }

    hub::HubFixture hub;
    io::sim::SimExecutor reads{hub.scheduler, "read/0"};
    io::sim::SimLoop loop{hub.scheduler, "processor"};
};

TEST_F(GroupCheck, names_the_missing_group_and_the_command_for_it) {
    auto source = in_group("billing");

    const auto checked = check(source, "billing");

    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().code, ErrorCode::not_found);
    EXPECT_EQ(checked.error().detail,
              "event hub 'homes' has no consumer group 'billing'; 'evenkeel group create homes "
              "billing' creates it");
}

TEST_F(GroupCheck, accepts_a_group_that_exists) {
    auto source = in_group("$Default");

    EXPECT_TRUE(check(source, "$Default").ok());
}

TEST_F(GroupCheck, leaves_the_readers_that_are_there_alone) {
    auto source = in_group("$Default");
    std::unique_ptr<Reader> owner;
    source.open({0}, Position::earliest(), {.epoch = Epoch{1}},
                [&](Result<std::unique_ptr<Reader>> opened) { owner = std::move(opened).value(); });
    ASSERT_TRUE(hub.scheduler.run_until([&] { return owner != nullptr; }, std::chrono::minutes(1)));

    EXPECT_TRUE(check(source, "$Default").ok());

    EXPECT_TRUE(owner->is_attached());
    owner.reset();
    hub.run_for(std::chrono::seconds(1));
}

// Answers open() with one error.
class RefusingSource final : public Source {
public:
    RefusingSource(io::Loop& loop, ErrorCode code) : loop_(loop), code_(code) {}
    const Name& name() const override { return name_; }
    bool is_exclusive() const override { return true; }
    void properties(Callback<void(Result<HubProperties>)>) override {}
    void properties(PartitionId, Callback<void(Result<PartitionProperties>)>) override {}
    void open(PartitionId, const Position&, const ReadOptions&,
              Callback<void(Result<std::unique_ptr<Reader>>)> answer) override {
        loop_.post([code = code_, answer = std::move(answer)]() mutable {
            answer(Error{code, "refused"});
        });
    }
    void close(Task done) override { loop_.post(std::move(done)); }

private:
    io::Loop& loop_;
    const ErrorCode code_;
    const Name name_{"hub", "homes"};
};

TEST_F(GroupCheck, reports_only_what_no_retry_can_mend) {
    for (const ErrorCode code : {ErrorCode::fenced, ErrorCode::overloaded, ErrorCode::unavailable,
                                 ErrorCode::timed_out, ErrorCode::corrupt, ErrorCode::conflict}) {
        RefusingSource source(loop, code);
        EXPECT_TRUE(check(source, "billing").ok()) << to_string(code);
    }
    RefusingSource refused(loop, ErrorCode::not_allowed);
    EXPECT_EQ(check(refused, "billing").error().code, ErrorCode::not_allowed);
}

}  // namespace
}  // namespace evenkeel::source
