#include "dashboard/event_browser.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "base/number.h"
#include "base/text.h"
#include "base/time_point.h"
#include "base/time_text.h"
#include "dashboard/browse_page.h"
#include "dashboard/event_peek.h"

namespace evenkeel::dashboard {
namespace {

// One partition's part of the page.
struct Part {
    std::uint32_t partition = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;  // behind the last event
    Position from = {};    // forwards: where it starts
    // Forwards: behind what was looked at. Backwards: what comes before it is left.
    std::int64_t next = 0;
    bool is_complete = false;  // forwards: there is nothing more
    // Backwards it is looked at window by window, each before the last one.
    std::int64_t window_begin = 0;
    std::int64_t window_end = 0;
    std::int64_t window = 0;  // events; 0 before the first
    // So far.
    std::int64_t looked_at = 0;
    std::size_t looked_at_bytes = 0;
    std::size_t matched = 0;
    std::size_t matched_bytes = 0;
};

class Browse : public std::enable_shared_from_this<Browse> {
public:
    Browse(const BrowsePlace& place, BrowseQuery query, Callback<void(Result<std::string>)> done)
        : place_(place),
          query_(std::move(query)),
          done_(std::move(done)),
          is_backwards_(query_.cursor ? query_.cursor->is_backwards
                                      : query_.start.kind == BrowseStart::Kind::newest),
          page_({.is_backwards = is_backwards_,
                 .events_max = query_.limit,
                 .bytes_max = BrowseQuery::page_bytes_max}) {}

    void run() {
        const auto found = place_.hubs.find(place_.hub);
        if (!found.ok()) return done_(found.error());
        hub::EventHub& hub = **found;
        std::vector<std::uint32_t> wanted = query_.partitions;
        for (std::uint32_t p = 0; query_.partitions.empty() && p < hub.partition_count(); ++p) {
            wanted.push_back(p);
        }
        for (const std::uint32_t p : wanted) {
            const auto partition = hub.partition({p});
            if (!partition.ok()) return done_(partition.error());
            const auto log = (*partition)->log();
            if (!log.ok()) {
                note_problem(fmt::format("partition {}: {}", p, log.error().detail));
                continue;
            }
            if (auto part = plan(p, (*log)->properties())) parts_.push_back(*part);
        }
        share_limits();
        look(0);
    }

private:
    std::optional<Part> plan(std::uint32_t p, const commitlog::LogProperties& properties) const {
        Part part{.partition = p};
        std::optional<std::int64_t> place;
        if (query_.cursor) {
            const auto found = query_.cursor->places.find(p);
            if (found == query_.cursor->places.end()) return std::nullopt;
            place = found->second;
        }
        // -1 while there was never an event.
        part.begin = std::max<std::int64_t>(0, properties.begin_sequence.value);
        part.end = properties.last_sequence.value + 1;
        if (is_backwards_) {
            if (const auto since = query_.since.find(p); since != query_.since.end()) {
                part.begin = std::max(part.begin, since->second);
            }
            part.next = std::clamp(place.value_or(part.end), std::min(part.begin, part.end),
                                   std::max(part.begin, part.end));
            if (properties.is_empty) part.next = part.begin;
            return part;
        }
        part.next = place.value_or(part.begin);
        part.from = place ? Position::at_sequence(std::max(*place, part.begin)) : start_position();
        if (properties.is_empty || (place && *place >= part.end)) {
            part.from = Position::latest();
            part.next = std::max(part.next, part.end);
        }
        return part;
    }

    Position start_position() const {
        const std::int64_t value = query_.start.value;
        switch (query_.start.kind) {
            case BrowseStart::Kind::time: return Position::at_time(time_point({value}));
            case BrowseStart::Kind::sequence: return Position::at_sequence(value);
            case BrowseStart::Kind::offset: return Position::at_offset(value);
            case BrowseStart::Kind::newest:
            case BrowseStart::Kind::oldest: break;
        }
        return Position::earliest();
    }

