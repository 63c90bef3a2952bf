#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/core.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/remote/letter_box.h"
#include "cli/remote/side_readers.h"
#include "processor/pump/forwarded_letter.h"
#include "producer/batch_access.h"
#include <evenkeel/consumer.h>
#include <evenkeel/producer.h>

namespace evenkeel::cli {
namespace {

using checkpoint::DeadLetter;
using checkpoint::DeadLetterId;
using processor::ForwardedLetter;

constexpr std::size_t read_events = 500;
constexpr auto read_wait = std::chrono::milliseconds(500);
constexpr const char* program = "evenkeel deadletter";

// An event hub keeps everything that it got. What is there is found by reading all of it: dead
// letters, perhaps twice, and removals.
class HubLetters final : public LetterBox {
public:
    HubLetters(Remote remote, std::string letter_hub, LetterPlace place)
        : remote_(std::move(remote)),
          letter_hub_(std::move(letter_hub)),
          place_(std::move(place)) {}

    Result<> connect() {
        EK_TRY_ASSIGN(const auto properties, first_contact(remote_, letter_hub_));
        partitions_ = properties.partitions;
        EK_TRY_ASSIGN(client_,
                      Client::open(client_options(remote_, letter_hub_, program, Patience::usual)));
        readers_.emplace(remote_, *client_, letter_hub_, program);
        return {};
    }

    Result<std::vector<LetterRow>> list() override {
        const auto looked = look();
        readers_->close();
        EK_TRY(looked);
        std::vector<LetterRow> rows;
        for (const auto& [key, entry] : letters_) rows.push_back(entry.row);
        return rows;
    }

    Result<> each(const std::vector<DeadLetterId>& ids, const Visit& visit) override {
        auto visited = visit_each(ids, visit);
        readers_->close();
        return visited;
    }

    // In the partition of the dead letter itself, so that retention does not take the removal
    // first; once for each copy. It counts for copies before it: an event that fails again later is
    // a dead letter again.
    Result<> remove(const DeadLetter& letter) override {
        const auto found = letters_.find(key_of(letter));
        if (found == letters_.end()) return {};
        if (!producer_) {
            EK_TRY_ASSIGN(producer_, Producer::open(*client_));
        }
        const auto removal = producer::BatchAccess::in_batch(processor::removal_of(
            letter, {place_.event_hub, place_.group}, SystemClock().wall().milliseconds));
        std::set<std::uint32_t> partitions;
        for (const Copy& copy : found->second.copies) partitions.insert(copy.partition);
        for (const std::uint32_t partition : partitions) {
            EK_TRY_ASSIGN(auto batch, producer_->make_batch({.partition = partition}));
            producer::BatchAccess::try_add(batch, removal);
            EK_TRY(producer_->send(batch));
        }
        letters_.erase(found);
        return {};
    }

private:
    struct Copy {
        std::uint32_t partition = 0;
        std::int64_t sequence = 0;
    };
    struct Entry {
        LetterRow row;
        std::vector<Copy> copies;
    };
    // The enqueued time tells an event from that of an event hub of the same name, made later.
    using Key = std::tuple<DeadLetterId, std::int64_t>;
    static Key key_of(const DeadLetter& letter) { return {id_of(letter), letter.enqueued_ms}; }

    Result<> visit_each(const std::vector<DeadLetterId>& ids, const Visit& visit) {
        if (!was_looked_at_) EK_TRY(look());
        const std::set<DeadLetterId> wanted(ids.begin(), ids.end());
        std::vector<std::vector<Copy>> chosen;  // `visit` may remove what it gets
        for (const auto& [key, entry] : letters_) {
            if (wanted.contains(id_of(entry.row.letter))) chosen.push_back(entry.copies);
        }
        for (const auto& copies : chosen) {
            std::optional<DeadLetter> letter;
            for (auto copy = copies.begin(); copy != copies.end() && !letter; ++copy) {
                EK_TRY_ASSIGN(letter, fetch(*copy));
            }
            if (letter) EK_TRY(visit(*letter));
        }
        return {};
    }

