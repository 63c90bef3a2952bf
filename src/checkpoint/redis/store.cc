#include "checkpoint/redis/store.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/lifetime.h"
#include "base/promise.h"
#include "base/random.h"
#include "checkpoint/memory/table.h"
#include "checkpoint/redis/client.h"
#include "checkpoint/redis/error.h"
#include "checkpoint/redis/text.h"
#include "io/system/loop.h"
#include "io/system/network.h"

namespace evenkeel::checkpoint {

namespace {

// The braces make all keys of a group one node's, in a cluster.
std::string prefix_of(const GroupName& group) {
    const GroupName name = lower_cased(group);
    return fmt::format("evenkeel:{{{}/{}/{}}}:", name.hub_namespace, name.event_hub, name.group);
}

Error odd_reply(const std::string& shown) {
    return {ErrorCode::unsupported, shown + ": a reply of unknown form; is this Redis?"};
}

}  // namespace

struct RedisStore::State {
    using Replies = RedisClient::Replies;

    State(io::Loop& loop_, RedisClient::Options options, std::string prefix_)
        : loop(loop_),
          prefix(std::move(prefix_)),
          shown(options.address.shown()),
          name(options.name),
          channel(options.channel),
          client(thread, network, std::move(options), [this] { tell(); }) {}
    ~State() { thread.stop(); }

    // Blocks until it is connected.
    Result<> start();
    // Whether opening would have nothing to create. Blocks, and writes nothing.
    static Result<bool> is_there(io::Loop& loop, RedisClient::Options options,
                                 const std::string& prefix);

    // `read` is Result<T>(const Replies&), without errors in them.
    template <typename T, typename Read>
    void submit(std::vector<RedisCommand> commands, Answer<T> done, Read read);
    void tell();
    RedisCommand entry_write(const char* key, std::string field, std::string_view version,
                             const RedisEntry& entry, bool is_told) const;
    Result<std::string> entry_written(const RespValue& reply, const std::string& what,
                                      std::string_view version) const;
    RedisCommand checkpoint_write(const char* how, const Checkpoint& checkpoint) const;
    // Every field of a hash; `convert` is Result<T>(field, value, the server's time).
    template <typename T, typename Convert>
    void list(const char* key, Answer<std::vector<T>> done, Convert convert);

    // Of all dead letters, in order.
    void list_letter_ids(Answer<std::vector<DeadLetterId>> done);