    // Without a filter, what matches is what was looked at, and has limits of its own.
    void share_limits() {
        const std::size_t shares = std::max<std::size_t>(1, parts_.size());
        looked_at_max_ = query_.match
                             ? std::max<std::int64_t>(100, BrowseQuery::looked_at_max /
                                                               static_cast<std::int64_t>(shares))
                             : static_cast<std::int64_t>(query_.limit);
        looked_at_bytes_max_ = query_.match ? BrowseQuery::looked_at_bytes_max / shares
                                            : std::numeric_limits<std::size_t>::max();
    }

    // Whether the partition may be looked at further for this page.
    bool has_room(const Part& part) const {
        return part.looked_at < looked_at_max_ && part.looked_at_bytes < looked_at_bytes_max_ &&
               part.matched < query_.limit && part.matched_bytes < BrowseQuery::page_bytes_max;
    }

    // Small at first, since events may be large; sets `next` to its begin.
    void next_window(Part& part) const {
        part.window = part.window == 0 ? window_first : std::min(part.window * 2, window_max);
        std::int64_t size = std::min(part.window, looked_at_max_ - part.looked_at);
        if (part.looked_at > 0) {
            const auto seen = static_cast<std::size_t>(part.looked_at);
            const std::size_t mean = std::max<std::size_t>(1, part.looked_at_bytes / seen);
            const std::size_t left = (looked_at_bytes_max_ - part.looked_at_bytes) / mean;
            if (std::cmp_less(left, size)) size = static_cast<std::int64_t>(left);
        }
        part.window_end = part.next;
        part.window_begin = std::max(part.begin, part.window_end - std::max<std::int64_t>(1, size));
        part.next = part.window_begin;
    }

    // A turn of the loop for each partition, and for each window of one: others come in between.
    void look_later(std::size_t index) {
        place_.loop.post([self = shared_from_this(), index] { self->look(index); });
    }

    void look(std::size_t index) {
        while (is_backwards_ && index < parts_.size() &&
               parts_[index].next <= parts_[index].begin) {
            ++index;
        }
        if (index == parts_.size()) return answer();
        Part& part = parts_[index];
        found_.clear();
        found_bytes_ = 0;
        // It may have been removed meanwhile.
        const auto hub = place_.hubs.find(place_.hub);
        const auto partition = hub.ok() ? (*hub)->partition({part.partition}) : hub.error();
        if (!partition.ok()) return ended(index, part.looked_at, partition.error());
        if (is_backwards_) {
            next_window(part);
            part.from = Position::at_sequence(part.window_begin);
        }
        EventPeek::start(
            place_.loop, place_.reads, **partition, part.from,
            [this, &part](const Event& event) {
                return is_backwards_ ? visit_backwards(part, event) : visit(part, event);
            },
            [self = shared_from_this(), index, before = part.looked_at](
                Result<EventPeek::Ended> ended) { self->ended(index, before, std::move(ended)); });
    }

    // Both: false when the partition has given its share.
    bool visit(Part& part, const Event& event) {
        part.next = event.sequence_number;
        if (!page_.may_take(place_of(part, event))) return false;
        ++part.next;
        match(part, event);
        return has_room(part);
    }
    bool visit_backwards(Part& part, const Event& event) {
        if (event.sequence_number >= part.window_end) return false;
        if (page_.may_take(place_of(part, event))) {
            match(part, event);
            while (found_.size() > query_.limit ||
                   (found_.size() > 1 && found_bytes_ > BrowseQuery::page_bytes_max)) {
                part.next = std::max(part.next, found_.front().place.sequence + 1);
                found_bytes_ -= found_.front().json.size();
                found_.pop_front();
            }
        } else {
            part.next = std::max(part.next, event.sequence_number + 1);
        }
        return event.sequence_number + 1 < part.window_end;
    }

