#include "processor/ownership/journal.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/number.h"

namespace evenkeel::processor {
namespace {

using checkpoint::Record;

constexpr Duration again_after = std::chrono::milliseconds(200);
constexpr std::size_t text_max = 200;  // of a name or a reason

std::string number_or_dash(const std::optional<std::int64_t>& number) {
    return number ? std::to_string(*number) : "-";
}

std::optional<std::int64_t> number_or_none(std::string_view text) {
    std::int64_t number = 0;
    return read_number(text, number) ? std::optional(number) : std::nullopt;
}

std::string plain(std::string_view text) {
    std::string result(text.substr(0, text_max));
    for (char& c : result) {
        if (static_cast<unsigned char>(c) < ' ') c = ' ';
    }
    return result;
}

}  // namespace

std::string moves_key(PartitionId partition) {
    return fmt::format("{}{:05}", moves_prefix, partition.value);
}

std::string encode_moves(const std::vector<OwnerMove>& moves) {
    std::string text;
    const std::size_t skipped = moves.size() > moves_max ? moves.size() - moves_max : 0;
    for (std::size_t i = skipped; i < moves.size(); ++i) {
        const OwnerMove& move = moves[i];
        text += fmt::format("{}\t{}\t{}\t{}\t{}", move.at_ms, move.epoch.value, plain(move.from),
                            plain(move.to), plain(move.reason));
        if (move.gap_ms || move.repeated) {
            text +=
                fmt::format("\t{}\t{}", number_or_dash(move.gap_ms), number_or_dash(move.repeated));
        }
        text += '\n';
    }
    return text;
}

std::vector<OwnerMove> decode_moves(PartitionId partition, std::string_view text) {
    std::vector<OwnerMove> moves;
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        const auto word = [&] {
            const std::string_view found = line.substr(0, line.find('\t'));
            line.remove_prefix(std::min(line.size(), found.size() + 1));
            return found;
        };
        const auto number = [&](std::int64_t& to) { return read_number(word(), to); };
        OwnerMove move{.partition = partition};
        if (!number(move.at_ms) || !number(move.epoch.value)) continue;
        move.from = word();
        move.to = word();
        move.reason = word();
        move.gap_ms = number_or_none(word());
        move.repeated = number_or_none(word());
        moves.push_back(std::move(move));
    }
    return moves;
}

std::vector<OwnerMove> merge_moves(std::vector<OwnerMove> stored,
                                   const std::vector<OwnerMove>& added) {
    for (const OwnerMove& move : added) {
        const bool is_there = std::any_of(stored.begin(), stored.end(), [&](const OwnerMove& each) {
            return each.epoch == move.epoch;
        });
        if (!is_there) stored.push_back(move);
    }
    std::stable_sort(stored.begin(), stored.end(),
                     [](const OwnerMove& a, const OwnerMove& b) { return a.epoch < b.epoch; });
    return stored;
}

void Journal::add(OwnerMove move) {
    loop_.check_here();
    const PartitionId partition = move.partition;
    Page& page = pages_[partition];
    page.waiting.push_back(std::move(move));
    if (page.waiting.size() > moves_max) page.waiting.erase(page.waiting.begin());
    if (!page.is_busy) write(partition);
}

void Journal::note_read(PartitionId partition, Epoch epoch) {
    loop_.check_here();
    Page& page = pages_[partition];
    page.read = Read{epoch, loop_.clock().wall().milliseconds};
    if (!page.is_busy) write(partition);
}

void Journal::write(PartitionId partition) {
    pages_[partition].is_busy = true;
    store_.list_records(
        moves_key(partition),
        lifetime_.guard([this, partition](const Result<std::vector<Record>>& listed) {
            if (!listed.ok()) return failed(partition);
            write(partition, *listed);
        }));
}

void Journal::write(PartitionId partition, const std::vector<Record>& listed) {
    Page& page = pages_[partition];
    Record record{moves_key(partition), ""};
    for (const Record& each : listed) {
        if (each.key == record.key) record = each;
    }
    std::vector<OwnerMove> moves = merge_moves(decode_moves(partition, record.value), page.waiting);
    bool is_read_told = false;
    for (OwnerMove& move : moves) {
        if (!page.read || move.epoch != page.read->epoch) continue;
        is_read_told = true;
        if (move.from.empty()) continue;
        // Once: an attempt that seemed to fail may have been applied.
        if (!page.read->gap_ms) {
            page.read->gap_ms =
                move.gap_ms.value_or(0) + std::max<std::int64_t>(0, page.read->at_ms - move.at_ms);
        }
        move.gap_ms = page.read->gap_ms;
    }
    if (page.waiting.empty() && !is_read_told) return failed(partition);  // it is on its way
    record.value = encode_moves(moves);
    store_.write_record(record, lifetime_.guard([this, partition, count = page.waiting.size(),
                                                 is_read_told](const Result<std::string>& result) {
        if (!result.ok()) return failed(partition);
        written(partition, count, is_read_told);
    }));
}

void Journal::written(PartitionId partition, std::size_t count, bool is_read_told) {
    Page& page = pages_[partition];
    const auto end =
        page.waiting.begin() + static_cast<std::ptrdiff_t>(std::min(count, page.waiting.size()));
    page.waiting.erase(page.waiting.begin(), end);
    if (is_read_told) page.read.reset();
    page.attempts = 0;
    page.is_busy = false;
    if (!page.waiting.empty()) return write(partition);
    if (page.read) return failed(partition);  // its line is on its way
    pages_.erase(partition);
    look_for_end();
}

// Again after a while.
void Journal::failed(PartitionId partition) {
    Page& page = pages_[partition];
    page.is_busy = true;
    if (++page.attempts < attempts_max) {
        loop_.run_after(again_after, lifetime_.guard([this, partition] { write(partition); }));
        return;
    }
    pages_.erase(partition);
    look_for_end();
}

void Journal::flush(Duration wait, Task done) {
    flushed_ = std::move(done);
    loop_.run_after(wait, lifetime_.guard([this] {
        pages_.clear();
        look_for_end();
    }));
    look_for_end();
}

void Journal::look_for_end() {
    if (!flushed_ || !pages_.empty()) return;
    Task done = std::exchange(flushed_, {});
    loop_.post(std::move(done));
}

}  // namespace evenkeel::processor
