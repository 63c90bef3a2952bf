#include "processor/ownership/operator_requests.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace evenkeel::processor {
namespace {

using checkpoint::Record;
using checkpoint::Store;
using Partitions = std::vector<std::uint32_t>;

constexpr int attempts_max = 20;  // of a change of a record that others change too

using PauseChange = std::function<Result<>(Paused&)>;

void change_paused(Store& store, PauseChange change, int attempt, Store::Answer<Paused> done) {
    store.list_records(
        pause_key, [&store, change = std::move(change), attempt,
                    done = std::move(done)](const Result<std::vector<Record>>& listed) mutable {
            if (!listed.ok()) return done(listed.error());
            Record record{std::string(pause_key), "", ""};
            for (const Record& each : *listed) {
                if (each.key == record.key) record = each;
            }
            Paused paused = decode_paused(record.value);
            if (const auto changed = change(paused); !changed.ok()) return done(changed.error());
            record.value = encode(paused);
            store.write_record(
                record, [&store, change = std::move(change), attempt, paused,
                         done = std::move(done)](const Result<std::string>& written) mutable {
                    if (written.ok()) return done(paused);
                    if (written.error().code != ErrorCode::conflict || attempt == attempts_max) {
                        return done(written.error());
                    }
                    change_paused(store, std::move(change), attempt + 1, std::move(done));
                });
        });
}

// Removes what parks these partitions, or all, one after another.
struct Unpark : std::enable_shared_from_this<Unpark> {
    Unpark(Store& given, Paused still, Store::Answer<Resumed> answer)
        : store(given), result{std::move(still), {}}, done(std::move(answer)) {}

    void begin(Partitions wanted) {
        store.list_records(parked_prefix, [self = shared_from_this(), wanted = std::move(wanted)](
                                              const Result<std::vector<Record>>& listed) {
            if (!listed.ok()) return self->done(listed.error());
            for (const Record& record : *listed) {
                const auto parked = partition_of_parked(record.key);
                if (!parked) continue;
                const bool is_wanted =
                    wanted.empty() || std::ranges::find(wanted, parked->value) != wanted.end();
                if (is_wanted) self->left.push_back(record);
            }
            self->next();
        });
    }
    void next() {
        if (left.empty()) {
            std::ranges::sort(result.unparked);
            return done(std::move(result));
        }
        const Record record = left.back();
        left.pop_back();
        store.write_record(
            {record.key, "", record.version},
            [self = shared_from_this(), record](const Result<std::string>& written) {
                // Its owner parks it again, or another command resumes it.
                const bool is_overtaken =
                    !written.ok() && written.error().code == ErrorCode::conflict;
                if (!written.ok() && !is_overtaken) {
                    return self->done(written.error());
                }
                if (written.ok()) {
                    self->result.unparked.push_back(partition_of_parked(record.key)->value);
                }
                self->next();
            });
    }

    Store& store;
    Resumed result;
    Store::Answer<Resumed> done;
    std::vector<Record> left;
};

}  // namespace

void pause(Store& store, Partitions partitions, Store::Answer<Paused> done) {
    change_paused(
        store,
        [partitions = std::move(partitions)](Paused& now) -> Result<> {
            if (partitions.empty()) now = {.all = true};
            if (!now.all) now.partitions.insert(partitions.begin(), partitions.end());
            return {};
        },
        1, std::move(done));
}

void resume(Store& store, Partitions partitions, Store::Answer<Resumed> done) {
    const PauseChange change = [partitions](Paused& now) -> Result<> {
        if (partitions.empty()) {
            now = {};
        } else if (now.all) {
            return Error{ErrorCode::conflict,
                         "all partitions are paused together; resume "
                         "all of them, then pause single ones"};
        }
        for (const std::uint32_t partition : partitions) now.partitions.erase(partition);
        return {};
    };
    change_paused(store, change, 1,
                  [&store, partitions, done = std::move(done)](Result<Paused> paused) mutable {
                      if (!paused.ok()) return done(paused.error());
                      std::make_shared<Unpark>(store, std::move(*paused), std::move(done))
                          ->begin(std::move(partitions));
                  });
}

void ask_to_drain(Store& store, const std::string& incarnation, Store::Answer<> done) {
    store.write_record({drain_key(incarnation), "drain", ""},
                       [done = std::move(done)](const Result<std::string>& written) mutable {
                           const bool is_asked =
                               written.ok() || written.error().code == ErrorCode::conflict;
                           done(is_asked ? Result<>() : Result<>(written.error()));
                       });
}

void set_position(Store& store, std::optional<checkpoint::Ownership> ownership,
                  checkpoint::Checkpoint wanted, Store::Answer<> done) {
    if (!ownership) return store.reset_checkpoint(wanted, std::move(done));
    ownership->owner.clear();
    ownership->epoch.value += 1;
    wanted.epoch = ownership->epoch;
    store.write_ownerships({*ownership},
                           [&store, wanted = std::move(wanted), done = std::move(done)](
                               const Result<std::vector<Result<std::string>>>& written) mutable {
                               if (!written.ok()) return done(written.error());
                               if (!written->at(0).ok()) return done(written->at(0).error());
                               store.reset_checkpoint(wanted, std::move(done));
                           });
}

}  // namespace evenkeel::processor
