#include "demo/page_watch.h"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/core.h>

namespace evenkeel::demo {
namespace {

namespace json = boost::json;

// Of sorted values, at least one.
std::int64_t quantile(const std::vector<std::int64_t>& values, double part) {
    const auto place = static_cast<std::size_t>(part * static_cast<double>(values.size()));
    return values[std::min(place, values.size() - 1)];
}

}  // namespace

std::optional<std::map<std::string, std::int64_t>> parse_home(std::string_view text) {
    boost::system::error_code error;
    const auto value = json::parse(text, error);
    if (error || !value.is_object()) return std::nullopt;
    const auto* const sensors = value.get_object().if_contains("sensors");
    if (sensors == nullptr || !sensors->is_array()) return std::nullopt;
    std::map<std::string, std::int64_t> known;
    for (const auto& sensor : sensors->get_array()) {
        if (!sensor.is_object()) return std::nullopt;
        const auto* const place = sensor.get_object().if_contains("place");
        const auto* const at = sensor.get_object().if_contains("known");
        if (place == nullptr || !place->is_string() || at == nullptr || !at->is_int64()) {
            return std::nullopt;
        }
        known[std::string(place->get_string())] = at->get_int64();
    }
    return known;
}

std::optional<PageFigures> figures_of(const std::vector<Sighting>& seen,
                                      const std::vector<TakeOver>& take_overs) {
    std::vector<std::int64_t> late;
    PageFigures figures;
    for (const Sighting& sighting : seen) {
        figures.max_ms = std::max(figures.max_ms, sighting.late_ms);
        const bool is_in_one = std::ranges::any_of(take_overs, [&](const TakeOver& take_over) {
            return sighting.at_ms >= take_over.from_ms && sighting.at_ms < take_over.to_ms;
        });
        if (!is_in_one) late.push_back(sighting.late_ms);
    }
    if (late.empty()) return std::nullopt;
    std::ranges::sort(late);
    figures.count = late.size();
    figures.p50_ms = quantile(late, 0.5);
    figures.p99_ms = quantile(late, 0.99);
    return figures;
}

Result<std::unique_ptr<PageWatch>> PageWatch::open(const std::string& address,
                                                   std::uint32_t homes) {
    const std::size_t path = address.find("/home/");
    if (path == std::string::npos) {
        return Error{ErrorCode::invalid_argument, "the page has no address"};
    }
    EK_TRY_ASSIGN(auto fetcher, http::Fetcher::open({.connections_max = 4, .proxies = false}));
    return std::unique_ptr<PageWatch>(new PageWatch(address.substr(0, path) + "/api/home/",
                                                    std::clamp(homes, 1U, homes_max),
                                                    std::move(fetcher)));
}

// One after the other, evenly over the interval.
void PageWatch::look(Instant now) {
    if (!start_) start_ = now;
    const Duration pause = interval / homes_;
    // What a long stall has missed is not made up for.
    const auto due = static_cast<std::uint64_t>((now - *start_) / pause);
    asked_ = std::max(asked_, due - std::min<std::uint64_t>(due, homes_));
    for (; asked_ < due; ++asked_) {
        // A page that hangs is not asked by more than there are residents.
        if (waiting_ >= homes_) continue;
        ++waiting_;
        const auto home = static_cast<std::uint32_t>(asked_ % homes_);
        fetcher_->fetch({.url = fmt::format("{}{}", address_, home)},
                        [this, home](Result<http::Fetched> fetched) {
                            --waiting_;
                            if (fetched.ok() && fetched->response.status == 200) {
                                take(home, fetched->response.body);
                            }
                        });
    }
}

void PageWatch::take(std::uint32_t home, std::string_view text) {
    const std::int64_t now_ms = SystemClock().wall().milliseconds;
    const auto reported = parse_home(text);
    if (!reported) return;
    known_.with([&](auto& known) {
        auto& before = known.homes[home];
        // What it knew before it was asked for the first time may be old.
        const bool is_first = before.empty();
        for (const auto& [place, at_ms] : *reported) {
            if (at_ms == 0) continue;
            auto& at_before_ms = before[place];
            if (!is_first && at_ms > at_before_ms && known.seen.size() < seen_max) {
                known.seen.push_back({at_ms, now_ms - at_ms});
            }
            at_before_ms = std::max(at_before_ms, at_ms);
        }
    });
}

std::vector<Sighting> PageWatch::seen() const {
    return known_.with([](const auto& known) { return known.seen; });
}

}  // namespace evenkeel::demo
