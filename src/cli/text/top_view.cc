#include "cli/text/top_view.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "cli/text/listing.h"

namespace evenkeel::cli {
namespace {

using dashboard::GroupView;
using dashboard::MemberView;
using dashboard::PartitionView;

constexpr std::int64_t even_behind_ms = 5000;
constexpr std::int64_t loss_soon_s = 3600;
// The scale of the bars, by powers: it never changes, so that lengths can be compared over time.
constexpr double bar_min_ms = 50, bar_max_ms = 3'600'000;
constexpr std::size_t moves_shown = 5;
constexpr int narrow = 60, wide = 76;

// The beginning of a text that takes so many columns at most.
std::string cut_to(const std::string& text, std::size_t columns) {
    std::size_t end = 0;
    for (std::size_t taken = 0; end < text.size(); ++end) {
        const bool begins = (text[end] & 0xc0) != 0x80;
        if (begins && taken++ == columns) break;
    }
    return text.substr(0, end);
}

std::string name_of(const std::string& id, std::size_t columns_max = 32) {
    const std::string name = printable(id);
    return width(name) <= columns_max ? name : cut_to(name, columns_max - 2) + "..";
}

// "A" to "Z", then "AA"
std::string letters(std::size_t place) {
    const std::string last(1, static_cast<char>('A' + place % 26));
    return place < 26 ? last : letters(place / 26 - 1) + last;
}

// A hub that keeps an hour is always less than an hour away from loss: half of what it keeps has to
// be used up as well.
bool is_loss_soon(const GroupView& view, const PartitionView& row) {
    if (!row.loss_s) return false;
    const std::int64_t half_s = view.retention_ms.value_or(2000 * loss_soon_s) / 2000;
    return *row.loss_s < std::min(loss_soon_s, half_s);
}

bool needs_somebody(const GroupView& view, const PartitionView& row) {
    return !row.owner || row.state != "ok" || row.progress.lost > 0 || row.progress.is_beyond_end ||
           is_loss_soon(view, row);
}

std::string rate_text(std::optional<double> per_second) {
    return per_second ? rate_cell(*per_second).shown + "/s" : "-";
}

class Drawing {
public:
    Drawing(const GroupView& view, const TopPlace& place, const Terminal& terminal)
        : view_(view), place_(place), terminal_(terminal) {
        for (const MemberView& member : view.members) {
            letters_.emplace(member.id, letters(letters_.size()));
        }
    }

    std::string text() {
        wrap(top_verdict(view_, place_));
        draw_owners();
        draw_rows();
        draw_moves();
        std::string all;
        for (const auto& line : lines_) all += line + "\n";
        return all;
    }

private:
    int columns() const { return std::max(terminal_.columns, 20); }
    bool is_wide() const { return columns() >= wide; }

    // Where the terminal ends; `text` has no colour yet.
    std::string cut(const std::string& text) const {
        return cut_to(text, static_cast<std::size_t>(columns()));
    }

    void wrap(const std::string& words) {
        std::string line;
        for (std::size_t at = 0; at < words.size();) {
            const std::size_t end = std::min(words.find(' ', at), words.size());
            const std::string word = words.substr(at, end - at);
            if (!line.empty() &&
                width(line) + 1 + width(word) > static_cast<std::size_t>(columns())) {
                lines_.push_back(painted(terminal_, Paint::strong, line));
                line.clear();
            }
            line += (line.empty() ? "" : " ") + word;
            at = end + 1;
        }
        lines_.push_back(painted(terminal_, Paint::strong, cut(line)));
    }

    // Its letter in its colour: the letter always tells, the colour helps.
    std::string owner_mark(const std::string& id) const {
        static constexpr int colours[] = {36, 33, 35, 34, 32, 96, 93, 95, 94, 92};
        const auto found = letters_.find(id);
        if (found == letters_.end()) return "-";
        if (!terminal_.colour) return found->second;
        const auto place = static_cast<std::size_t>(found->second.back() - 'A');
        return fmt::format("\x1b[{}m{}\x1b[0m", colours[place % std::size(colours)], found->second);
    }

    void draw_owners() {
        std::string line;
        std::size_t used = 0;
        for (const MemberView& member : view_.members) {
            const std::string words =
                fmt::format(" {}  {}{}{}", name_of(member.id, is_wide() ? 32 : 16), member.share,
                            place_.has_rates ? "  " + rate_text(member.in_per_s) : "",
                            member.state == "active" ? "" : "  " + member.state);
            const std::size_t size = width(letters_.at(member.id)) + width(words);
            if (used > 0 && used + 3 + size > static_cast<std::size_t>(columns())) {
                lines_.push_back(std::exchange(line, ""));
                used = 0;
            }
            if (used > 0) line += "   ";
            line += owner_mark(member.id) +
                    (member.state == "silent" ? painted(terminal_, Paint::bad, words) : words);
            used += size + (used > 0 ? 3 : 0);
        }
        if (!line.empty()) lines_.push_back(line);
    }

