#include "dashboard/event_browser.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "base/number.h"
#include "base/text.h"
#include "base/time_point.h"
#include "base/time_text.h"
#include "dashboard/event_peek.h"

namespace evenkeel::dashboard {
namespace {

struct Found {
    std::int64_t enqueued_ms = 0;
    std::uint32_t partition = 0;
    std::int64_t sequence = 0;
    std::string json = {};
    auto order() const { return std::tuple(enqueued_ms, partition, sequence); }
};

// One partition's part of the page.
struct Part {
    std::uint32_t partition = 0;
    Position from = {};
    std::int64_t next = 0;     // forwards: behind what was looked at; backwards: where it began
    std::int64_t stop = 0;     // backwards: looks at events before it
    bool is_complete = false;  // there is nothing more in this direction
};

class Browse : public std::enable_shared_from_this<Browse> {
public:
    Browse(const BrowsePlace& place, BrowseQuery query, Callback<void(Result<std::string>)> done)
        : place_(place), query_(std::move(query)), done_(std::move(done)) {
        is_backwards_ = query_.cursor ? query_.cursor->is_backwards
                                      : query_.start.kind == BrowseStart::Kind::newest;
    }

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
                problems_.push_back(fmt::format("partition {}: {}", p, log.error().detail));
                continue;
            }
            if (auto part = plan(p, (*log)->properties(), wanted.size())) parts_.push_back(*part);
        }
        looked_at_max_ = std::max<std::int64_t>(
            100, BrowseQuery::looked_at_max / std::max<std::int64_t>(1, std::ssize(parts_)));
        next_part(0);
    }