    io::Loop& loop;
    const std::string prefix;
    const std::string shown;
    const std::string name;
    const std::string channel;
    std::function<void()> changed;
    Lifetime lifetime;  // of what is posted to the loop
    io::system::LoopThread thread{"store/0"};
    io::system::SystemNetwork network{thread};
    RedisClient client;
};

template <typename T, typename Read>
void RedisStore::State::submit(std::vector<RedisCommand> commands, Answer<T> done, Read read) {
    loop.check_here();
    auto answer = lifetime.guard(
        [done = std::move(done), read = std::move(read)](const Result<Replies>& replies) mutable {
            if (!replies.ok()) return done(replies.error());
            done(read(*replies));
        });
    thread.post([this, commands = std::move(commands), answer = std::move(answer)]() mutable {
        client.send(std::move(commands),
                    [&to = loop, answer = std::move(answer)](Result<Replies> replies) mutable {
                        to.post([answer = std::move(answer),
                                 replies = std::move(replies)]() mutable { answer(replies); });
                    });
    });
}

// On the store's thread.
void RedisStore::State::tell() {
    loop.post(lifetime.guard([this] {
        if (!changed) return;
        const auto now_changed = changed;  // it may end the watch, or the store
        now_changed();
    }));
}

RedisCommand RedisStore::State::entry_write(const char* key, std::string field,
                                            std::string_view version, const RedisEntry& entry,
                                            bool is_told) const {
    return {&write_entry_script,
            {"1", prefix + key, std::move(field), std::string(version), secure_hex(12),
             entry.meaning, entry.detail, is_told ? channel : "", name}};
}

Result<std::string> RedisStore::State::entry_written(const RespValue& reply,
                                                     const std::string& what,
                                                     std::string_view version) const {
    if (reply.is_error()) return redis_error(shown, reply.text);
    if (reply.list.size() != 2) return odd_reply(shown);
    if (reply.list[0].integer == 1) return reply.list[1].text;
    return version_conflict(what, version, reply.list[1].text);
}

RedisCommand RedisStore::State::checkpoint_write(const char* how,
                                                 const Checkpoint& checkpoint) const {
    return {&write_checkpoint_script,
            {"1", prefix + "checkpoints", std::to_string(checkpoint.partition.value), how,
             std::to_string(checkpoint.epoch.value), std::to_string(checkpoint.sequence.value),
             std::to_string(checkpoint.attempts), std::to_string(checkpoint.hub_created_ms),
             std::to_string(checkpoint.enqueued_ms), checkpoint.offset}};
}

template <typename T, typename Convert>
void RedisStore::State::list(const char* key, Answer<std::vector<T>> done, Convert convert) {
    submit<std::vector<T>>(
        {{nullptr, {"TIME"}}, {nullptr, {"HGETALL", prefix + key}}}, std::move(done),
        [where = shown, convert](const Replies& replies) -> Result<std::vector<T>> {
            for (const RespValue& reply : replies) {
                if (reply.is_error()) return redis_error(where, reply.text);
            }
            const auto& time = replies[0].list;
            const auto& fields = replies[1].list;
            if (time.size() != 2 || fields.size() % 2 != 0) return odd_reply(where);
            const auto now_us = redis_time_us(time[0].text, time[1].text);
            if (!now_us) return odd_reply(where);
            std::vector<T> listed;
            listed.reserve(fields.size() / 2);
            for (std::size_t i = 0; i < fields.size(); i += 2) {
                Result<T> entry = convert(fields[i].text, fields[i + 1].text, *now_us);
                if (!entry.ok()) return entry.error();
                listed.push_back(std::move(*entry));
            }
            return listed;
        });
}

Result<std::unique_ptr<RedisStore>> RedisStore::open(const std::string& url, const GroupName& group,
                                                     io::Loop& loop, const RedisOptions& options) {
    EK_TRY_ASSIGN(RedisAddress address, RedisAddress::parse(url));
    EK_TRY_ASSIGN(auto tls, redis_tls(address));
    const std::string prefix = prefix_of(group);
    RedisClient::Options wanted{.address = std::move(address),
                                .wait_max = options.wait_max,
                                .format_key = prefix + "format",
                                .channel = prefix + "changes",
                                .name = secure_hex(12),
                                .tls = std::move(tls)};
    if (!options.may_create) {
        EK_TRY_ASSIGN(const bool is_there, State::is_there(loop, wanted, prefix));
        if (!is_there) return std::unique_ptr<RedisStore>();
    }
    auto state = std::make_unique<State>(loop, std::move(wanted), prefix);
    EK_TRY(state->start());
    return std::unique_ptr<RedisStore>(new RedisStore(std::move(state)));
}

Result<> RedisStore::State::start() {
    Promise<Result<>> connected;
    thread.start();
    thread.post([&] { client.start([&](Result<> result) { connected.set(std::move(result)); }); });
    return connected.wait();
}

Result<bool> RedisStore::State::is_there(io::Loop& loop, RedisClient::Options options,
                                         const std::string& prefix) {
    RedisCommand exists{.words = {"EXISTS", std::exchange(options.format_key, {})}};
    State state(loop, std::move(options), prefix);
    EK_TRY(state.start());
    Promise<Result<Replies>> replied;
    state.thread.post([&] {
        state.client.send({std::move(exists)},
                          [&](Result<Replies> replies) { replied.set(std::move(replies)); });
    });
    EK_TRY_ASSIGN(const Replies replies, replied.wait());
    if (replies.at(0).is_error()) return redis_error(state.shown, replies[0].text);
    return replies[0].integer > 0;
}

RedisStore::RedisStore(std::unique_ptr<State> state) : state_(std::move(state)) {}

RedisStore::~RedisStore() = default;

void RedisStore::list_members(Answer<std::vector<Member>> done) {
    Answer<std::vector<Member>> sorted =
        [done = std::move(done)](Result<std::vector<Member>> listed) mutable {
            if (listed.ok()) std::ranges::sort(*listed, {}, &Member::id);
            done(std::move(listed));
        };
    state_->list<Member>("members", std::move(sorted), &member_of);
}

void RedisStore::write_member(const Member& member, Answer<std::string> done) {
    state_->submit<std::string>(
        {state_->entry_write("members", member.id, member.version, to_redis(member), true)},
        std::move(done),
        [state = state_.get(), id = member.id, version = member.version](const auto& replies) {
            return state->entry_written(replies[0], "member '" + id + "'", version);
        });
}

void RedisStore::remove_member(std::string_view id, std::string_view version, Answer<> done) {
    state_->submit<void>({state_->entry_write("members", std::string(id), version, {}, true)},
                         std::move(done),
                         [state = state_.get(), what = fmt::format("member '{}'", id),
                          version = std::string(version)](const auto& replies) -> Result<> {
                             EK_TRY(state->entry_written(replies[0], what, version));
                             return {};
                         });
}

void RedisStore::list_ownerships(Answer<std::vector<Ownership>> done) {
    Answer<std::vector<Ownership>> sorted =
        [done = std::move(done)](Result<std::vector<Ownership>> listed) mutable {
            if (listed.ok()) std::ranges::sort(*listed, {}, &Ownership::partition);
            done(std::move(listed));
        };
    state_->list<Ownership>("ownerships", std::move(sorted), &ownership_of);
}

void RedisStore::write_ownerships(std::vector<Ownership> wanted,
                                  Answer<std::vector<Result<std::string>>> done) {
    using Results = std::vector<Result<std::string>>;
    std::vector<RedisCommand> commands;
    commands.reserve(wanted.size());
    for (const Ownership& each : wanted) {
        commands.push_back(state_->entry_write("ownerships", std::to_string(each.partition.value),
                                               each.version, to_redis(each), true));
    }
    state_->submit<Results>(
        std::move(commands), std::move(done),
        [state = state_.get(), wanted = std::move(wanted)](const auto& replies) -> Result<Results> {
            Results results;
            results.reserve(wanted.size());
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                results.push_back(state->entry_written(
                    replies[i], fmt::format("ownership of partition {}", wanted[i].partition.value),
                    wanted[i].version));
            }
            return results;
        });
}