    // Cells from the right, over what is behind; the owner's side is at the right.
    std::string bar_of(const PartitionView& row, std::size_t cells) const {
        const auto behind = row.progress.behind_ms;
        double part = 0;
        if (behind && static_cast<double>(*behind) > bar_min_ms) {
            part = std::log(static_cast<double>(*behind) / bar_min_ms) /
                   std::log(bar_max_ms / bar_min_ms);
        }
        const auto full = static_cast<std::size_t>(
            std::lround(std::clamp(part, 0.0, 1.0) * static_cast<double>(cells)));
        std::string label;
        if (row.state != "ok") {
            const char* sign = row.state == "stalled" ? "x " : row.state == "parked" ? "# " : "= ";
            label = sign + row.state;
        }
        if (!row.owner) label = "no owner";
        if (row.progress.lost > 0) label = "lost";
        if (row.progress.is_beyond_end) label = "beyond end";
        const std::size_t room = cells - std::min(full, cells);
        if (width(label) + 1 > room) label = label.substr(0, room > 0 ? room - 1 : 0);
        const std::string gap(room - width(label) - (label.empty() ? 0 : 1), ' ');
        std::string drawn;
        for (std::size_t i = 0; i < full; ++i) drawn += terminal_.utf8 ? "▇" : "#";
        if (label.empty()) return gap + drawn;
        return gap + painted(terminal_, Paint::bad, label) + " " + drawn;
    }

    std::string row_text(const PartitionView& row, std::size_t digits, std::size_t cells) const {
        const std::string behind =
            row.progress.behind_ms ? span_text(*row.progress.behind_ms) : "-";
        std::string line = fmt::format("{:>{}}  ", row.partition, digits);
        if (columns() >= narrow) {
            line += fmt::format(
                "{:>9}  ",
                rate_text(place_.has_rates ? std::optional(row.hub.in_per_s) : std::nullopt));
        }
        line += fmt::format("{:>11}  {} ", behind, bar_of(row, cells));
        line += row.owner ? owner_mark(*row.owner) : "-";
        if (row.next && letters_.contains(*row.next)) line += ">" + owner_mark(*row.next);
        if (!is_wide()) return line;
        const bool is_known = row.progress.position >= 0;
        const std::string checkpoint =
            is_known ? with_commas(static_cast<std::uint64_t>(row.progress.position)) : "-";
        return line + fmt::format("  {:>14}  {}", checkpoint,
                                  row.stored_ms ? span_text(*row.stored_ms) + " ago" : "-");
    }

    void draw_rows() {
        const std::size_t digits =
            std::max<std::size_t>(1, std::to_string(view_.partitions.size()).size());
        const int fixed = static_cast<int>(digits) + 2 + (columns() >= narrow ? 11 : 0) + 13 + 1 +
                          5 + (is_wide() ? 29 : 0);
        const auto cells = static_cast<std::size_t>(std::clamp(columns() - fixed, 6, 40));
        std::string head = fmt::format("{:>{}}  ", "P", digits);
        if (columns() >= narrow) head += fmt::format("{:>9}  ", "IN");
        head += fmt::format("{:>11}  {:<{}} {}", "BEHIND", "", cells, "OWNER");
        if (is_wide()) head += fmt::format("{:>12}  STORED", "CHECKPOINT");
        lines_.push_back(painted(terminal_, Paint::quiet, cut(head)));

        std::vector<const PartitionView*> rows;
        for (const auto& row : view_.partitions) rows.push_back(&row);
        const std::size_t room = rows_that_fit();
        std::size_t hidden = 0;
        if (rows.size() > room) {
            std::ranges::stable_sort(rows, [this](const auto* a, const auto* b) {
                return needs_somebody(view_, *a) > needs_somebody(view_, *b);
            });
            hidden = rows.size() - (room - 1);
            rows.resize(room - 1);
        }
        for (const auto* row : rows) lines_.push_back(row_text(*row, digits, cells));
        if (hidden > 0)
            lines_.push_back(fmt::format("... {} not shown", plural(hidden, "partition")));
    }

    // Between what is above and the moves; all of them where nothing is drawn in place.
    std::size_t rows_that_fit() const {
        if (!terminal_.is_terminal) return view_.partitions.size();
        const auto moves = static_cast<int>(std::min(moves_shown, view_.moves.size()));
        const int others = static_cast<int>(lines_.size()) + 1 + moves;
        return static_cast<std::size_t>(std::max(terminal_.rows - others, 2));
    }

    void draw_moves() {
        for (std::size_t i = 0; i < std::min(moves_shown, view_.moves.size()); ++i) {
            const auto& move = view_.moves[i];
            const auto mark = [&](const std::string& id) {
                if (id.empty()) return std::string("-");
                const auto found = letters_.find(id);
                return found == letters_.end() ? name_of(id, 12) : found->second;
            };
            const std::string line =
                fmt::format("{}  {}  {} {} {}  {}", to_string(WallTime{move.at_ms}).substr(11, 8),
                            move.partition.value, mark(move.from), terminal_.utf8 ? "→" : ">",
                            mark(move.to), printable(move.reason));
            lines_.push_back(painted(terminal_, Paint::quiet, cut(line)));
        }
    }

