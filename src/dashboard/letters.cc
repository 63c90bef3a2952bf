#include "dashboard/letters.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "checkpoint/dead_letter.h"
#include "dashboard/event_json.h"
#include "dashboard/group_json.h"

namespace evenkeel::dashboard {
namespace {

using checkpoint::DeadLetter;
using checkpoint::DeadLetterId;
using checkpoint::Store;

constexpr std::size_t piece = 50;  // letters that are read together
constexpr std::size_t cause_bytes_max = 200;
constexpr std::size_t id_digits_min = 8;

void write_letter(JsonWriter& json, const DeadLetter& letter) {
    json.member("p", letter.partition.value).member("seq", letter.sequence.value);
    write_time(json, "enqueued_at", letter.enqueued_ms);
    write_time(json, "at", letter.at_ms);
    json.member("partition_key",
                letter.partition_key.empty() ? std::nullopt : std::optional(letter.partition_key));
    json.member("cause", letter.cause).member("attempts", letter.attempts);
    json.member("bytes", letter.sections.size());
}

struct Cause {
    std::uint64_t count = 0;
    std::int64_t first_ms = 0;
    std::int64_t last_ms = 0;
};

class LetterList : public std::enable_shared_from_this<LetterList> {
public:
    LetterList(Store& store, LetterQuery query, Store::Answer<std::string> done)
        : store_(store), query_(std::move(query)), done_(std::move(done)) {}

    void run() {
        store_.count_dead_letters([self = shared_from_this()](
                                      const Result<std::map<PartitionId, std::uint64_t>>& counts) {
            if (!counts.ok()) return self->done_(counts.error());
            for (const auto& [partition, count] : *counts) self->total_ += count;
            self->read_on(self->query_.after);
        });
    }

private:
    void read_on(std::optional<DeadLetterId> after) {
        store_.list_dead_letters(
            {.count_max = piece, .after = after},
            [self = shared_from_this()](const Result<std::vector<DeadLetter>>& letters) {
                if (!letters.ok()) return self->done_(letters.error());
                for (const DeadLetter& letter : *letters) self->take(letter);
                const bool is_end = letters->size() < piece;
                const bool is_enough = self->looked_at_ >= LetterQuery::looked_at_max ||
                                       (self->query_.after && self->is_more_);
                if (is_end || is_enough) {
                    // Of a cause there may be more behind what was looked at.
                    if (!is_end && !self->is_more_) self->go_on_after(id_of(letters->back()));
                    return self->answer();
                }
                self->read_on(id_of(letters->back()));
            });
    }

    void take(const DeadLetter& letter) {
        ++looked_at_;
        const std::string group = cause_group(letter.cause);
        if (!query_.after) {
            Cause& cause = causes_[group];
            if (cause.count++ == 0 || letter.at_ms < cause.first_ms) cause.first_ms = letter.at_ms;
            cause.last_ms = std::max(cause.last_ms, letter.at_ms);
        }
        if (!query_.cause.empty() && query_.cause != group) return;
        if (listed_.size() == query_.limit) {
            is_more_ = true;
            return;
        }
        JsonWriter json;
        json.object([&] { write_letter(json, letter); });
        listed_.push_back(json.take());
        last_ = id_of(letter);
    }

    void go_on_after(const DeadLetterId& id) {
        is_more_ = true;
        last_ = id;
    }

    void answer() {
        std::vector<std::pair<std::string, Cause>> causes(causes_.begin(), causes_.end());
        std::ranges::stable_sort(
            causes, [](const auto& a, const auto& b) { return a.second.count > b.second.count; });
        JsonWriter json;
        json.object([&] {
            json.member("total", total_);
            json.key("causes").array([&] {
                for (const auto& each : causes) {
                    json.object([&] {
                        json.member("cause", each.first).member("count", each.second.count);
                        write_time(json, "first_at", each.second.first_ms);
                        write_time(json, "last_at", each.second.last_ms);
                    });
                }
            });
            json.key("dead_letters").array([&] {
                for (const auto& letter : listed_) json.raw(letter);
            });
            json.member("next", is_more_ ? std::optional(to_string(last_)) : std::nullopt);
        });
        done_(json.take());
    }

    Store& store_;
    const LetterQuery query_;
    Store::Answer<std::string> done_;
    std::uint64_t total_ = 0;
    std::size_t looked_at_ = 0;
    std::map<std::string, Cause> causes_;
    std::vector<std::string> listed_;  // as JSON
    DeadLetterId last_{};
    bool is_more_ = false;
};

}  // namespace

std::string cause_group(std::string_view cause) {
    std::string group;
    for (std::size_t i = 0; i < cause.size() && group.size() < cause_bytes_max;) {
        std::size_t end = i;
        bool has_digit = false;
        while (end < cause.size() &&
               (std::isxdigit(static_cast<unsigned char>(cause[end])) || cause[end] == '-')) {
            has_digit = has_digit || std::isdigit(static_cast<unsigned char>(cause[end]));
            ++end;
        }
        if (has_digit && end - i >= id_digits_min) {
            group += '#';
            i = end;
        } else if (std::isdigit(static_cast<unsigned char>(cause[i]))) {
            group += '#';
            while (i < cause.size() && std::isdigit(static_cast<unsigned char>(cause[i]))) ++i;
        } else {
            group += cause[i++];
        }
    }
    return printable(group);
}

void list_letters(Store& store, LetterQuery query, Store::Answer<std::string> done) {
    std::make_shared<LetterList>(store, std::move(query), std::move(done))->run();
}

void find_letter(Store& store, const DeadLetterId& id, Store::Answer<DeadLetter> done) {
    std::optional<DeadLetterId> before;
    if (id.sequence.value > 0) {
        before = {id.partition, {id.sequence.value - 1}};
    } else if (id.partition.value > 0) {
        before = {{id.partition.value - 1}, {std::numeric_limits<std::int64_t>::max()}};
    }
    store.list_dead_letters(
        {.count_max = 1, .after = before},
        [id, done = std::move(done)](Result<std::vector<DeadLetter>> letters) mutable {
            if (!letters.ok()) return done(letters.error());
            if (letters->empty() || id_of(letters->front()) != id) {
                return done(Error{ErrorCode::not_found,
                                  fmt::format("there is no dead letter {}", to_string(id))});
            }
            done(std::move(letters->front()));
        });
}

std::string letter_json(const DeadLetter& letter) {
    const Event event = event_of(letter);
    JsonWriter json;
    json.object([&] {
        write_event(json, letter.partition.value, event, BodyLength::whole);
        write_time(json, "at", letter.at_ms);
        json.member("cause", letter.cause).member("attempts", letter.attempts);
        write_sections(json, event);
    });
    return json.take();
}

}  // namespace evenkeel::dashboard
