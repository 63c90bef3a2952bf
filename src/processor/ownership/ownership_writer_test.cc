#include "processor/ownership/ownership_writer.h"

#include <optional>

#include <gtest/gtest.h>

#include "processor/ownership/step_fixture.h"

namespace evenkeel::processor {
namespace {

using checkpoint::Ownership;

Ownership entry(std::uint32_t partition, std::int64_t epoch, std::string version = {}) {
    return {
        .partition = {partition}, .owner = "a", .epoch = {epoch}, .version = std::move(version)};
}

class OwnershipWriterTest : public testing::Test {
protected:
    OwnershipWriterTest() { ownerships_.resize(4); }

    void write(std::vector<Ownership> entries) {
        writer_.write(std::move(entries), [this](const WrittenOwnerships& written) {
            written_ = written;
            // OWN-12, OWN-13: by now all is known.
            is_writing_then_ = ownerships_.is_writing({0});
            known_then_ = ownerships_[{0}];
        });
    }
    bool run_until_written() {
        return rig_.run_until([this] { return written_.has_value(); });
    }

    StepRig rig_;
    Ownerships ownerships_;
    std::optional<WrittenOwnerships> written_;
    bool is_writing_then_ = false;
    Ownership known_then_;
    OwnershipWriter writer_{rig_.loop, rig_.store, ownerships_, rig_.steps};
};

TEST_F(OwnershipWriterTest, makes_a_write_known_before_it_answers) {  // OWN-13
    write({entry(0, 1)});
    EXPECT_TRUE(ownerships_.is_writing({0})) << "OWN-12";
    EXPECT_FALSE(ownerships_.is_writing({1}));
    EXPECT_TRUE(ownerships_[{0}].owner.empty());
    ASSERT_TRUE(run_until_written());

    EXPECT_FALSE(is_writing_then_);
    EXPECT_EQ(known_then_.owner, "a");
    EXPECT_FALSE(known_then_.version.empty());
    ASSERT_TRUE(written_->ok());
    EXPECT_EQ((**written_)[0]->version, known_then_.version);
}

TEST_F(OwnershipWriterTest, answers_for_each_entry) {
    checkpoint::Table table;
    ASSERT_TRUE(table.write_ownership(entry(1, 5), {rig_.now(), {}}).ok());
    rig_.server.restore(rig_.group, table);

    write({entry(0, 1), entry(1, 1)});  // of the second another version is there
    ASSERT_TRUE(run_until_written());

    ASSERT_TRUE(written_->ok());
    ASSERT_EQ((*written_)->size(), 2u);
    EXPECT_TRUE((**written_)[0].ok());
    EXPECT_EQ((**written_)[1].error().code, ErrorCode::conflict);
    EXPECT_TRUE(ownerships_[{1}].owner.empty()) << "a listing will tell";
    EXPECT_FALSE(ownerships_.is_writing({1}));
    EXPECT_EQ(writer_.requests(), 1u);
}

TEST_F(OwnershipWriterTest, of_a_store_that_fails_learns_nothing) {
    rig_.faults.outage = true;
    write({entry(0, 1)});
    ASSERT_TRUE(run_until_written());

    EXPECT_FALSE(written_->ok());
    EXPECT_TRUE(known_then_.owner.empty());
    EXPECT_FALSE(is_writing_then_) << "a listing counts again";
}

}  // namespace
}  // namespace evenkeel::processor