    const GroupView& view_;
    const TopPlace& place_;
    const Terminal& terminal_;
    std::map<std::string, std::string> letters_;
    std::vector<std::string> lines_;
};

std::string list_of(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
    }
    return text;
}

// What somebody should look at; empty if there is nothing.
std::string needs_text(const GroupView& view) {
    constexpr std::size_t named_max = 4;
    std::vector<std::string> words;
    std::size_t count = 0;
    for (const PartitionView& row : view.partitions) {
        std::string why;
        if (row.progress.is_beyond_end) {
            why = "stands still behind the last event";
        } else if (row.progress.lost > 0) {
            why = "lost " + plural(static_cast<std::uint64_t>(row.progress.lost), "event");
        } else if (is_loss_soon(view, row)) {
            why = "loses events in " + span_text(*row.loss_s * 1000);
        } else if (row.state == "stalled" || row.state == "parked") {
            why = "is " + row.state;
        }
        if (why.empty()) continue;
        if (++count <= named_max) words.push_back(fmt::format("{} {}", row.partition, why));
    }
    if (count == 0) return {};
    if (count > named_max) words.push_back(fmt::format("{} more", count - named_max));
    return fmt::format("{} {} you: {}.", plural(count, "partition"), count == 1 ? "needs" : "need",
                       list_of(words));
}

}  // namespace

std::string span_text(std::int64_t milliseconds) {
    const std::int64_t ms = std::max<std::int64_t>(0, milliseconds), seconds = ms / 1000;
    if (seconds < 10) return fmt::format("{}.{} s", seconds, ms / 100 % 10);
    if (seconds < 60) return fmt::format("{} s", seconds);
    const auto two = [](std::int64_t large, const char* unit, std::int64_t small,
                        const char* small_unit) {
        return small == 0 ? fmt::format("{} {}", large, unit)
                          : fmt::format("{} {} {} {}", large, unit, small, small_unit);
    };
    if (seconds < 3600) return two(seconds / 60, "min", seconds % 60, "s");
    if (seconds < 86'400) return two(seconds / 3600, "h", seconds / 60 % 60, "min");
    return two(seconds / 86'400, "d", seconds / 3600 % 24, "h");
}

std::string top_verdict(const GroupView& view, const TopPlace& place) {
    std::vector<std::string> silent;
    for (const MemberView& member : view.members) {
        if (member.state != "silent") continue;
        const bool counts = member.dead_after_ms.has_value();
        const std::int64_t left = counts ? *member.dead_after_ms - member.silent_ms : 0;
        silent.push_back(
            fmt::format("{} is silent for {}. {}", name_of(member.id), span_text(member.silent_ms),
                        !counts    ? fmt::format("It has {}.", plural(member.share, "partition"))
                        : left > 0 ? fmt::format("Take-over in {}.", span_text(left))
                                   : "Take-over is due now."));
    }
    if (silent.size() == 1) return silent.front();
    if (!silent.empty()) return fmt::format("{} owners are silent.", silent.size());
    if (view.members.empty()) {
        return fmt::format("Nobody reads {} / {}.", name_of(place.event_hub), name_of(place.group));
    }
    if (std::string needs = needs_text(view); !needs.empty()) return needs;
    std::size_t free = 0, moving = 0, paused = 0;
    for (const PartitionView& row : view.partitions) {
        if (row.state == "paused") {
            ++paused;
        } else if (row.next && row.phase != "owned") {
            ++moving;
        } else if (!row.owner) {
            ++free;
        }
    }
    const auto has = [](std::size_t count) { return count == 1 ? "has" : "have"; };
    if (free > 0) return fmt::format("{} {} no owner.", plural(free, "partition"), has(free));
    if (moving > 0) {
        return fmt::format("{} {} handed over.", plural(moving, "partition"),
                           moving == 1 ? "is" : "are");
    }
    if (paused > 0) {
        return fmt::format("{} {} paused.", plural(paused, "partition"),
                           paused == 1 ? "is" : "are");
    }
    const auto [least, most] =
        std::ranges::minmax(view.members, {}, [](const auto& member) { return member.share; });
    const auto behind = view.behind_ms();
    const std::string shared = fmt::format("{} {} {}.", plural(view.members.size(), "owner"),
                                           view.members.size() == 1 ? "has" : "share",
                                           plural(view.partitions.size(), "partition"));
    if (most.share - least.share <= 1 && behind.value_or(0) <= even_behind_ms) {
        return "On an even keel. " + shared +
               (behind ? fmt::format(" Nobody is more than {} behind.", span_text(*behind)) : "");
    }
    return shared + (behind ? fmt::format(" The furthest is {} behind.", span_text(*behind)) : "");
}

std::string top_text(const GroupView& view, const TopPlace& place, const Terminal& terminal) {
    return Drawing(view, place, terminal).text();
}

}  // namespace evenkeel::cli