    Result<> look() {
        letters_.clear();
        for (std::uint32_t partition = 0; partition < partitions_; ++partition) {
            EK_TRY(read_partition(partition, [&](const Event& event) {
                auto found = processor::read_forwarded(event);
                if (!found || !equal_without_case(found->origin.event_hub, place_.event_hub) ||
                    !equal_without_case(found->origin.group, place_.group)) {
                    return;
                }
                const Key key = key_of(found->letter);
                if (found->is_removal) {
                    remove_copies(key, partition);
                    return;
                }
                Entry& entry = letters_[key];
                entry.copies.push_back({partition, event.sequence_number});
                if (entry.copies.size() > 1) return;
                entry.row.body_bytes = event_of(found->letter).body().size();
                found->letter.sections = {};
                entry.row.letter = std::move(found->letter);
            }));
        }
        was_looked_at_ = true;
        return {};
    }

    // Those of the partition that were read so far.
    void remove_copies(const Key& key, std::uint32_t partition) {
        const auto found = letters_.find(key);
        if (found == letters_.end()) return;
        std::erase_if(found->second.copies,
                      [&](const Copy& copy) { return copy.partition == partition; });
        if (found->second.copies.empty()) letters_.erase(found);
    }

    // All that the partition has now.
    template <typename Take>
    Result<> read_partition(std::uint32_t partition, Take take) {
        EK_TRY_ASSIGN(auto info, client_->properties(partition));
        if (info.is_empty) return {};
        const std::int64_t last = info.last_enqueued_sequence_number;
        EK_TRY_ASSIGN(auto reader, readers_->open(partition, Position::earliest()));
        std::int64_t next = 0;
        while (true) {
            const auto batch = reader->read(read_events, read_wait);
            if (!batch.ok() && SideReaders::is_displaced(batch.error().code)) {
                EK_TRY_ASSIGN(reader, readers_->open(partition, Position::at_sequence(next)));
                continue;
            }
            EK_TRY(batch);
            for (const Event& event : *batch) {
                if (event.sequence_number > last) return {};
                take(event);
                if (event.sequence_number == last) return {};
                next = event.sequence_number + 1;
            }
            if (!batch->empty()) continue;
            // Retention may have taken the rest.
            EK_TRY_ASSIGN(info, client_->properties(partition));
            if (info.is_empty || info.begin_sequence_number > last) return {};
        }
    }

    // None if retention has taken it.
    Result<std::optional<DeadLetter>> fetch(const Copy& copy) {
        EK_TRY_ASSIGN(const auto reader,
                      readers_->open(copy.partition, Position::at_sequence(copy.sequence)));
        EK_TRY_ASSIGN(const auto batch, reader->read(1, remote_.timeout));
        if (batch.empty()) {
            return Error{ErrorCode::timed_out,
                         fmt::format("event {} of partition {} of event hub '{}' did not come",
                                     copy.sequence, copy.partition, letter_hub_)};
        }
        if (batch[0].sequence_number != copy.sequence) return std::optional<DeadLetter>();
        auto found = processor::read_forwarded(batch[0]);
        if (!found) return std::optional<DeadLetter>();
        return std::optional<DeadLetter>(std::move(found->letter));
    }

    const Remote remote_;
    const std::string letter_hub_;
    const LetterPlace place_;
    std::uint32_t partitions_ = 0;
    std::unique_ptr<Client> client_;
    std::optional<SideReaders> readers_;
    std::unique_ptr<Producer> producer_;  // once something is removed
    bool was_looked_at_ = false;
    std::map<Key, Entry> letters_;
};

}  // namespace

Result<std::unique_ptr<LetterBox>> open_hub_letters(const LetterBoxOptions& options) {
    RemoteOptions wanted = options.remote;
    const bool is_address = options.letter_hub.find("://") != std::string::npos;
    if (is_address) wanted.connection = options.letter_hub;
    EK_TRY_ASSIGN(Remote remote, remote_of(wanted));
    std::string letter_hub = is_address ? remote.target.event_hub : options.letter_hub;
    if (letter_hub.empty()) {
        return Error{ErrorCode::invalid_argument,
                     "the connection string of --dead-letter names no event hub"};
    }
    auto letters =
        std::make_unique<HubLetters>(std::move(remote), std::move(letter_hub), options.place);
    EK_TRY(letters->connect());
    return std::unique_ptr<LetterBox>(std::move(letters));
}

}  // namespace evenkeel::cli
