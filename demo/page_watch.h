// How old the news is when a resident sees it: asks the residents' page for some homes, as often as
// a browser does, and notes for each reading that is new how long ago its sensor reported.
//
//     sensor ──▶ devices ──▶ hub ──▶ aggregator ──▶ aggregate ──▶ page ──▶ this
//
// Threads: one; answers are taken on a thread of the fetcher's.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/result.h"
#include "http/fetcher.h"

namespace evenkeel::demo {

struct Sighting {
    std::int64_t at_ms = 0;    // when the sensor reported
    std::int64_t late_ms = 0;  // until it was seen
};

// When the sensors of a home last reported, by their place. None if that is no answer of the page.
std::optional<std::map<std::string, std::int64_t>> parse_home(std::string_view json);

// A stretch of time in which a killed aggregator had no successor yet.
struct TakeOver {
    std::int64_t from_ms = 0, to_ms = 0;
};
struct PageFigures {
    std::size_t count = 0;
    std::int64_t p50_ms = 0, p99_ms = 0;  // of readings outside of take-overs
    std::int64_t max_ms = 0;              // of all
};
// None if nothing was seen outside of take-overs.
std::optional<PageFigures> figures_of(const std::vector<Sighting>& seen,
                                      const std::vector<TakeOver>& take_overs);

class PageWatch {
public:
    static constexpr std::uint32_t homes_max = 50;
    static constexpr Duration interval = std::chrono::seconds(1);  // for a home, as the page has it

    // `address`: of any home, such as http://127.0.0.1:8090/home/0. `unsupported` without libcurl.
    static Result<std::unique_ptr<PageWatch>> open(const std::string& address, std::uint32_t homes);

    // Asks for those homes whose time has come.
    void look(Instant now);
    std::vector<Sighting> seen() const;

private:
    static constexpr std::size_t seen_max = 100'000;

    struct Known {
        std::map<std::uint32_t, std::map<std::string, std::int64_t>> homes = {};
        std::vector<Sighting> seen = {};
    };

    PageWatch(std::string address, std::uint32_t homes, std::unique_ptr<http::Fetcher> fetcher)
        : address_(std::move(address)), homes_(homes), fetcher_(std::move(fetcher)) {}
    void take(std::uint32_t home, std::string_view json);

    const std::string address_;  // behind it comes the number of a home
    const std::uint32_t homes_;
    Guarded<Known> known_;
    std::optional<Instant> start_;
    std::uint64_t asked_ = 0;
    std::atomic<std::uint32_t> waiting_{0};   // for an answer
    std::unique_ptr<http::Fetcher> fetcher_;  // ends before what its answers are told to
};

}  // namespace evenkeel::demo
