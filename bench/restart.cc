// tidy: no test: run as a real process by the tests of the command line
//
// The children talk on stdout, a line each: "filled MIB OF" on the way, "ack PARTITION SEQUENCE"
// for acknowledged events once the data have reached their size; "ready MICROSECONDS RSS_KIB" when
// an empty hub is open, and "idle PARTITIONS RSS_KIB" when it has partitions.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <functional>
#include <latch>
#include <optional>

#include <unistd.h>

#include <fmt/core.h>

#include "base/bytes.h"
#include "base/random.h"
#include "bench/bench.h"
#include "bench/run.h"
#include "cli/child.h"
#include "cli/temporary_folder.h"
#include "io/system/files.h"
#include <evenkeel/hub.h>

namespace evenkeel::bench {
namespace {

constexpr const char* event_hub = "restart";
constexpr std::size_t event_bytes = 1024;
constexpr std::size_t batch_events = 64;
constexpr std::uint64_t progress_bytes = std::uint64_t{64} << 20;
constexpr int acknowledgements_under_load = 2000;

struct Acknowledged {
    std::vector<std::int64_t> last;  // by partition
};

// Numbers of a line such as "ack 3 1042".
bool parse(const std::string& line, const char* word, std::int64_t& a, std::int64_t& b) {
    char found[16];
    long long first = 0;
    long long second = 0;
    if (std::sscanf(line.c_str(), "%15s %lld %lld", found, &first, &second) != 3) return false;
    a = first;
    b = second;
    return std::strcmp(found, word) == 0;
}

// Takes in an "ack" line; false for any other.
bool acknowledge(const std::string& line, Acknowledged& acknowledged) {
    std::int64_t partition = 0;
    std::int64_t sequence = 0;
    if (!parse(line, "ack", partition, sequence)) return false;
    auto& last = acknowledged.last.at(static_cast<std::size_t>(partition));
    last = std::max(last, sequence);
    return true;
}

Result<Acknowledged> fill_and_kill(const RestartOptions& options, const std::string& folder,
                                   cli::Interrupt& interrupt) {
    const auto bytes = static_cast<std::uint64_t>(options.gib * (std::uint64_t{1} << 30));
    EK_TRY_ASSIGN(auto child, cli::Child::start({"fill-child", "--data", folder, "--bytes",
                                                 std::to_string(bytes), "--partitions",
                                                 std::to_string(options.partitions)}));
    Acknowledged acknowledged;
    acknowledged.last.resize(options.partitions, -1);
    int count = 0;
    while (count < acknowledgements_under_load) {
        const auto line = child.next_line();
        if (interrupt.wait(Duration(0))) return Error{ErrorCode::cancelled, "interrupted"};
        if (!line) return Error{ErrorCode::unavailable, "the filling process ended early"};
        if (acknowledge(*line, acknowledged)) ++count;
    }
    child.kill_hard();
    while (const auto line = child.next_line()) acknowledge(*line, acknowledged);
    return acknowledged;
}

// Opens the hub, reads the last event of each partition, and writes one more to each.
Result<Line> restart(const RestartOptions& options, const std::string& folder,
                     const Acknowledged& acknowledged) {
    const SystemClock clock;
    const Instant start = clock.now();
    const auto since_start = [&] {
        return std::chrono::duration<double>(clock.now() - start).count();
    };
    EK_TRY_ASSIGN(const auto hub, Hub::open({.directory = folder}));
    const double opened = since_start();
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;
    for (std::uint32_t partition = 0; partition < options.partitions; ++partition) {
        EK_TRY_ASSIGN(const auto info, hub->describe(event_hub, partition));
        const std::int64_t last = info.last_enqueued_sequence_number;
        if (last < acknowledged.last[partition]) {
            return Error{ErrorCode::corrupt,
                         fmt::format("partition {}: event {} was acknowledged, the last one is {}",
                                     partition, acknowledged.last[partition], last)};
        }
        EK_TRY_ASSIGN(const auto reader, hub->open_reader(event_hub, "$Default", partition,
                                                          Position::at_sequence(last)));
        EK_TRY_ASSIGN(const auto read, reader->read(1, std::chrono::seconds(10)));
        if (read.empty() || read[0].sequence_number != last ||
            read[0].body().size() != event_bytes) {
            return Error{ErrorCode::corrupt,
                         fmt::format("partition {}: event {} was not read", partition, last)};
        }
        EK_TRY_ASSIGN(const auto receipt,
                      hub->send(event_hub, "ready", {.partition = partition, .partition_key = {}}));
        if (receipt.first_sequence_number != last + 1) {
            return Error{ErrorCode::corrupt,
                         fmt::format("partition {}: event {} follows event {}", partition,
                                     receipt.first_sequence_number, last)};
        }
        events += static_cast<std::uint64_t>(last) + 1;
        bytes += info.bytes;
    }
    const double ready = since_start();
    Line line{"restart_after_sigkill", 0, 0, "seconds <= 2", ready <= 2, {}};
    line.more = {{"seconds", ready},
                 {"open_seconds", opened},
                 {"gib", static_cast<double>(bytes) / (1 << 30)},
                 {"events", static_cast<double>(events)},
                 {"partitions", options.partitions}};
    return line;
}

Result<Line> idle(const std::string& folder) {
    const SystemClock clock;
    const Instant start = clock.now();
    EK_TRY_ASSIGN(auto child, cli::Child::start({"idle-child", "--data", folder}));
    const auto line = child.next_line();
    const double ready_ms = std::chrono::duration<double, std::milli>(clock.now() - start).count();
    std::int64_t open_us = 0;
    std::int64_t rss_kib = 0;
    if (!line || !parse(*line, "ready", open_us, rss_kib)) {
        return Error{ErrorCode::unavailable, "the idle process did not become ready"};
    }
    const auto with_partitions = child.next_line();
    std::int64_t partitions = 0;
    std::int64_t partitions_rss_kib = 0;
    if (!with_partitions || !parse(*with_partitions, "idle", partitions, partitions_rss_kib)) {
        return Error{ErrorCode::unavailable, "the idle process did not make its partitions"};
    }
    Line result{"idle_hub", 0, 0, "rss_mib <= 30, ready_ms <= 200", true, {}};
    const double rss_mib = static_cast<double>(rss_kib) / 1024;
    const double partitions_rss_mib = static_cast<double>(partitions_rss_kib) / 1024;
    result.met = rss_kib > 0 && partitions_rss_mib <= 30 && ready_ms <= 200;
    result.more = {{"rss_mib", rss_mib},
                   {"rss_with_partitions_mib", partitions_rss_mib},
                   {"partitions", static_cast<double>(partitions)},
                   {"ready_ms", ready_ms},
                   {"open_ms", static_cast<double>(open_us) / 1000}};
    return result;
}

Result<> measure(const RestartOptions& options, const std::string& folder,
                 cli::Interrupt& interrupt, std::vector<Line>& lines) {
    EK_TRY_ASSIGN(auto empty, idle(folder + "/idle"));
    lines.push_back(std::move(empty));
    fmt::print(stderr, "filling {:.1f} GiB ...\n", options.gib);
    EK_TRY_ASSIGN(const auto acknowledged, fill_and_kill(options, folder + "/filled", interrupt));
    fmt::print(stderr, "killed; opening again ...\n");
    EK_TRY_ASSIGN(auto again, restart(options, folder + "/filled", acknowledged));
    lines.push_back(std::move(again));
    return {};
}

std::int64_t resident_kib() {
    io::system::SystemFiles files;
    const auto file = files.open("/proc/self/status", io::OpenMode::read);
    if (!file.ok()) return -1;
    std::vector<std::byte> status(std::size_t{16} << 10);
    const auto got = (*file)->read(0, status);
    if (!got.ok()) return -1;
    const std::string_view text = as_text(ByteView(status).first(*got));
    const auto at = text.find("VmRSS:");
    if (at == std::string_view::npos) return -1;
    const auto digit = text.find_first_of("0123456789", at);
    std::int64_t kib = -1;
    if (digit != std::string_view::npos) {
        std::from_chars(text.data() + digit, text.data() + text.size(), kib);
    }
    return kib;
}

// Keeps each partition busy with batches, and says on stdout what was acknowledged once the data
// have their size. It ends by being killed.
class Filler {
public:
    Filler(Hub& hub, const ChildOptions& options) : hub_(hub), options_(options) {
        bytes_.resize(event_bytes * batch_events);
        Random(7).fill(bytes_);
        for (std::size_t i = 0; i < batch_events; ++i) {
            bodies_.push_back(as_text(ByteView(bytes_).subspan(i * event_bytes, event_bytes)));
        }
    }

