#include "processor/ownership/store_mark.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/number.h"

namespace evenkeel::processor {
namespace {

constexpr int looks_between_paid_writes = 12;

constexpr std::string_view remedy =
    "The group has stopped. Look at 'evenkeel checkpoint ls', correct positions with 'evenkeel "
    "checkpoint set', then start the processors with --accept-store-loss";

std::string_view next_word(std::string_view& text) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
}

}  // namespace

Duration store_mark_period(const Timing& timing) {
    // A look comes after at least 1.8 polls, so that each one raises it.
    return timing.is_thrifty ? looks_between_paid_writes * timing.poll : timing.poll * 3 / 2;
}

std::string encode(const StoreMark& mark) {
    const std::string text = fmt::format("{} {}", mark.incarnation, mark.count);
    return mark.accepted.empty() ? text : text + " " + mark.accepted;
}

std::optional<StoreMark> decode_store_mark(std::string_view text) {
    StoreMark mark;
    mark.incarnation = next_word(text);
    const std::string_view digits = next_word(text);
    mark.accepted = text;
    if (mark.incarnation.empty() || !read_number(digits, mark.count)) return std::nullopt;
    return mark;
}

std::string encode(const StoreLost& lost) {
    return fmt::format("{} {}", lost.incarnation, lost.noticed_by);
}

StoreLost decode_store_lost(std::string_view text) {
    StoreLost lost;
    lost.incarnation = next_word(text);
    lost.noticed_by = text;
    return lost;
}

StoreSigns read_store_signs(const std::vector<checkpoint::Record>& records) {
    StoreSigns signs;
    for (const auto& record : records) {
        if (record.key == store_lost_key) {
            signs.lost = decode_store_lost(record.value);
            signs.lost_version = record.version;
        }
        if (record.key == store_mark_key) {
            signs.mark = decode_store_mark(record.value);
            signs.mark_version = record.version;
        }
    }
    return signs;
}

void StoreMemory::join(const StoreMark& mark, Instant now) {
    known_ = mark;
    risen_ = now;
}

std::optional<StoreVerdict> StoreMemory::judge(const StoreSigns& signs, Instant now) {
    const auto lost = [](std::string_view what) {
        return StoreVerdict{{ErrorCode::corrupt, fmt::format("{}. {}", what, remedy)}};
    };
    const bool is_other = !signs.mark || signs.mark->incarnation != known_.incarnation;
    if (is_other && signs.mark && signs.mark->accepted == known_.incarnation) {
        return StoreVerdict{{ErrorCode::corrupt,
                             "the checkpoint store was lost, and that was accepted while this "
                             "instance did not look. Start it again"},
                            true};
    }
    if (is_other) {
        return lost(
            "the checkpoint store was emptied, or replaced by another one, while the processor was "
            "running");
    }
    if (signs.mark->count + 1 < known_.count) {
        return lost(
            "the checkpoint store was set back to an older copy while the processor was running");
    }
    if (signs.lost) return StoreVerdict{not_accepted(*signs.lost)};
    if (signs.mark->count != known_.count) risen_ = now;
    known_.count = std::max(known_.count, signs.mark->count);
    return std::nullopt;
}

std::optional<StoreMark> StoreMemory::next(const StoreSigns& signs, Instant now) const {
    if (!signs.mark || now - risen_ < period_) return std::nullopt;
    StoreMark next = *signs.mark;
    next.count = known_.count + 1;
    return next;
}

void StoreMemory::raised(const StoreMark& mark, Instant asked) {
    if (mark.incarnation != known_.incarnation || mark.count <= known_.count) return;
    known_.count = mark.count;
    risen_ = asked;
}

Error not_accepted(const StoreLost& lost) {
    return {ErrorCode::corrupt, fmt::format("the checkpoint store has lost entries, as '{}' "
                                            "noticed. {}",
                                            lost.noticed_by, remedy)};
}

}  // namespace evenkeel::processor
