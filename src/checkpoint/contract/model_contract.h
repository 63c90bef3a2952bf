// Every store against the model (checkpoint/memory/table.h), by chance; see store_contract.h.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "checkpoint/contract/store_contract_fixture.h"
#include "checkpoint/memory/table.h"
#include "support/seed.h"

namespace evenkeel::checkpoint {

TEST_P(StoreContract, does_what_the_model_does) {
    Random random(test::test_seed());
    const auto a = client(), b = client();
    Table model;
    std::vector<std::pair<std::string, std::string>> versions = {{"", ""}, {"7777", "7777"}};
    const auto any_version = [&] { return versions[random.below(versions.size())]; };
    const auto same = [](const auto& mine, const auto& theirs) {
        ASSERT_EQ(mine.ok(), theirs.ok())
            << (mine.ok() ? to_string(theirs.error()) : to_string(mine.error()));
        if (!mine.ok()) {
            ASSERT_EQ(mine.error().code, theirs.error().code);
        }
    };
    for (int step = 0; step < backend_->model_steps() && !HasFatalFailure(); ++step) {
        BlockingClient& one = random.chance(1, 2) ? *a : *b;
        const std::string id(1, static_cast<char>('a' + random.below(3)));
        const auto partition = static_cast<std::uint32_t>(random.below(3));
        const std::int64_t epoch = random.between(0, 4) + step / 300;
        const std::int64_t sequence = random.between(-1, 8) + step / 100;
        const auto version =
            random.chance(2, 3) && versions.size() > 2 ? versions.back() : any_version();
        const Checkpoint position =
            at(partition, sequence, epoch, static_cast<std::uint32_t>(random.below(3)));
        switch (random.below(6)) {
            case 0: {
                const auto stored = one.write(a_member(id, version.first));
                const auto expected = model.write_member(a_member(id, version.second), {});
                same(stored, expected);
                if (stored.ok()) versions.emplace_back(*stored, *expected);
                break;
            }
            case 1:
                same(one.remove(id, version.first), model.remove_member(id, version.second));
                break;
            case 2: {
                const auto stored = one.write(a_claim(partition, epoch, version.first));
                const auto expected =
                    model.write_ownership(a_claim(partition, epoch, version.second), {});
                same(stored, expected);
                if (stored.ok()) versions.emplace_back(*stored, *expected);
                break;
            }
            case 3: {
                const auto stored = one.seal(partition, epoch);
                const auto expected = model.seal(PartitionId{partition}, Epoch{epoch}, {});
                same(stored, expected);
                if (stored.ok()) {
                    EXPECT_EQ(stored->sequence, expected->sequence);
                }
                break;
            }
            case 4: same(one.write(position), model.write_checkpoint(position, {})); break;
            default:
                if (!random.chance(1, 10)) break;
                ASSERT_TRUE(one.reset(position));
                model.reset_checkpoint(position, {});
        }
        const auto stored = one.checkpoints();
        const auto expected = model.checkpoints();
        ASSERT_EQ(stored->size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            ASSERT_EQ(stored->at(i).sequence, expected[i].sequence) << "step " << step;
            ASSERT_EQ(stored->at(i).epoch, expected[i].epoch) << "step " << step;
            ASSERT_EQ(stored->at(i).attempts, expected[i].attempts) << "step " << step;
        }
        ASSERT_EQ(one.members()->size(), model.members({}).size()) << "step " << step;
        ASSERT_EQ(one.ownerships()->size(), model.ownerships({}).size()) << "step " << step;
    }
}

}  // namespace evenkeel::checkpoint
