// A store that tells, at the moment it is applied, whose partition is whose; all else it passes on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/store.h"

namespace evenkeel::sim {

class WatchedStore final : public checkpoint::Store {
public:
    using Owned = std::function<void(PartitionId, const std::string& owner)>;
    WatchedStore(std::shared_ptr<checkpoint::Store> inner, Owned owned)
        : inner_(std::move(inner)), owned_(std::move(owned)) {}

    void list_members(Answer<std::vector<checkpoint::Member>> done) override {
        inner_->list_members(std::move(done));
    }
    void write_member(const checkpoint::Member& member, Answer<std::string> done) override {
        inner_->write_member(member, std::move(done));
    }
    void remove_member(std::string_view id, std::string_view version, Answer<> done) override {
        inner_->remove_member(id, version, std::move(done));
    }
    void list_ownerships(Answer<std::vector<checkpoint::Ownership>> done) override {
        inner_->list_ownerships(std::move(done));
    }
    void write_ownerships(std::vector<checkpoint::Ownership> wanted,
                          Answer<std::vector<Result<std::string>>> done) override {
        std::vector<std::pair<PartitionId, std::string>> owners;
        for (const auto& entry : wanted) owners.emplace_back(entry.partition, entry.owner);
        inner_->write_ownerships(std::move(wanted),
                                 [this, owners = std::move(owners), done = std::move(done)](
                                     Result<std::vector<Result<std::string>>> results) mutable {
                                     for (std::size_t i = 0; results && i < results->size(); ++i) {
                                         if ((*results)[i])
                                             owned_(owners[i].first, owners[i].second);
                                     }
                                     done(std::move(results));
                                 });
    }
    void list_checkpoints(Answer<std::vector<checkpoint::Checkpoint>> done) override {
        inner_->list_checkpoints(std::move(done));
    }
    void seal(PartitionId partition, Epoch epoch, Answer<checkpoint::Checkpoint> done) override {
        inner_->seal(partition, epoch, std::move(done));
    }
    void write_checkpoint(const checkpoint::Checkpoint& checkpoint, Answer<> done) override {
        inner_->write_checkpoint(checkpoint, std::move(done));
    }
    void reset_checkpoint(const checkpoint::Checkpoint& checkpoint, Answer<> done) override {
        inner_->reset_checkpoint(checkpoint, std::move(done));
    }
    void add_dead_letter(const checkpoint::DeadLetter& letter, Answer<> done) override {
        inner_->add_dead_letter(letter, std::move(done));
    }
    void list_dead_letters(std::size_t count_max,
                           Answer<std::vector<checkpoint::DeadLetter>> done) override {
        inner_->list_dead_letters(count_max, std::move(done));
    }
    void list_records(std::string_view prefix,
                      Answer<std::vector<checkpoint::Record>> done) override {
        inner_->list_records(prefix, std::move(done));
    }
    void write_record(const checkpoint::Record& record, Answer<std::string> done) override {
        inner_->write_record(record, std::move(done));
    }
    bool watch(std::function<void()> changed) override { return inner_->watch(std::move(changed)); }

private:
    const std::shared_ptr<checkpoint::Store> inner_;
    const Owned owned_;
};

}  // namespace evenkeel::sim
