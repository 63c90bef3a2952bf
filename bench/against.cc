// tidy: no test: run as a real process by the tests of the command line
#include "bench/against.h"

#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <filesystem>

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>
#include <poll.h>

#include "bench/bench.h"
#include "bench/load.h"
#include "bench/report.h"
#include "bench/run.h"
#include "cli/latencies.h"
#include "cli/temporary_folder.h"

namespace evenkeel::bench {
namespace {

constexpr double rate = 20'000;
constexpr std::uint32_t due_together = 20;
constexpr Duration pause_between = std::chrono::milliseconds(1);
constexpr std::size_t event_bytes = 100;
constexpr std::size_t due_digits = 20;  // of an event's body, the instant at which it was due
constexpr unsigned nobody = 65534;

constexpr RivalKind kinds[] = {
    {"redis_always", "redis", "disk: appendfsync always"},
    {"redis_everysec", "redis", "page cache: appendfsync everysec"},
    {"postgresql", "postgresql", "disk: fsync on, synchronous_commit on"},
};

Result<std::unique_ptr<RivalWriter>> writer_of(std::string_view server, std::uint16_t port) {
    return server == "redis" ? redis_writer(port) : postgres_writer(port);
}

// Nobody else has it now; the server takes it a moment later.
std::uint16_t free_port() {
    const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    const bool is_bound =
        bind(descriptor, raw, size) == 0 && getsockname(descriptor, raw, &size) == 0;
    close(descriptor);
    return is_bound ? ntohs(address.sin_port) : std::uint16_t{0};
}

Error not_installed(std::string_view name, std::string_view package) {
    return {ErrorCode::not_found, fmt::format("{} is not installed (Debian: {})", name, package)};
}

Result<cli::Child> start_redis(const std::string& folder, std::uint16_t port,
                               std::string_view fsync) {
    for (const char* program : {"/usr/bin/redis-server", "/usr/local/bin/redis-server"}) {
        if (access(program, X_OK) != 0) continue;
        return cli::Child::start({"--port", std::to_string(port), "--bind", "127.0.0.1", "--dir",
                                  folder, "--save", "", "--appendonly", "yes", "--appendfsync",
                                  std::string(fsync), "--logfile", folder + "/redis.log"},
                                 program);
    }
    return not_installed("Redis", "redis-server");
}

// Debian keeps its programs by version. As root it is run by nobody, since it refuses to.
Result<cli::Child> start_postgres(const std::string& folder, std::uint16_t port) {
    std::string programs;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", ignored)) {
        const std::string found = entry.path().string() + "/bin";
        if (access((found + "/initdb").c_str(), X_OK) == 0) programs = std::max(programs, found);
    }
    if (programs.empty()) return not_installed("PostgreSQL", "postgresql");
    const auto start = [&](std::vector<std::string> words) {
        if (geteuid() != 0) {
            const std::string program = words.front();
            words.erase(words.begin());
            return cli::Child::start(words, program);
        }
        const std::string user = std::to_string(nobody);
        words.insert(words.begin(), {"--reuid", user, "--regid", user, "--clear-groups"});
        return cli::Child::start(words, "/usr/bin/setpriv");
    };
    if (geteuid() == 0) {
        // It must reach its folder through that of the benchmark.
        const std::string parent = folder.substr(0, folder.rfind('/'));
        if (chmod(parent.c_str(), 0711) != 0 || chown(folder.c_str(), nobody, nobody) != 0) {
            return Error{ErrorCode::not_allowed, "PostgreSQL's folder cannot be given to nobody"};
        }
    }
    {
        EK_TRY_ASSIGN(auto made, start({programs + "/initdb", "-D", folder + "/data", "-A", "trust",
                                        "-U", "evenkeel", "-E", "UTF8", "--locale=C"}));
        while (made.next_line()) {
        }
    }
    return start({programs + "/postgres", "-D", folder + "/data", "-p", std::to_string(port), "-c",
                  "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=" + folder, "-c",
                  "log_min_messages=fatal", "-c", "fsync=on", "-c", "synchronous_commit=on"});
}

class AgainstBench {
public:
    AgainstBench(const AgainstOptions& options, std::string folder, cli::Interrupt& interrupt,
                 std::vector<Line>& lines)
        : options_(options), folder_(std::move(folder)), interrupt_(interrupt), lines_(lines) {}

