#include <gtest/gtest.h>

#include "processor/pump/pump_fixture.h"
#include <evenkeel/duplicate_filter.h>

namespace evenkeel::processor {
namespace {

TEST(DuplicateFilter, knows_what_was_done_in_each_partition) {
    DuplicateFilter filter;
    EXPECT_FALSE(filter.was_done(0, 0));

    filter.done(0, 5);
    filter.done(0, 3);

    EXPECT_TRUE(filter.was_done(0, 0));
    EXPECT_TRUE(filter.was_done(0, 5));
    EXPECT_FALSE(filter.was_done(0, 6));
    EXPECT_FALSE(filter.was_done(1, 0));
    filter.forget(0);
    EXPECT_FALSE(filter.was_done(0, 5));
}

// The one handler of all partitions, as Processor::start() makes it.
struct Shared final : PartitionHandler {
    explicit Shared(BatchHandler& handler) : handler_(handler) {}
    Result<> on_events(Partition& partition, Events events) override {
        return handler_(partition, events);
    }
    BatchHandler& handler_;
};

TEST(DuplicateFilter, a_retried_batch_handles_no_event_twice) {
    PumpRig rig;
    std::vector<std::int64_t> done;
    int failures = 0;
    BatchHandler handler = once_each(std::make_shared<DuplicateFilter>(),
                                     [&](Partition&, const Event& event) -> Result<> {
                                         if (event.sequence_number == 7 && failures++ < 2) {
                                             return Error{ErrorCode::handler_failed, "not yet"};
                                         }
                                         done.push_back(event.sequence_number);
                                         return {};
                                     });
    rig.handlers = [&](std::uint32_t) { return std::make_unique<Shared>(handler); };
    rig.options.retry.delay = std::chrono::milliseconds(1);
    rig.append(20);

    rig.open();
    rig.run_for(std::chrono::seconds(5));

    EXPECT_EQ(done, up_to(19));
    EXPECT_EQ(failures, 3);
}

}  // namespace
}  // namespace evenkeel::processor
