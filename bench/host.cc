// tidy: no test: run as a real process by the tests of the command line
#include "bench/host.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/text.h"
#include "bench/hub.h"
#include "bench/load.h"
#include "bench/run.h"
#include "cli/child.h"
#include "cli/temporary_folder.h"
#include "cli/text/event_json.h"
#include "host/app.h"
#include "host/instance.h"
#include "io/system/files.h"

namespace evenkeel::bench {
namespace {

constexpr std::uint32_t host_partitions = 10;
constexpr std::uint64_t burst_events = 100'000;
constexpr int idle_functions = 10;
constexpr Duration idle_after = std::chrono::seconds(3);  // of the start
constexpr Duration host_look_every = std::chrono::milliseconds(1);
constexpr Duration host_answer_max = std::chrono::minutes(3);

// As much of @azure/functions as the shim uses.
constexpr const char* node_stub = R"(
const core = require("@azure/functions-core");
core.setProgrammingModel({
    getInvocationModel: (call) => ({
        getArguments: async () => ({ context: {},
            inputs: [JSON.parse(call.request.inputData[0].data.json)] }),
        invokeFunction: async (context, inputs, callback) => callback(...inputs),
        getResponse: async () => ({ outputData: [] }),
    }),
});
core.registerFunction({ name: "f", bindings: { events: { type: "eventHubTrigger", direction: "in",
    eventHubName: "bench", connection: "HUB", cardinality: "many" } } }, async (events) => {});
)";
// What Node needs for the same lines, without a host.
constexpr const char* node_bare = R"(
const events = [], count = Number(process.argv[1]);
for (let n = 0; n < 100; ++n) events.push({ n, text: "e".repeat(80) });
const meta = {}, numbers = JSON.stringify(events.map((event) => event.n));
for (const name of ["PartitionKeyArray", "OffsetArray", "SequenceNumberArray",
    "EnqueuedTimeUtcArray", "PropertiesArray"]) meta[name] = numbers;
meta.SystemPropertiesArray = JSON.stringify(events.map((event) => ({
    "x-opt-sequence-number": event.n, "x-opt-offset": "100000",
    "x-opt-enqueued-time": "2026-11-16T18:00:00.123Z", SequenceNumber: event.n, Offset: event.n,
    PartitionKey: null, EnqueuedTimeUtc: "2026-11-16T18:00:00.123Z" })));
const line = Buffer.from(JSON.stringify({ id: "1", function: "f", kind: "json",
    data: JSON.stringify(events), meta, retry: null }));
const began = process.hrtime.bigint();
for (let n = 0; n < count; n += 100) JSON.parse(JSON.parse(line.toString()).data);
console.log(count / (Number(process.hrtime.bigint() - began) / 1e9));
)";
constexpr const char* python_stub = R"(
import json, types
class FunctionRegister: pass
class Out:
    def __class_getitem__(cls, item): return cls
class Converter:
    @staticmethod
    def decode(datum, trigger_metadata): return json.loads(datum.value)
meta = types.SimpleNamespace(Datum=lambda value, type: types.SimpleNamespace(value=value))
def get_binding_registry(): return types.SimpleNamespace(get=lambda name: Converter)
)";

// Answers what it has got, as soon as it has got it.
constexpr const char* answering_script = R"(
import os
while part := os.read(0, 1 << 16): os.write(1, b"ok\n" * part.count(b"\n"))
)";

std::string function_json(const std::string& more) {
    return R"({"bindings": [{"type": "eventHubTrigger", "direction": "in", "name": "events",
        "eventHubName": "bench", "connection": "HUB", "cardinality": "many"}])" +
           more + "}";
}
std::string command_json(const std::string& line, bool answers = false) {
    return function_json(fmt::format(R"(, "evenkeel": {{"command": "{}"{}}})", line,
                                     answers ? R"(, "answers": "line")" : ""));
}

using Files = std::vector<std::pair<std::string, std::string>>;

struct NoopApp {
    const char* name;
    double goal;  // events a second
    const char* goal_text;
    Files files;
};