void RedisStore::list_checkpoints(Answer<std::vector<Checkpoint>> done) {
    Answer<std::vector<Checkpoint>> sorted =
        [done = std::move(done)](Result<std::vector<Checkpoint>> listed) mutable {
            if (listed.ok()) std::ranges::sort(*listed, {}, &Checkpoint::partition);
            done(std::move(listed));
        };
    state_->list<Checkpoint>("checkpoints", std::move(sorted),
                             [](const std::string& partition, std::string_view stored,
                                std::int64_t) { return checkpoint_of(partition, stored); });
}

namespace {

// What the script said of a write of `checkpoint`, and what is stored now.
Result<Checkpoint> checkpoint_written(const std::string& shown, const RespValue& reply,
                                      const Checkpoint& checkpoint) {
    if (reply.is_error()) return redis_error(shown, reply.text);
    if (reply.list.size() != 2) return odd_reply(shown);
    EK_TRY_ASSIGN(const Checkpoint stored,
                  checkpoint_of(std::to_string(checkpoint.partition.value), reply.list[1].text));
    const std::string& outcome = reply.list[0].text;
    if (outcome == "fenced") {
        return epoch_fenced(checkpoint.partition, checkpoint.epoch, stored.epoch);
    }
    if (outcome == "behind") return position_conflict(checkpoint, stored);
    return stored;
}

}  // namespace

void RedisStore::seal(PartitionId partition, Epoch epoch, Answer<Checkpoint> done) {
    const Checkpoint wanted{.partition = partition, .sequence = {-1}, .epoch = epoch};
    state_->submit<Checkpoint>({state_->checkpoint_write("seal", wanted)}, std::move(done),
                               [state = state_.get(), wanted](const auto& replies) {
                                   return checkpoint_written(state->shown, replies[0], wanted);
                               });
}

void RedisStore::write_checkpoint(const Checkpoint& checkpoint, Answer<> done) {
    state_->submit<void>({state_->checkpoint_write("write", checkpoint)}, std::move(done),
                         [state = state_.get(), checkpoint](const auto& replies) -> Result<> {
                             EK_TRY(checkpoint_written(state->shown, replies[0], checkpoint));
                             return {};
                         });
}

void RedisStore::reset_checkpoint(const Checkpoint& checkpoint, Answer<> done) {
    state_->submit<void>({state_->checkpoint_write("reset", checkpoint)}, std::move(done),
                         [state = state_.get(), checkpoint](const auto& replies) -> Result<> {
                             EK_TRY(checkpoint_written(state->shown, replies[0], checkpoint));
                             return {};
                         });
}

void RedisStore::add_dead_letter(const DeadLetter& letter, Answer<> done) {
    state_->submit<void>({{nullptr,
                           {"HSETNX", state_->prefix + "dead_letters",
                            letter_field({letter.partition, letter.sequence}), to_redis(letter)}}},
                         std::move(done), [state = state_.get()](const auto& replies) -> Result<> {
                             if (replies[0].is_error())
                                 return redis_error(state->shown, replies[0].text);
                             return {};
                         });
}

