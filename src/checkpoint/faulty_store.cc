#include "checkpoint/faulty_store.h"

#include <cstddef>
#include <utility>

namespace evenkeel::checkpoint {

namespace {

Error away() {
    return {ErrorCode::unavailable, "the store is away"};
}

Error refused() {
    return {ErrorCode::unavailable, "the store refused the request"};
}

Error lost() {
    return {ErrorCode::timed_out, "no answer from the store"};
}

Error conflicting() {
    return {ErrorCode::conflict, "another write came first"};
}

template <typename T>
std::int64_t entries(const T&) {
    return 0;
}

template <typename T>
std::int64_t entries(const Result<std::vector<T>>& listed) {
    return listed ? static_cast<std::int64_t>(listed->size()) : 0;
}

}  // namespace

FaultyStore::FaultyStore(io::Loop& client, io::Loop& server, std::shared_ptr<Store> inner,
                         const Faults& faults, Random random)
    : client_(client),
      server_(server),
      inner_(std::move(inner)),
      faults_(faults),
      random_(random) {}

template <typename T, typename Call>
void FaultyStore::exchange(Duration half, Answer<T> done, Call call) {
    client_.check_here();
    // Drawn now, so that the order of arrivals does not change what this client draws next.
    const Duration request = draw(half);
    const Duration way_back = draw(half);
    const bool is_refused = draw(faults_.refused_per_thousand);
    const bool is_lost = draw(faults_.lost_per_thousand);
    const bool is_silent = faults_.silent_per_thousand > 0 && draw(faults_.silent_per_thousand);
    const Duration entry = half == faults_.list_half ? faults_.list_entry : Duration(0);

    // Guarded twice: when the store is gone, its loop may be gone too.
    auto answer = lifetime_.guard([this, done = std::move(done)](Result<T> result) mutable {
        client_.post(
            lifetime_.guard([done = std::move(done), result = std::move(result)]() mutable {
                done(std::move(result));
            }));
    });
    if (faults_.outage) return answer(away());

    auto arrive = [inner = inner_, &faults = faults_, &server = server_, way_back, entry,
                   is_refused, is_lost, is_silent, call = std::move(call),
                   answer = std::move(answer)]() mutable {
        auto reply = [&server, &faults, way_back, entry, is_lost, is_silent, inner,
                      answer = std::move(answer)](Result<T> result) mutable {
            if (is_silent) return;
            Duration delay = way_back + entry * entries(result);
            if (is_lost) {
                delay += faults.lost_delay;
                result = lost();
            }
            server.run_after(delay,
                             [answer = std::move(answer), result = std::move(result)]() mutable {
                                 answer(std::move(result));
                             });
        };
        if (faults.outage) return reply(away());
        if (is_refused) return reply(refused());
        call(*inner, std::move(reply));
    };
    server_.post([&server = server_, request, arrive = std::move(arrive)]() mutable {
        server.run_after(request, std::move(arrive));
    });
}

void FaultyStore::list_members(Answer<std::vector<Member>> done) {
    ++requests_;
    exchange(faults_.list_half, std::move(done),
             [](Store& inner, auto answer) { inner.list_members(std::move(answer)); });
}

void FaultyStore::write_member(const Member& member, Answer<std::string> done) {
    ++requests_;
    const bool is_conflict = draw(faults_.conflict_per_thousand);
    exchange(faults_.write_half, std::move(done),
             [member, is_conflict](Store& inner, auto answer) mutable {
                 if (is_conflict) return answer(conflicting());
                 inner.write_member(member, std::move(answer));
             });
}

void FaultyStore::remove_member(std::string_view id, std::string_view version, Answer<> done) {
    ++requests_;
    exchange(faults_.write_half, std::move(done),
             [id = std::string(id), version = std::string(version)](Store& inner, auto answer) {
                 inner.remove_member(id, version, std::move(answer));
             });
}

void FaultyStore::list_ownerships(Answer<std::vector<Ownership>> done) {
    ++requests_;
    exchange(faults_.list_half, std::move(done),
             [](Store& inner, auto answer) { inner.list_ownerships(std::move(answer)); });
}

void FaultyStore::write_ownerships(std::vector<Ownership> wanted,
                                   Answer<std::vector<Result<std::string>>> done) {
    requests_ += wanted.size();
    enum class Fate : std::uint8_t { good, refused, lost, conflict };
    std::vector<Fate> fates;
    std::vector<Ownership> arriving;
    for (Ownership& ownership : wanted) {
        Fate fate = Fate::good;
        if (draw(faults_.refused_per_thousand)) fate = Fate::refused;
        if (draw(faults_.lost_per_thousand)) fate = Fate::lost;
        if (draw(faults_.conflict_per_thousand)) fate = Fate::conflict;
        fates.push_back(fate);
        if (fate == Fate::good || fate == Fate::lost) arriving.push_back(std::move(ownership));
    }
    exchange(faults_.write_half, std::move(done),
             [arriving = std::move(arriving), fates = std::move(fates)](Store& inner,
                                                                        auto answer) mutable {
                 inner.write_ownerships(
                     std::move(arriving),
                     [fates = std::move(fates), answer = std::move(answer)](
                         Result<std::vector<Result<std::string>>> applied) mutable {
                         if (!applied) return answer(std::move(applied));
                         std::vector<Result<std::string>> results;
                         std::size_t next = 0;
                         for (const Fate fate : fates) {
                             switch (fate) {
                                 case Fate::good:
                                     results.push_back(std::move((*applied)[next++]));
                                     break;
                                 case Fate::lost: results.emplace_back(lost()), ++next; break;
                                 case Fate::refused: results.emplace_back(refused()); break;
                                 case Fate::conflict: results.emplace_back(conflicting()); break;
                             }
                         }
                         answer(std::move(results));
                     });
             });
}

void FaultyStore::list_checkpoints(Answer<std::vector<Checkpoint>> done) {
    ++requests_;
    exchange(faults_.list_half, std::move(done),
             [](Store& inner, auto answer) { inner.list_checkpoints(std::move(answer)); });
}

void FaultyStore::seal(PartitionId partition, Epoch epoch, Answer<Checkpoint> done) {
    ++requests_;
    exchange(faults_.write_half, std::move(done), [partition, epoch](Store& inner, auto answer) {
        inner.seal(partition, epoch, std::move(answer));
    });
}

void FaultyStore::write_checkpoint(const Checkpoint& checkpoint, Answer<> done) {
    ++requests_;
    exchange(faults_.write_half, std::move(done), [checkpoint](Store& inner, auto answer) {
        inner.write_checkpoint(checkpoint, std::move(answer));
    });
}

void FaultyStore::reset_checkpoint(const Checkpoint& checkpoint, Answer<> done) {
    ++requests_;
    exchange(faults_.write_half, std::move(done), [checkpoint](Store& inner, auto answer) {
        inner.reset_checkpoint(checkpoint, std::move(answer));
    });
}

void FaultyStore::add_dead_letter(const DeadLetter& letter, Answer<> done) {
    ++requests_;
    exchange(faults_.write_half, std::move(done), [letter](Store& inner, auto answer) {
        inner.add_dead_letter(letter, std::move(answer));
    });
}

void FaultyStore::list_dead_letters(const DeadLetterPage& page,
                                    Answer<std::vector<DeadLetter>> done) {
    ++requests_;
    exchange(faults_.list_half, std::move(done), [page](Store& inner, auto answer) {
        inner.list_dead_letters(page, std::move(answer));
    });
}

void FaultyStore::count_dead_letters(Answer<std::map<PartitionId, std::uint64_t>> done) {
    ++requests_;
    exchange(faults_.list_half, std::move(done),
             [](Store& inner, auto answer) { inner.count_dead_letters(std::move(answer)); });
}

void FaultyStore::remove_dead_letter(const DeadLetterId& id, Answer<> done) {
    ++requests_;
    exchange(faults_.write_half, std::move(done),
             [id](Store& inner, auto answer) { inner.remove_dead_letter(id, std::move(answer)); });
}

void FaultyStore::list_records(std::string_view prefix, Answer<std::vector<Record>> done) {
    ++requests_;
    exchange(faults_.list_half, std::move(done),
             [prefix = std::string(prefix)](Store& inner, auto answer) {
                 inner.list_records(prefix, std::move(answer));
             });
}

void FaultyStore::write_record(const Record& record, Answer<std::string> done) {
    ++requests_;
    const bool is_conflict = draw(faults_.conflict_per_thousand);
    exchange(faults_.write_half, std::move(done),
             [record, is_conflict](Store& inner, auto answer) mutable {
                 if (is_conflict) return answer(conflicting());
                 inner.write_record(record, std::move(answer));
             });
}

bool FaultyStore::watch(std::function<void()> changed) {
    client_.check_here();
    if (!faults_.push) return false;
    changed_ = std::move(changed);
    auto tell = lifetime_.guard([this] {
        client_.post(lifetime_.guard([this] {
            if (!changed_) return;
            const auto now_changed = changed_;  // it may end the watch, or the store
            now_changed();
        }));
    });
    server_.post([inner = std::weak_ptr<Store>(inner_), &server = server_, &faults = faults_,
                  random = random_.fork(), tell]() mutable {
        const auto watched = inner.lock();
        if (!watched) return;
        watched->watch([&server, &faults, random, tell]() mutable {
            if (faults.outage) return;
            const Duration delay{random.between(faults.push_min.count(), faults.push_max.count())};
            server.run_after(delay, tell);
        });
    });
    return true;
}

Duration FaultyStore::draw(Duration half) {
    const auto spread = static_cast<std::int64_t>(faults_.spread_percent);
    const Duration delay = half * random_.between(100 - spread, 100 + spread) / 100;
    return draw(faults_.slow_per_thousand) ? delay * 10 : delay;
}

bool FaultyStore::draw(std::uint32_t per_thousand) {
    return random_.chance(per_thousand, 1000);
}

}  // namespace evenkeel::checkpoint