const std::vector<NoopApp>& noop_apps() {
    static const std::vector<NoopApp> apps = {
        {"noop_node",
         50e3,
         ">= 50,000/s, <= 2 us of CPU an event",
         {{"package.json", R"({"main": "functions.js"})"}, {"functions.js", node_stub}}},
        {"noop_python",
         30e3,
         ">= 30,000/s, <= 2 us of CPU an event",
         {{"azure/functions.py", python_stub},
          {"f/__init__.py", "def main(events): pass\n"},
          {"f/function.json", function_json("")}}},
        {"noop_exec",
         200e3,
         ">= 200,000/s, <= 2 us of CPU an event",
         {{"f/function.json", command_json("cat > /dev/null")}}},
        {"noop_exec_lines",
         200e3,
         ">= 200,000/s, <= 2 us of CPU an event",
         {{"f/handle.py", answering_script},
          {"f/function.json", command_json("exec python3 handle.py", true)}}},
    };
    return apps;
}

Result<> write_app(const std::string& folder, const HubProcess& hub, const Files& files) {
    io::system::SystemFiles system;
    EK_TRY(system.make_directory(folder));
    Files all = files;
    all.emplace_back("host.json", "{}");
    all.emplace_back("local.settings.json",
                     fmt::format(R"({{"Values": {{"HUB": "{}"}}}})", hub.connection_string()));
    for (const auto& [name, text] : all) {
        if (const auto slash = name.find('/'); slash != std::string::npos) {
            const auto made = system.make_directory(folder + "/" + name.substr(0, slash));
            if (!made.ok() && made.error().code != ErrorCode::already_exists) return made;
        }
        EK_TRY(io::replace_file(system, folder + "/" + name, as_bytes(text)));
    }
    return {};
}

// Events of JSON, as many in each partition.
Result<> fill_with_json(const HubProcess& hub, std::uint64_t events) {
    EK_TRY_ASSIGN(const auto producer, Producer::open(hub.connection_string()));
    const std::string text(80, 'e');
    std::uint64_t n = 0;
    for (std::uint32_t partition = 0; partition < host_partitions; ++partition) {
        const std::uint64_t end = events * (partition + 1) / host_partitions;
        while (n < end) {
            EK_TRY_ASSIGN(auto batch, producer->make_batch({.partition = partition}));
            for (int i = 0; i < 1000 && n < end; ++i, ++n) {
                if (!batch.try_add(fmt::format(R"({{"n":{},"text":"{}"}})", n, text))) break;
            }
            EK_TRY(producer->send(batch));
        }
    }
    return {};
}