    Result<> run() {
        ProcessorBenchOptions ours;
        ours.seconds = options_.seconds;
        ours.rounds = options_.rounds;
        for (const std::uint32_t partitions : {16u, 256u}) {
            for (const RivalKind& kind : kinds) {
                if (kind.server == options_.server) EK_TRY(measure(kind, partitions));
            }
            EK_TRY(add_end_to_end(ours, folder_, interrupt_, lines_, partitions));
        }
        return {};
    }

private:
    Result<> measure(const RivalKind& kind, std::uint32_t partitions);
    Result<std::unique_ptr<RivalWriter>> connect(std::string_view server, std::uint16_t port);
    Result<> load(RivalWriter& writer, std::uint32_t partitions, Duration duration);
    Result<> add_line(const RivalKind& kind, std::uint32_t partitions, const std::string& answer);
    Duration measured() const {
        return std::chrono::duration_cast<Duration>(
            std::chrono::duration<double>(options_.seconds * options_.rounds));
    }

    const AgainstOptions options_;
    const std::string folder_;
    cli::Interrupt& interrupt_;
    std::vector<Line>& lines_;
    const SystemClock clock_;
    Instant due_;
    std::uint32_t next_partition_ = 0;
};

Result<> AgainstBench::measure(const RivalKind& kind, std::uint32_t partitions) {
    fmt::print(stderr, "{}_20k_{} ...\n", kind.name, partitions);
    EK_TRY_ASSIGN(const auto folder, cli::TemporaryFolder::make(folder_, kind.server));
    const std::uint16_t port = free_port();
    const bool is_redis = kind.server == "redis";
    EK_TRY_ASSIGN(auto server, is_redis ? start_redis(folder->path(), port, kind.name.substr(6))
                                        : start_postgres(folder->path(), port));
    EK_TRY_ASSIGN(const auto writer, connect(kind.server, port));
    EK_TRY(writer->prepare(partitions));
    EK_TRY_ASSIGN(
        auto reader,
        cli::Child::start({"rival-reader-child", "--server", std::string(kind.server), "--port",
                           std::to_string(port), "--partitions", std::to_string(partitions)}));
    if (!interrupt_.wait_for_input(reader.output(), std::chrono::minutes(1)) ||
        !reader.next_line()) {
        return Error{ErrorCode::unavailable, "the reader's process ended early"};
    }
    due_ = clock_.now();
    EK_TRY(load(*writer, partitions, std::chrono::seconds(1)));
    reader.say("begin");
    EK_TRY(load(*writer, partitions, measured()));
    reader.say("end");
    const auto answer = reader.next_line();
    // Its own way to end at once; SIGKILL would leave shared memory behind.
    if (!is_redis) kill(server.id(), SIGQUIT);
    while (!is_redis && server.next_line()) {
    }
    if (!answer) return Error{ErrorCode::unavailable, "the reader's process ended early"};
    return add_line(kind, partitions, *answer);
}

// As soon as the server takes connections.
Result<std::unique_ptr<RivalWriter>> AgainstBench::connect(std::string_view server,
                                                           std::uint16_t port) {
    constexpr Duration patience = std::chrono::seconds(30);
    const Instant start = clock_.now();
    while (true) {
        auto writer = writer_of(server, port);
        if (writer.ok() || clock_.now() - start > patience) return writer;
        if (interrupt_.wait(std::chrono::milliseconds(50))) {
            return Error{ErrorCode::cancelled, "interrupted"};
        }
    }
}

// As PacedLoad does it: late events are sent immediately, and count from when they were due.
Result<> AgainstBench::load(RivalWriter& writer, std::uint32_t partitions, Duration duration) {
    const Instant end = clock_.now() + duration;
    const std::string rest(event_bytes - due_digits, 'e');
    for (Instant now = clock_.now(); now < end; now = clock_.now()) {
        while (due_ <= now) {
            const std::string body = fmt::format("{:0{}}{}", due_.nanoseconds, due_digits, rest);
            for (std::uint32_t i = 0; i < due_together; ++i) {
                writer.add(next_partition_, body);
                next_partition_ = (next_partition_ + 1) % partitions;
            }
            EK_TRY(writer.send());
            due_ = due_ + pause_between;
        }
        const Duration left = std::max(due_ - clock_.now(), Duration(0));
        const timespec wait{0, static_cast<long>(left.count())};
        pollfd answers{writer.descriptor(), POLLIN, 0};
        ppoll(&answers, 1, &wait, nullptr);
        EK_TRY(writer.take_answers());
        if (interrupt_.requested()) return Error{ErrorCode::cancelled, "interrupted"};
    }
    return {};
}

Result<> AgainstBench::add_line(const RivalKind& kind, std::uint32_t partitions,
                                const std::string& answer) {
    std::uint64_t events = 0;
    double p50 = 0;
    double p99 = 0;
    double max = 0;
    if (std::sscanf(answer.c_str(), "latency %" SCNu64 " %lf %lf %lf", &events, &p50, &p99, &max) !=
        4) {
        return Error{ErrorCode::corrupt, "the reader answered wrongly: " + answer};
    }
    Line line{fmt::format("{}_20k_{}", kind.name, partitions),
              static_cast<double>(events) / seconds_of(measured()),
              rate,
              "",
              true,
              {{"p50_ms", p50},
               {"p99_ms", p99},
               {"max_ms", max},
               {"event_bytes", event_bytes},
               {"partitions", partitions}},
              std::string(kind.acknowledged_by)};
    lines_.push_back(std::move(line));
    return {};
}

Result<> read_rival(const RivalReaderOptions& options) {
    EK_TRY_ASSIGN(const auto reader, options.server == "redis" ? redis_reader(options.port)
                                                               : postgres_reader(options.port));
    EK_TRY(reader->prepare(options.partitions));
    fmt::print("ready\n");
    std::fflush(stdout);
    const SystemClock clock;
    cli::Latencies latencies;
    cli::Latencies::Buckets before{};
    std::uint64_t events = 0;
    std::int64_t max_ns = 0;
    bool is_measuring = false;
    while (true) {
        if (cli::has_word(std::chrono::milliseconds(0))) {
            if (!cli::next_word()) return {};
            if (is_measuring) break;
            is_measuring = true;
            latencies.add_to(before);
            events = 0;
            max_ns = 0;
        }
        EK_TRY_ASSIGN(const auto bodies, reader->read());
        const Instant now = clock.now();
        for (const std::string& body : bodies) {
            std::int64_t due = 0;
            std::from_chars(body.data(), body.data() + std::min(due_digits, body.size()), due);
            latencies.observe(Duration(now.nanoseconds - due));
            max_ns = std::max(max_ns, now.nanoseconds - due);
        }
        events += bodies.size();
    }
    cli::Latencies::Buckets after{};
    latencies.add_to(after);
    fmt::print("latency {} {} {} {}\n", events, cli::Latencies::quantile(after, before, 0.5),
               cli::Latencies::quantile(after, before, 0.99), static_cast<double>(max_ns) / 1e6);
    return {};
}

}  // namespace

cli::ExitCode measure_against(const AgainstOptions& options) {
    const std::string_view server = options.server;
    if (server == "kafka" || server == "nats") {
        return cli::fail(
            fmt::format("cannot measure {}", server),
            {ErrorCode::unsupported, "this program does not start it and does not speak to it"},
            "redis and postgresql are supported");
    }
    return run_benchmark(
        options.data, options.json,
        [&](const std::string& folder, cli::Interrupt& interrupt, std::vector<Line>& lines) {
            return AgainstBench(options, folder, interrupt, lines).run();
        });
}

cli::ExitCode run_rival_reader_child(const RivalReaderOptions& options) {
    cli::live_with_parent();
    if (const auto result = read_rival(options); !result.ok()) {
        return cli::fail("a reader of the benchmark ended", result.error());
    }
    return cli::ExitCode::done;
}

}  // namespace evenkeel::bench