    static BrowsePlaceInTime place_of(const Part& part, const Event& event) {
        return {wall_time(event.enqueued_time).milliseconds, part.partition, event.sequence_number};
    }

    void match(Part& part, const Event& event) {
        ++looked_at_;
        ++part.looked_at;
        part.looked_at_bytes += event.sections.size();
        if (query_.match && !query_.match(part.partition, event)) return;
        JsonWriter json;
        json.object([&] { write_event(json, part.partition, event, query_.length); });
        found_.push_back({place_of(part, event), json.take()});
        found_bytes_ += found_.back().json.size();
        ++part.matched;
        part.matched_bytes += found_.back().json.size();
    }

    void ended(std::size_t index, std::int64_t looked_at_before, Result<EventPeek::Ended> ended) {
        Part& part = parts_[index];
        if (!ended.ok()) {
            note_problem(fmt::format("partition {}: {}", part.partition, ended.error().detail));
        } else {
            for (auto& problem : ended->problems) note_problem(std::move(problem));
            if (!is_backwards_ && ended->at_end) {
                part.is_complete = true;
                // There was nothing at or behind the start.
                if (part.looked_at == 0) part.next = std::max(part.next, part.end);
            }
        }
        // Nothing is there, or it is damaged: the page goes on before it, as far as its share.
        if (is_backwards_ && ended.ok() && part.looked_at == looked_at_before &&
            part.next == part.window_begin) {
            part.looked_at += part.window_end - part.window_begin;
        }
        give_back(page_.take(
            {std::make_move_iterator(found_.begin()), std::make_move_iterator(found_.end())}));
        const bool goes_on = is_backwards_ && ended.ok() && part.next == part.window_begin &&
                             part.looked_at > looked_at_before && has_room(part);
        look_later(goes_on ? index : index + 1);
    }

    // The next page looks at them again.
    void give_back(const std::vector<BrowsedEvent>& events) {
        for (const BrowsedEvent& event : events) {
            const auto part = std::ranges::find(parts_, event.place.partition, &Part::partition);
            part->next = is_backwards_ ? std::max(part->next, event.place.sequence + 1)
                                       : std::min(part->next, event.place.sequence);
        }
    }

    void note_problem(std::string problem) {
        const bool is_new = std::ranges::find(problems_, problem) == problems_.end();
        if (is_new) problems_.push_back(std::move(problem));
    }

    void answer() {
        bool is_more = page_.is_full();
        BrowseCursor cursor{is_backwards_, {}};
        BrowsePlaces until;
        for (const Part& part : parts_) {
            until[part.partition] = part.end;
            cursor.places[part.partition] = part.next;
            is_more = is_more || !(is_backwards_ ? part.next <= part.begin : part.is_complete);
        }
        JsonWriter json;
        json.object([&] {
            json.key("events").array([&] {
                for (const BrowsedEvent& event : page_.events()) json.raw(event.json);
            });
            json.member("looked_at", looked_at_).member("matched", page_.events().size());
            json.member("cursor", is_more ? std::optional(to_text(cursor)) : std::nullopt);
            json.member("until", to_text(until));
            json.key("problems").array([&] {
                for (const auto& problem : problems_) json.value(problem);
            });
        });
        done_(json.take());
    }

    static constexpr std::int64_t window_first = 64;
    static constexpr std::int64_t window_max = 4096;