    void run() {
        for (int depth = 0; depth < 4; ++depth) {
            for (std::uint32_t i = 0; i < options_.partitions; ++i) send(i);
        }
        broken_.wait();
    }

private:
    void send(std::uint32_t partition) {
        hub_.send_later(event_hub, bodies_, {.partition = partition, .partition_key = {}},
                        [this, partition](const Result<Receipt>& receipt) {
                            if (!receipt.ok()) return give_up(receipt.error());
                            acknowledged(partition, *receipt);
                            send(partition);
                        });
    }
    void acknowledged(std::uint32_t partition, const Receipt& receipt) {
        const std::uint64_t stored =
            stored_.fetch_add(batch_events * event_bytes) + batch_events * event_bytes;
        std::string line;
        if (stored >= options_.bytes) {
            line = fmt::format("ack {} {}\n", partition, receipt.last_sequence_number);
        } else if (stored % progress_bytes < batch_events * event_bytes) {
            line = fmt::format("filled {} {}\n", stored >> 20, options_.bytes >> 20);
        } else {
            return;
        }
        if (write(STDOUT_FILENO, line.data(), line.size()) < 0) broken_.count_down();
    }
    void give_up(const Error& error) {
        if (gave_up_.exchange(true)) return;
        cli::fail("cannot fill the hub", error);
        broken_.count_down();
    }