// The names first: those that a page is of are known then, however many there are.
void RedisStore::State::list_letter_ids(Answer<std::vector<DeadLetterId>> done) {
    submit<std::vector<DeadLetterId>>(
        {{nullptr, {"HKEYS", prefix + "dead_letters"}}}, std::move(done),
        [where = shown](const Replies& replies) -> Result<std::vector<DeadLetterId>> {
            if (replies[0].is_error()) return redis_error(where, replies[0].text);
            std::vector<DeadLetterId> ids;
            ids.reserve(replies[0].list.size());
            for (const RespValue& field : replies[0].list) {
                EK_TRY_ASSIGN(const DeadLetterId id, dead_letter_id_of(field.text));
                ids.push_back(id);
            }
            std::ranges::sort(ids);
            return ids;
        });
}

void RedisStore::list_dead_letters(const DeadLetterPage& page,
                                   Answer<std::vector<DeadLetter>> done) {
    State& state = *state_;
    state.list_letter_ids([&state, page,
                           done = std::move(done)](Result<std::vector<DeadLetterId>> ids) mutable {
        if (!ids.ok()) return done(ids.error());
        const auto begin = page.after ? std::ranges::upper_bound(*ids, *page.after) : ids->begin();
        ids->erase(ids->begin(), begin);
        if (ids->size() > page.count_max) ids->resize(page.count_max);
        if (ids->empty()) return done(std::vector<DeadLetter>());
        std::vector<std::string> words = {"HMGET", state.prefix + "dead_letters"};
        for (const DeadLetterId& id : *ids) words.push_back(letter_field(id));
        state.submit<std::vector<DeadLetter>>(
            {{nullptr, std::move(words)}}, std::move(done),
            [where = state.shown, ids = std::move(*ids)](
                const State::Replies& replies) -> Result<std::vector<DeadLetter>> {
                if (replies[0].is_error()) return redis_error(where, replies[0].text);
                if (replies[0].list.size() != ids.size()) return odd_reply(where);
                std::vector<DeadLetter> letters;
                for (std::size_t i = 0; i < ids.size(); ++i) {
                    const RespValue& value = replies[0].list[i];
                    if (value.kind == RespValue::Kind::null) continue;  // removed meanwhile
                    EK_TRY_ASSIGN(auto letter, dead_letter_of(letter_field(ids[i]), value.text));
                    letters.push_back(std::move(letter));
                }
                return letters;
            });
    });
}

void RedisStore::count_dead_letters(Answer<std::map<PartitionId, std::uint64_t>> done) {
    state_->list_letter_ids(
        [done = std::move(done)](const Result<std::vector<DeadLetterId>>& ids) mutable {
            if (!ids.ok()) return done(ids.error());
            std::map<PartitionId, std::uint64_t> counts;
            for (const DeadLetterId& id : *ids) ++counts[id.partition];
            done(std::move(counts));
        });
}

void RedisStore::remove_dead_letter(const DeadLetterId& id, Answer<> done) {
    state_->submit<void>({{nullptr, {"HDEL", state_->prefix + "dead_letters", letter_field(id)}}},
                         std::move(done), [state = state_.get()](const auto& replies) -> Result<> {
                             if (replies[0].is_error())
                                 return redis_error(state->shown, replies[0].text);
                             return {};
                         });
}

void RedisStore::list_records(std::string_view prefix, Answer<std::vector<Record>> done) {
    Answer<std::vector<Record>> chosen = [done = std::move(done), prefix = std::string(prefix)](
                                             Result<std::vector<Record>> listed) mutable {
        if (listed.ok()) {
            std::erase_if(*listed,
                          [&](const Record& record) { return !record.key.starts_with(prefix); });
            std::ranges::sort(*listed, {}, &Record::key);
        }
        done(std::move(listed));
    };
    state_->list<Record>("records", std::move(chosen),
                         [](const std::string& key, std::string_view stored, std::int64_t) {
                             return record_of(key, stored);
                         });
}

void RedisStore::write_record(const Record& record, Answer<std::string> done) {
    if (const Result<> checked = check(record); !checked.ok()) {
        return state_->submit<std::string>(
            {}, std::move(done),
            [error = checked.error()](const auto&) -> Result<std::string> { return error; });
    }
    state_->submit<std::string>(
        {state_->entry_write("records", record.key, record.version, {.detail = record.value},
                             false)},
        std::move(done),
        [state = state_.get(), key = record.key, version = record.version](const auto& replies) {
            return state->entry_written(replies[0], "record '" + key + "'", version);
        });
}

bool RedisStore::watch(std::function<void()> changed) {
    state_->loop.check_here();
    state_->changed = std::move(changed);
    return true;
}

}  // namespace evenkeel::checkpoint