    const BrowsePlace place_;
    const BrowseQuery query_;
    Callback<void(Result<std::string>)> done_;
    const bool is_backwards_;
    BrowsePage page_;
    std::vector<Part> parts_;
    std::deque<BrowsedEvent> found_;  // of the partition, or window, that is looked at
    std::size_t found_bytes_ = 0;
    std::int64_t looked_at_ = 0;
    std::int64_t looked_at_max_ = 0;       // of one partition
    std::size_t looked_at_bytes_max_ = 0;  // of one partition
    std::vector<std::string> problems_;
};

Error no_position(std::string_view text) {
    return {ErrorCode::invalid_argument,
            fmt::format("'{}' is no position; use newest, oldest, time:2026-03-09T10:00:00Z, "
                        "seq:N or offset:N",
                        shown(text))};
}

}  // namespace

Result<BrowseStart> parse_browse_start(std::string_view text) {
    using Kind = BrowseStart::Kind;
    if (text.empty() || text == "newest") return BrowseStart{};
    if (text == "oldest") return BrowseStart{Kind::oldest, 0};
    const std::string_view word = text.substr(0, text.find(':'));
    const std::string_view rest = text.substr(std::min(text.size(), word.size() + 1));
    if (word == "time") {
        const auto time = parse_wall_time(rest);
        if (!time) return no_position(text);
        return BrowseStart{Kind::time, time->milliseconds};
    }
    const auto number = parse_number<std::int64_t>(rest);
    if (!number || *number < 0) return no_position(text);
    if (word == "seq") return BrowseStart{Kind::sequence, *number};
    if (word == "offset") return BrowseStart{Kind::offset, *number};
    return no_position(text);
}

std::string to_text(const BrowsePlaces& places) {
    std::string text;
    for (const auto& [partition, place] : places) {
        if (!text.empty()) text += ',';
        text += fmt::format("{}.{}", partition, place);
    }
    return text;
}

Result<BrowsePlaces> parse_browse_places(std::string_view text) {
    BrowsePlaces places;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        const std::size_t dot = std::min(word.find('.'), word.size());
        const auto partition = parse_number<std::uint32_t>(word.substr(0, dot));
        const auto place = parse_number<std::int64_t>(word.substr(std::min(dot + 1, word.size())));
        if (!partition || !place || *place < 0) {
            return Error{ErrorCode::invalid_argument,
                         "places of partitions are written as 0.12,3.99"};
        }
        places[*partition] = *place;
    }
    return places;
}

std::string to_text(const BrowseCursor& cursor) {
    return (cursor.is_backwards ? "b:" : "f:") + to_text(cursor.places);
}

Result<BrowseCursor> parse_browse_cursor(std::string_view text) {
    const Error bad{ErrorCode::invalid_argument, "cursor is none that this interface gave out"};
    if (!text.starts_with("b:") && !text.starts_with("f:")) return bad;
    auto places = parse_browse_places(text.substr(2));
    if (!places.ok()) return bad;
    return BrowseCursor{text.front() == 'b', std::move(*places)};
}

void browse(const BrowsePlace& place, BrowseQuery query, Callback<void(Result<std::string>)> done) {
    place.loop.check_here();
    std::make_shared<Browse>(place, std::move(query), std::move(done))->run();
}

void show_event(const BrowsePlace& place, PartitionId partition, SequenceNumber sequence,
                Callback<void(Result<std::string>)> done) {
    place.loop.check_here();
    const auto hub = place.hubs.find(place.hub);
    const auto found = hub.ok() ? (*hub)->partition(partition) : hub.error();
    if (!found.ok()) return done(found.error());
    auto json = std::make_shared<std::string>();
    const Error missing{ErrorCode::not_found, fmt::format("partition {} has no event {} (any more)",
                                                          partition.value, sequence.value)};
    EventPeek::start(
        place.loop, place.reads, **found, Position::at_sequence(sequence.value),
        [json, partition, sequence](const Event& event) {
            if (event.sequence_number != sequence.value) return false;
            JsonWriter writer;
            writer.object([&] {
                write_event(writer, partition.value, event, BodyLength::whole);
                write_sections(writer, event);
            });
            *json = writer.take();
            return false;
        },
        [json, missing, done = std::move(done)](Result<EventPeek::Ended> ended) mutable {
            if (!ended.ok()) return done(ended.error());
            if (json->empty()) return done(missing);
            done(std::move(*json));
        });
}

}  // namespace evenkeel::dashboard