    Hub& hub_;
    const ChildOptions options_;
    std::vector<std::byte> bytes_;
    std::vector<std::string_view> bodies_;
    std::atomic<std::uint64_t> stored_{0};
    std::atomic<bool> gave_up_{false};
    std::latch broken_{1};
};

}  // namespace

cli::ExitCode measure_restart(const RestartOptions& options) {
    return run_benchmark(
        options.data, options.json,
        [&](const std::string& folder, cli::Interrupt& interrupt, std::vector<Line>& lines) {
            return measure(options, folder, interrupt, lines);
        });
}

cli::ExitCode run_fill_child(const ChildOptions& options) {
    auto hub = Hub::open({.directory = options.data});
    if (!hub.ok()) return cli::fail("cannot open the hub in " + options.data, hub.error());
    EventHubOptions event_hub_options;
    event_hub_options.partitions = options.partitions;
    if (const auto made = (*hub)->create(event_hub, event_hub_options); !made.ok()) {
        return cli::fail("cannot create an event hub", made.error());
    }
    Filler(**hub, options).run();
    // Not destroyed: sends are under way that still use the filler's memory.
    std::_Exit(static_cast<int>(cli::ExitCode::failed));
}

cli::ExitCode run_idle_child(const ChildOptions& options) {
    const SystemClock clock;
    const Instant start = clock.now();
    auto hub = Hub::open({.directory = options.data});
    if (!hub.ok()) return cli::fail("cannot open the hub in " + options.data, hub.error());
    const auto opened = std::chrono::duration_cast<std::chrono::microseconds>(clock.now() - start);
    fmt::print("ready {} {}\n", opened.count(), resident_kib());
    std::fflush(stdout);
    EventHubOptions event_hub_options;
    event_hub_options.partitions = options.partitions;
    if (const auto made = (*hub)->create(event_hub, event_hub_options); !made.ok()) {
        return cli::fail("cannot create an event hub", made.error());
    }
    fmt::print("idle {} {}\n", options.partitions, resident_kib());
    std::fflush(stdout);
    // Until the parent goes, or kills us.
    char byte = 0;
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    return cli::ExitCode::done;
}

}  // namespace evenkeel::bench