double cpu_of(decltype(RUSAGE_SELF) whose) {
    rusage usage{};
    getrusage(whose, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A field of /proc/PID/status in MiB, such as "VmHWM:"; 0 if the process is gone.
double memory_mib(const std::string& process, std::string_view field) {
    io::system::SystemFiles files;
    const auto opened = files.open("/proc/" + process + "/status", io::OpenMode::read);
    if (!opened.ok()) return 0;
    std::array<std::byte, 8192> bytes;
    const auto got = (*opened)->read(0, bytes);
    if (!got.ok()) return 0;
    const std::string_view text = as_text(ByteView(bytes).first(*got));
    const std::size_t at = text.find(field);
    if (at == std::string_view::npos) return 0;
    double kib = 0;
    const std::string rest(text.substr(at + field.size(), 40));
    if (std::sscanf(rest.c_str(), "%lf", &kib) != 1) return 0;
    return kib / 1024;
}

// The program with the functions of a user; it lies beside this one.
std::string evenkeel_program() {
    std::array<char, 4096> path{};
    const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
    const std::string self(path.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    return self.substr(0, self.rfind('/') + 1) + "evenkeel";
}

std::size_t occurrences(const std::string& text, std::string_view part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

class HostBench {
public:
    HostBench(const HostBenchOptions& options, std::string folder, cli::Interrupt& interrupt,
              std::vector<Line>& lines)
        : options_(options), folder_(std::move(folder)), interrupt_(interrupt), lines_(lines) {}

    Result<> run() {
        for (const NoopApp& app : noop_apps()) {
            if (wanted(app.name)) EK_TRY(noop(app));
        }
        if (wanted("burst")) EK_TRY(burst());
        if (wanted("idle")) EK_TRY(idle());
        return {};
    }

private:
    bool wanted(std::string_view name) const {
        const bool is_wanted = name.find(options_.only) != std::string_view::npos;
        if (is_wanted) fmt::print(stderr, "{} ...\n", name);
        return is_wanted;
    }
    Result<> stop_if_asked() const {
        if (!interrupt_.requested()) return {};
        return Error{ErrorCode::cancelled, "interrupted"};
    }
    Result<std::string> answer_of(cli::Child& child) {
        if (!interrupt_.wait_for_input(child.output(), host_answer_max)) {
            EK_TRY(stop_if_asked());
            return Error{ErrorCode::timed_out, "the host did not answer for 3 minutes"};
        }
        auto line = child.next_line();
        if (!line) return Error{ErrorCode::unavailable, "the host ended early"};
        return std::move(*line);
    }
    Result<> noop(const NoopApp& app);
    Result<double> bare_node();
    Result<> burst();
    Result<> idle();
    // A scale controller; its lines are not read, and few.
    Result<cli::Child> start_host(const std::string& folder,
                                  const std::vector<std::string>& more) const;
    // Drains it, so that nothing uses its folder any more.
    static void stop_host(cli::Child& host) {
        kill(host.id(), SIGTERM);
        while (host.next_line()) {
        }
    }
    // Until the status of the host is as wanted; the seconds until then.
    Result<double> wait_for_status(const std::string& folder,
                                   const std::function<bool(const std::string&)>& is_wanted);

    const HostBenchOptions options_;
    const std::string folder_;
    cli::Interrupt& interrupt_;
    std::vector<Line>& lines_;
};

Result<> HostBench::noop(const NoopApp& app) {
    EK_TRY_ASSIGN(const auto folder, cli::TemporaryFolder::make(folder_, app.name));
    EK_TRY_ASSIGN(const auto hub, HubProcess::start({.data = folder->path() + "/hub",
                                                     .partitions = host_partitions}));
    const std::uint64_t events = std::max<std::uint64_t>(options_.events, 1000);
    EK_TRY(fill_with_json(*hub, events));
    const std::string place = folder->path() + "/app";
    EK_TRY(write_app(place, *hub, app.files));
    const bool is_node = std::string_view(app.name) == "noop_node";
    std::vector<double> ours, bare, cpu_us, handler_us, in_batch;
    double peak_mib = 0;
    for (int i = 0; i < options_.rounds; ++i) {
        EK_TRY_ASSIGN(
            auto child,
            cli::Child::start({"host-child", "--app", place, "--events", std::to_string(events),
                               "--store", fmt::format("sqlite:{}/{}.db", folder->path(), i)}));
        EK_TRY_ASSIGN(const std::string answer, answer_of(child));
        double seconds = 0, cpu = 0, handler_cpu = 0, peak = 0, executions = 0;
        if (std::sscanf(answer.c_str(), "counted %lf %lf %lf %lf %lf", &seconds, &cpu, &handler_cpu,
                        &peak, &executions) != 5) {
            return Error{ErrorCode::corrupt, "the host answered wrongly: " + answer};
        }
        ours.push_back(static_cast<double>(events) / seconds);
        cpu_us.push_back(cpu / static_cast<double>(events) * 1e6);
        handler_us.push_back(handler_cpu / static_cast<double>(events) * 1e6);
        in_batch.push_back(static_cast<double>(events) / executions);
        peak_mib = std::max(peak_mib, peak);
        if (is_node) {
            EK_TRY_ASSIGN(const double loop, bare_node());
            bare.push_back(loop);
        }
        EK_TRY(stop_if_asked());
    }
    Line line{app.name, median(ours), bare.empty() ? 0 : median(bare), app.goal_text, true, {}};
    line.met = line.events_per_second >= app.goal && median(cpu_us) <= 2;
    line.more = {{"host_cpu_us_per_event", median(cpu_us)},
                 {"handler_cpu_us_per_event", median(handler_us)},
                 {"host_peak_rss_mib", peak_mib},
                 {"events_per_execution", median(in_batch)},
                 {"backlog_events", static_cast<double>(events)},
                 {"events_per_second_min", *std::ranges::min_element(ours)},
                 {"events_per_second_max", *std::ranges::max_element(ours)}};
    lines_.push_back(line);
    return {};
}

Result<double> HostBench::bare_node() {
    EK_TRY_ASSIGN(auto child, cli::Child::start(
                                  {"node", "-e", node_bare, "--", std::to_string(options_.events)},
                                  "/usr/bin/env"));
    EK_TRY_ASSIGN(const std::string answer, answer_of(child));
    double loop = 0;
    if (std::sscanf(answer.c_str(), "%lf", &loop) != 1) {
        return Error{ErrorCode::corrupt, "node answered wrongly: " + answer};
    }
    return loop;
}

Result<cli::Child> HostBench::start_host(const std::string& folder,
                                         const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"host",          folder + "/app",
                                      "--store",       "sqlite:" + folder + "/progress.db",
                                      "--status-file", folder + "/status.json"};
    words.insert(words.end(), more.begin(), more.end());
    return cli::Child::start(words, evenkeel_program());
}

Result<double> HostBench::wait_for_status(
    const std::string& folder, const std::function<bool(const std::string&)>& is_wanted) {
    constexpr std::uint64_t status_bytes_max = std::uint64_t{4} << 20;
    io::system::SystemFiles files;
    const SystemClock clock;
    const Instant began = clock.now();
    while (clock.now() - began < host_answer_max) {
        const auto bytes = io::read_file(files, folder + "/status.json", status_bytes_max);
        if (bytes.ok() && is_wanted(std::string(as_text(*bytes)))) {
            return seconds_of(clock.now() - began);
        }
        interrupt_.wait(std::chrono::milliseconds(20));
        EK_TRY(stop_if_asked());
    }
    return Error{ErrorCode::timed_out, "the host did not come so far in 3 minutes"};
}

Result<> HostBench::burst() {
    EK_TRY_ASSIGN(const auto folder, cli::TemporaryFolder::make(folder_, "burst"));
    EK_TRY_ASSIGN(const auto hub, HubProcess::start({.data = folder->path() + "/hub",
                                                     .partitions = host_partitions}));
    EK_TRY(fill_with_json(*hub, burst_events));
    EK_TRY(write_app(folder->path() + "/app", *hub,
                     {{"f/function.json", command_json("cat > /dev/null; sleep 1")}}));
    EK_TRY_ASSIGN(auto host, start_host(folder->path(), {"--instances", "1..10"}));
    EK_TRY_ASSIGN(const double seconds,
                  wait_for_status(folder->path(), [](const std::string& status) {
                      return occurrences(status, R"("owns":[{)") == host_partitions;
                  }));
    Line line{"burst", 0, 0, "<= 10 s until all instances read", seconds <= 10, {}};
    line.more = {{"all_read_after_s", seconds},
                 {"instances", host_partitions},
                 {"waiting_events", static_cast<double>(burst_events)}};
    lines_.push_back(line);
    stop_host(host);
    return {};
}

Result<> HostBench::idle() {
    EK_TRY_ASSIGN(const auto folder, cli::TemporaryFolder::make(folder_, "idle"));
    EK_TRY_ASSIGN(const auto hub, HubProcess::start({.data = folder->path() + "/hub",
                                                     .partitions = host_partitions,
                                                     .groups = idle_functions}));
    Files files;
    for (int i = 0; i < idle_functions; ++i) {
        std::string text = command_json("cat > /dev/null");
        const std::string cardinality = R"("cardinality")";
        text.insert(text.find(cardinality), fmt::format(R"("consumerGroup": "g{}", )", i));
        files.emplace_back(fmt::format("f{}/function.json", i), text);
    }
    EK_TRY(write_app(folder->path() + "/app", *hub, files));
    EK_TRY_ASSIGN(auto host, start_host(folder->path(), {"--instances", "1"}));
    std::string pid;
    EK_TRY(wait_for_status(folder->path(), [&](const std::string& status) {
        // The second one: the first is that of the host.
        const std::string mark = R"("pid":)";
        const auto at = status.rfind(mark);
        pid = at == std::string::npos ? "" : status.substr(at + mark.size(), 12);
        pid.resize(std::min(pid.find_first_not_of("0123456789"), pid.size()));
        // Each is named once more where the instance owns partitions.
        return occurrences(status, R"("function":"f)") == 2 * idle_functions;
    }));
    interrupt_.wait(idle_after);
    EK_TRY(stop_if_asked());
    const double controller = memory_mib(std::to_string(host.id()), "VmRSS:");
    const double instance = memory_mib(pid, "VmRSS:");
    Line line{"idle", 0, 0, "<= 20 MiB each", controller <= 20 && instance <= 20, {}};
    line.more = {{"controller_rss_mib", controller},
                 {"instance_rss_mib", instance},
                 {"functions", idle_functions}};
    lines_.push_back(line);
    stop_host(host);
    return {};
}

}  // namespace

cli::ExitCode measure_host(const HostBenchOptions& options) {
    return run_benchmark(
        options.data, options.json,
        [&](const std::string& folder, cli::Interrupt& interrupt, std::vector<Line>& lines) {
            return HostBench(options, folder, interrupt, lines).run();
        });
}

cli::ExitCode run_host_child(const HostChildOptions& options) {
    cli::live_with_parent();
    cli::Interrupt interrupt;
    const auto app = host::load_app(options.app, host::process_environment(), options.store);
    if (!app.ok()) return cli::fail("cannot load the app", app.error());
    for (const auto& failure : app->failures) fmt::print(stderr, "{}\n", failure);
    auto instance =
        host::Instance::start(*app, {.name = "bench",
                                     .event_line = [](const std::string& event_hub,
                                                      std::uint32_t partition, const Event& event) {
                                         return cli::as_json({event_hub, partition}, event);
                                     }});
    if (!instance.ok()) return cli::fail("cannot run the app", instance.error());
    const SystemClock clock;
    std::optional<Instant> began;
    double cpu_before = 0;
    while (true) {
        const auto so_far = (*instance)->report();
        if (!began && so_far.events > 0) {
            began = clock.now();
            cpu_before = cpu_of(RUSAGE_SELF);
        }
        if (so_far.events >= options.events) break;
        if (const auto error = (*instance)->look()) return cli::fail("it has ended", *error);
        if (interrupt.wait(host_look_every)) return cli::ExitCode::interrupted;
    }
    const double seconds = seconds_of(clock.now() - *began);
    const double cpu = cpu_of(RUSAGE_SELF) - cpu_before;
    const auto total = (*instance)->stop();
    fmt::print("counted {} {} {} {} {}\n", seconds, cpu, cpu_of(RUSAGE_CHILDREN),
               memory_mib("self", "VmHWM:"), total.executions);
    std::fflush(stdout);
    if (total.events == options.events && total.failures == 0) return cli::ExitCode::done;
    fmt::print(stderr, "{} events were handled, {} executions failed\n", total.events,
               total.failures);
    return cli::ExitCode::failed;
}

void add_host(CLI::App& app, cli::Chosen& chosen) {
    auto& options = chosen.keep<HostBenchOptions>();
    auto& output = chosen.keep<std::string>();
    output = "table";
    auto* command = app.add_subcommand(
        "host", "Functions in Node, Python and commands; a burst, and memory of an idle host");
    command->add_option("-o,--output", output, "Output format")
        ->check(CLI::IsMember({"table", "json"}))
        ->capture_default_str();
    command->add_option("--data", options.data, "Create the temporary folder in this folder")
        ->type_name("DIR");
    command->add_option("--events", options.events, "Backlog that one round reads")
        ->check(CLI::Range(std::uint64_t{1000}, std::uint64_t{100'000'000}))
        ->capture_default_str();
    command->add_option("--rounds", options.rounds, "Number of rounds; the median is reported")
        ->check(CLI::Range(1, 100))
        ->capture_default_str();
    command->add_option("--only", options.only, "Only benchmarks whose name contains this");
    command->callback([&options, &output, &chosen] {
        options.json = output == "json";
        chosen.exit = measure_host(options);
    });

    auto& child = chosen.keep<HostChildOptions>();
    auto* child_command = app.add_subcommand("host-child")->group("");
    child_command->add_option("--app", child.app)->required();
    child_command->add_option("--store", child.store)->required();
    child_command->add_option("--events", child.events)->required();
    child_command->callback([&] { chosen.exit = run_host_child(child); });
}

}  // namespace evenkeel::bench
