#include "crash/log_world.h"

#include <fmt/core.h>

#include "base/check.h"
#include "commitlog/journal_replay.h"

namespace evenkeel::crash {
namespace {

void take(const commitlog::Slice& slice, Reading& reading) {
    for (const auto& record : slice) reading.events.push_back(observe(record));
}

}  // namespace

commitlog::LogIdentity test_identity() {
    commitlog::LogIdentity identity;
    identity.incarnation.fill(std::byte{0x5a});
    identity.partition = PartitionId{3};
    return identity;
}

commitlog::LogOptions small_options(Random& random) {
    commitlog::LogOptions options;
    options.segment_bytes_max = std::uint64_t{512} << random.below(4);
    options.index_distance = random.chance(1, 2) ? 128 : 256;
    options.tail_bytes_max = random.chance(1, 2) ? 0 : 2048;
    options.flush_bytes_max = random.chance(1, 2) ? 1024 : 1 << 20;
    return options;
}

commitlog::JournalOptions small_journal(const commitlog::LogOptions& options) {
    commitlog::JournalOptions journal;
    journal.directory = journal_folder;
    journal.nonce.fill(std::byte{0x17});
    // Both files are full long before a segment is.
    journal.file_bytes_max = 1536 + options.segment_bytes_max / 8;
    journal.entry_bytes_max = 1024;
    journal.group_bytes_max = 2048;
    journal.growth_bytes = options.index_distance == 128 ? 1280 : 2048;  // it grows, or is whole
    return journal;
}

std::unique_ptr<io::sim::Disk> a_disk() {
    auto disk = std::make_unique<io::sim::Disk>();
    EK_CHECK(disk->make_directory(journal_folder).ok(), "a healthy disk makes a folder");
    const auto created = commitlog::create_log(*disk, partition_folder, test_identity());
    EK_CHECK(created.ok(), "a log can be created on an empty disk");
    EK_CHECK(disk->sync_directory("").ok(), "a healthy disk syncs");
    return disk;
}

LogWorld::LogWorld(std::uint64_t seed, std::unique_ptr<io::sim::Disk> disk,
                   const commitlog::LogOptions& options)
    : disk_(std::move(disk)), options_(options), scheduler_(seed) {}

LogWorld::~LogWorld() {
    if (disk_) stop();
}

Result<> LogWorld::open() {
    EK_TRY_ASSIGN(const auto replayed,
                  commitlog::replay_journals(
                      *disk_, journal_folder, [](const commitlog::LogIdentity& identity) {
                          return identity.partition == test_identity().partition
                                     ? std::optional(std::string(partition_folder))
                                     : std::nullopt;
                      }));
    if (!replayed.unreplayed.empty()) return replayed.unreplayed.front().error;
    journal_ = std::make_shared<commitlog::Journal>(
        commitlog::JournalContext{*disk_, executor_, background_, loop_.clock(), log_metrics_},
        small_journal(options_));
    EK_TRY_ASSIGN(log_,
                  commitlog::Log::open({*disk_, loop_, executor_, log_metrics_, journal_.get()},
                                       partition_folder, test_identity(), options_));
    return {};
}

void LogWorld::close() {
    bool closed = false;
    log_->close([&closed] { closed = true; });
    run();
    EK_CHECK(closed, "a log that is asked to close does so");
    log_.reset();
    bool journal_closed = false;
    executor_.post([&] { journal_->close([&](const Result<>&) { journal_closed = true; }); });
    run();
    EK_CHECK(journal_closed, "a journal that is asked to close does so");
    journal_.reset();
}

std::unique_ptr<io::sim::Disk> LogWorld::stop() {
    log_.reset();
    journal_.reset();
    loop_.discard();
    executor_.discard();
    background_.discard();
    return std::move(disk_);
}

Result<Reading> LogWorld::read_all(std::size_t bytes_max) {
    return read_from(Position::earliest(), bytes_max);
}

Result<Reading> LogWorld::read_from(const Position& position, std::size_t bytes_max) {
    Reading reading;
    EK_TRY_ASSIGN(auto cursor, log_->seek(position));
    reading.begin = cursor.sequence.value;
    reading.next = log_->properties().last_sequence.value + 1;
    constexpr int reads_max = 100'000;
    for (int i = 0; i < reads_max; ++i) {
        auto step = log_->read(cursor, bytes_max);
        if (std::holds_alternative<std::monostate>(step)) return reading;
        if (const auto* slice = std::get_if<commitlog::Slice>(&step)) {
            take(*slice, reading);
            continue;
        }
        const auto& cold = std::get<commitlog::ColdRead>(step);
        EK_TRY_ASSIGN(const auto outcome, cold.perform());
        take(outcome.events, reading);
        if (outcome.damage) {
            reading.gaps.push_back({outcome.damage->from.value, outcome.damage->to.value});
        }
        const Offset before = cursor.next;
        log_->advance(cursor, outcome);
        if (cursor.next <= before) {
            return Error{ErrorCode::corrupt,
                         fmt::format("a read at event {} did not move", cursor.sequence.value)};
        }
    }
    return Error{ErrorCode::corrupt, "reading does not end"};
}

void append(LogWorld& world, History& history, std::uint32_t producer,
            const std::vector<std::size_t>& body_bytes, Random& random, bool with_keys) {
    std::vector<Value> values;
    std::vector<Content> contents;
    std::vector<commitlog::NewEvent> events;
    for (const std::size_t size : body_bytes) {
        const auto counter = static_cast<std::uint32_t>(history.sent.size() + values.size() + 1);
        values.push_back({producer, counter});
        const std::size_t key_bytes = with_keys && random.chance(1, 2) ? random.below(40) : 0;
        contents.push_back(content_of(values.back(), key_bytes, size, random));
    }
    for (const auto& content : contents) events.push_back({content.key, content.body});
    const std::size_t batch = history.invoke(std::move(values));
    world.log().append(events, [&history, batch](Result<commitlog::Appended> result) {
        if (result.ok()) {
            history.acknowledge(batch, *result);
        } else {
            history.refuse(batch);
        }
    });
}

}  // namespace evenkeel::crash