private:
    std::optional<Part> plan(std::uint32_t p, const commitlog::LogProperties& properties,
                             std::size_t partitions) const {
        Part part{.partition = p};
        std::optional<std::int64_t> place;
        if (query_.cursor) {
            const auto found = query_.cursor->places.find(p);
            if (found == query_.cursor->places.end()) return std::nullopt;
            place = found->second;
        }
        // -1 while there was never an event.
        const std::int64_t begin = std::max<std::int64_t>(0, properties.begin_sequence.value);
        const std::int64_t end = properties.last_sequence.value + 1;
        if (is_backwards_) {
            part.stop = std::clamp(place.value_or(end), begin, end);
            const auto limit = static_cast<std::int64_t>(query_.limit);
            const std::int64_t window =
                query_.match
                    ? std::max<std::int64_t>(
                          limit, BrowseQuery::looked_at_max / static_cast<std::int64_t>(partitions))
                    : limit;
            part.next = std::max(begin, part.stop - window);
            part.is_complete = part.next == begin;
            part.from = Position::at_sequence(part.next);
            if (properties.is_empty || part.next == part.stop) part.from = Position::latest();
            return part;
        }
        part.next = place.value_or(begin);
        part.from = place ? Position::at_sequence(std::max(*place, begin)) : start_position();
        if (properties.is_empty || (place && *place >= end)) {
            part.from = Position::latest();
            part.next = std::max(part.next, end);
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

    void next_part(std::size_t index) {
        if (index == parts_.size()) return answer();
        Part& part = parts_[index];
        looked_at_here_ = 0;
        matched_here_.clear();
        // It may have been removed meanwhile.
        const auto hub = place_.hubs.find(place_.hub);
        const auto partition = hub.ok() ? (*hub)->partition({part.partition}) : hub.error();
        if (!partition.ok()) return ended(index, partition.error());
        EventPeek::start(
            place_.loop, place_.reads, **partition, part.from,
            [this, &part](const Event& event) { return visit(part, event); },
            [self = shared_from_this(), index](Result<EventPeek::Ended> ended) {
                self->ended(index, std::move(ended));
            });
    }

    // False when the partition has given its share.
    bool visit(Part& part, const Event& event) {
        if (is_backwards_ && event.sequence_number >= part.stop) return false;
        ++looked_at_;
        ++looked_at_here_;
        if (!is_backwards_) part.next = event.sequence_number + 1;
        if (!query_.match || query_.match(part.partition, event)) {
            JsonWriter json;
            json.object([&] { write_event(json, part.partition, event, query_.length); });
            matched_here_.push_back({wall_time(event.enqueued_time).milliseconds, part.partition,
                                     event.sequence_number, json.take()});
            if (is_backwards_ && matched_here_.size() > query_.limit) {
                matched_here_.erase(matched_here_.begin());
            }
        }
        if (is_backwards_) return event.sequence_number + 1 < part.stop;
        return matched_here_.size() < query_.limit && looked_at_here_ < looked_at_max_;
    }

    void ended(std::size_t index, Result<EventPeek::Ended> ended) {
        Part& part = parts_[index];
        if (!ended.ok()) {
            problems_.push_back(
                fmt::format("partition {}: {}", part.partition, ended.error().detail));
        } else {
            for (auto& problem : ended->problems) problems_.push_back(std::move(problem));
            if (!is_backwards_) part.is_complete = ended->at_end;
        }
        std::ranges::move(matched_here_, std::back_inserter(found_));
        next_part(index + 1);
    }

    void answer() {
        std::ranges::sort(found_, [this](const Found& a, const Found& b) {
            return is_backwards_ ? a.order() > b.order() : a.order() < b.order();
        });
        bool is_more = false;
        if (found_.size() > query_.limit) {
            is_more = true;
            give_back();
        }
        BrowseCursor cursor{is_backwards_, {}};
        for (const Part& part : parts_) {
            cursor.places[part.partition] = part.next;
            is_more = is_more || !part.is_complete;
        }
        JsonWriter json;
        json.object([&] {
            json.key("events").array([&] {
                for (const Found& found : found_) json.raw(found.json);
            });
            json.member("looked_at", looked_at_).member("matched", found_.size());
            json.member("cursor", is_more ? std::optional(to_text(cursor)) : std::nullopt);
            json.key("problems").array([&] {
                for (const auto& problem : problems_) json.value(problem);
            });
        });
        done_(json.take());
    }

    // What does not fit the page is looked at again by the next one.
    void give_back() {
        for (std::size_t i = found_.size(); i-- > query_.limit;) {
            const Found& found = found_[i];
            for (Part& part : parts_) {
                if (part.partition != found.partition) continue;
                part.next = is_backwards_ ? std::max(part.next, found.sequence + 1)
                                          : std::min(part.next, found.sequence);
            }
        }
        found_.resize(query_.limit);
    }

    const BrowsePlace place_;
    BrowseQuery query_;
    Callback<void(Result<std::string>)> done_;
    bool is_backwards_ = false;
    std::vector<Part> parts_;
    std::vector<Found> found_;
    std::vector<Found> matched_here_;
    std::int64_t looked_at_ = 0;
    std::int64_t looked_at_here_ = 0;
    std::int64_t looked_at_max_ = 0;  // of one partition
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

std::string to_text(const BrowseCursor& cursor) {
    std::string text = cursor.is_backwards ? "b:" : "f:";
    for (const auto& [partition, place] : cursor.places) {
        if (text.size() > 2) text += ',';
        text += fmt::format("{}.{}", partition, place);
    }
    return text;
}

Result<BrowseCursor> parse_browse_cursor(std::string_view text) {
    const Error bad{ErrorCode::invalid_argument, "cursor is none that this interface gave out"};
    if (!text.starts_with("b:") && !text.starts_with("f:")) return bad;
    BrowseCursor cursor{text.front() == 'b', {}};
    text.remove_prefix(2);
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        const std::size_t dot = std::min(word.find('.'), word.size());
        const auto partition = parse_number<std::uint32_t>(word.substr(0, dot));
        const auto place = parse_number<std::int64_t>(word.substr(std::min(dot + 1, word.size())));
        if (!partition || !place || *place < 0) return bad;
        cursor.places[*partition] = *place;
    }
    return cursor;
}

void browse(const BrowsePlace& place, BrowseQuery query, Callback<void(Result<std::string>)> done) {
    std::make_shared<Browse>(place, std::move(query), std::move(done))->run();
}

void show_event(const BrowsePlace& place, PartitionId partition, SequenceNumber sequence,
                Callback<void(Result<std::string>)> done) {
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
