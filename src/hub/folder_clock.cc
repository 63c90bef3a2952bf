#include "hub/folder_clock.h"

#include <algorithm>

#include <boost/json.hpp>

#include "base/format_version.h"
#include "base/log.h"

namespace evenkeel::hub {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

constexpr std::uint64_t clock_bytes_max = 64 << 10;
constexpr std::size_t gaps_max = 16;
// Far beyond any time that comes, and far from where sums overflow.
constexpr std::int64_t milliseconds_max = std::int64_t{1} << 53;

Error damaged_clock(std::string_view why) {
    return {ErrorCode::corrupt, "not a good clock file: " + std::string(why)};
}

bool take(const json::object& object, std::string_view key, std::int64_t limit, std::int64_t& to) {
    const json::value* const value = object.if_contains({key.data(), key.size()});
    if (!value || !value->is_int64()) return false;
    to = value->get_int64();
    return to >= 0 && to <= limit;
}

// The oldest two become one that keeps events no shorter than both.
void bound(std::vector<commitlog::ClockGap>& gaps) {
    while (gaps.size() > gaps_max) {
        gaps[1].until = std::max(gaps[0].until, gaps[1].until);
        gaps[1].lag += gaps[0].lag;
        gaps.erase(gaps.begin());
    }
}

// The clock went back: that much of the gaps was an error, the latest one first.
void take_back(std::vector<commitlog::ClockGap>& gaps, milliseconds step) {
    while (!gaps.empty() && step.count() > 0) {
        const milliseconds part = std::min(gaps.back().lag, step);
        gaps.back().lag -= part;
        step -= part;
        if (gaps.back().lag.count() == 0) gaps.pop_back();
    }
}

}  // namespace

std::string encode(const ClockRecord& record) {
    json::array gaps;
    for (const auto& gap : record.gaps) {
        gaps.push_back(
            json::object{{"until_ms", gap.until.milliseconds}, {"lag_ms", gap.lag.count()}});
    }
    return format::framed("clock", format::clock,
                          json::serialize(json::object{{"time_ms", record.time.milliseconds},
                                                       {"boot", record.boot},
                                                       {"steady_ns", record.steady.nanoseconds},
                                                       {"gaps", std::move(gaps)}}));
}

Result<ClockRecord> decode_clock(std::string_view text) {
    EK_TRY_ASSIGN(const std::string_view body,
                  format::unframed(text, "clock", format::clock, "clock file"));
    boost::system::error_code error;
    const json::value value = json::parse({body.data(), body.size()}, error);
    if (error || !value.is_object()) return damaged_clock("it is not a JSON object");
    const json::object& object = value.get_object();
    ClockRecord record;
    const json::value* const boot = object.if_contains("boot");
    const json::value* const gaps = object.if_contains("gaps");
    if (!take(object, "time_ms", milliseconds_max, record.time.milliseconds) ||
        !take(object, "steady_ns", std::numeric_limits<std::int64_t>::max(),
              record.steady.nanoseconds) ||
        !boot || !boot->is_string() || !gaps || !gaps->is_array()) {
        return damaged_clock("it lacks a field");
    }
    record.boot = std::string(boot->get_string());
    for (const auto& entry : gaps->get_array()) {
        std::int64_t until = 0;
        std::int64_t lag = 0;
        if (!entry.is_object() || !take(entry.get_object(), "until_ms", milliseconds_max, until) ||
            !take(entry.get_object(), "lag_ms", milliseconds_max, lag)) {
            return damaged_clock("a gap lacks a field");
        }
        record.gaps.push_back({{until}, milliseconds(lag)});
    }
    bound(record.gaps);
    return record;
}

Result<std::optional<ClockRecord>> load_clock(io::FileSystem& files, const std::string& directory) {
    const std::string path = directory + "/" + clock_file_name;
    const auto bytes = io::read_file(files, path, clock_bytes_max);
    if (!bytes.ok() && bytes.error().code == ErrorCode::not_found) {
        return std::optional<ClockRecord>();
    }
    auto record = bytes.ok() ? decode_clock(as_text(*bytes)) : Result<ClockRecord>(bytes.error());
    if (record.ok()) return std::optional(std::move(*record));
    if (record.error().code != ErrorCode::corrupt) {
        return Error{record.error().code, path + ": " + record.error().detail};
    }
    trace(TraceLevel::warning, "the file that knows the time is damaged_clock, and is written anew",
          {{"file", path}, {"cause", record.error().detail}});
    return std::optional<ClockRecord>();
}

Result<> save_clock(io::FileSystem& files, const std::string& directory,
                    const ClockRecord& record) {
    return io::replace_file(files, directory + "/" + clock_file_name, as_bytes(encode(record)));
}

ClockJudgement judge_clock(const ClockWitnesses& witnesses) {
    ClockJudgement judged;
    WallTime known = witnesses.last_event;
    WallTime until = witnesses.last_event;
    if (const auto& saved = witnesses.saved) {
        judged.gaps = saved->gaps;
        known = saved->time;
        const bool same_boot = !saved->boot.empty() && saved->boot == witnesses.boot &&
                               saved->steady <= witnesses.steady;
        if (same_boot) {
            known =
                known + std::chrono::duration_cast<milliseconds>(witnesses.steady - saved->steady);
        }
        // Events may have come after the file was written.
        until = same_boot ? known : std::max(known, witnesses.last_event);
    }
    if (known.milliseconds == 0) return judged;
    const milliseconds step = witnesses.wall - known;
    if (step > clock_step_believed) {
        judged.ahead = step;
        judged.gaps.push_back({std::min(until, witnesses.wall), step});
        bound(judged.gaps);
    } else if (-step > clock_step_believed) {
        take_back(judged.gaps, -step);
    }
    return judged;
}

}  // namespace evenkeel::hub
