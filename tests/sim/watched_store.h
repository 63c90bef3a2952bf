// A store that tells what it has applied, at the moment it is applied; all else it passes on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/store.h"

namespace evenkeel::sim {

// Only what has succeeded. Each may be empty.
struct StoreWatch {
    std::function<void(const checkpoint::Ownership&)> owned = {};
    std::function<void(const checkpoint::Checkpoint&)> sealed = {};  // as it was found
    std::function<void(const checkpoint::Checkpoint&)> stored = {};
    std::function<void(const checkpoint::DeadLetter&)> put_aside = {};
};

class WatchedStore final : public checkpoint::Store {
public:
    WatchedStore(std::shared_ptr<checkpoint::Store> inner, StoreWatch watch)
        : inner_(std::move(inner)), watch_(std::move(watch)) {}

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
        auto entries = wanted;
        inner_->write_ownerships(std::move(wanted),
                                 [this, entries = std::move(entries), done = std::move(done)](
                                     Result<std::vector<Result<std::string>>> results) mutable {
                                     for (std::size_t i = 0; results && i < results->size(); ++i) {
                                         if ((*results)[i]) watch_.owned(entries[i]);
                                     }
                                     done(std::move(results));
                                 });
    }
    void list_checkpoints(Answer<std::vector<checkpoint::Checkpoint>> done) override {
        inner_->list_checkpoints(std::move(done));
    }
    void seal(PartitionId partition, Epoch epoch, Answer<checkpoint::Checkpoint> done) override {
        inner_->seal(partition, epoch,
                     [this, partition, epoch,
                      done = std::move(done)](Result<checkpoint::Checkpoint> sealed) mutable {
                         if (sealed && watch_.sealed) {
                             checkpoint::Checkpoint found = *sealed;
                             found.partition = partition;
                             found.epoch = epoch;
                             watch_.sealed(found);
                         }
                         done(std::move(sealed));
                     });
    }
    void write_checkpoint(const checkpoint::Checkpoint& checkpoint, Answer<> done) override {
        inner_->write_checkpoint(checkpoint, told(watch_.stored, checkpoint, std::move(done)));
    }
    void reset_checkpoint(const checkpoint::Checkpoint& checkpoint, Answer<> done) override {
        inner_->reset_checkpoint(checkpoint, std::move(done));
    }
    void add_dead_letter(const checkpoint::DeadLetter& letter, Answer<> done) override {
        inner_->add_dead_letter(letter, told(watch_.put_aside, letter, std::move(done)));
    }
    void count_dead_letters(Answer<std::map<PartitionId, std::uint64_t>> done) override {
        inner_->count_dead_letters(std::move(done));
    }
    void remove_dead_letter(const checkpoint::DeadLetterId& id, Answer<> done) override {
        inner_->remove_dead_letter(id, std::move(done));
    }
    void list_dead_letters(const checkpoint::DeadLetterPage& page,
                           Answer<std::vector<checkpoint::DeadLetter>> done) override {
        inner_->list_dead_letters(page, std::move(done));
    }
    void list_records(std::string_view prefix,
                      Answer<std::vector<checkpoint::Record>> done) override {
        inner_->list_records(prefix, std::move(done));
    }
    void write_record(const checkpoint::Record& record, Answer<std::string> done) override {
        inner_->write_record(record, std::move(done));
    }
    bool watch(std::function<void()> changed) override { return inner_->watch(std::move(changed)); }
    checkpoint::Pace pace() const override { return inner_->pace(); }

private:
    template <typename T>
    static Answer<> told(const std::function<void(const T&)>& tell, const T& what, Answer<> done) {
        if (!tell) return done;
        return [&tell, what, done = std::move(done)](Result<> result) mutable {
            if (result) tell(what);
            done(std::move(result));
        };
    }

    const std::shared_ptr<checkpoint::Store> inner_;
    const StoreWatch watch_;
};

}  // namespace evenkeel::sim
