#include "bench/hub.h"

#include <array>
#include <charconv>
#include <cstdio>

#include <unistd.h>

#include <fmt/core.h>

#include "base/bytes.h"
#include "base/log.h"
#include "base/random.h"
#include "bench/bench.h"
#include "io/system/files.h"
#include "server/server.h"

namespace evenkeel::bench {
namespace {

// A field of /proc/PID/<file>, counted from 0; 0 if the process is gone.
double proc_field(pid_t process, std::string_view file, std::size_t index) {
    io::system::SystemFiles files;
    const auto opened = files.open(fmt::format("/proc/{}/{}", process, file), io::OpenMode::read);
    if (!opened.ok()) return 0;
    std::array<std::byte, 4096> bytes;
    const auto got = (*opened)->read(0, bytes);
    if (!got.ok()) return 0;
    std::string_view text = as_text(ByteView(bytes).first(*got));
    text.remove_prefix(text.rfind(')') == std::string_view::npos ? 0 : text.rfind(')') + 2);
    while (index-- > 0) text.remove_prefix(std::min(text.size(), text.find(' ') + 1));
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

}  // namespace

Result<std::unique_ptr<HubProcess>> HubProcess::start(const HubProcessOptions& options) {
    const std::string key = secure_hex(24);
    EK_TRY_ASSIGN(auto child, cli::Child::start({"hub-child", "--data", options.data, "--hub",
                                                 options.event_hub, "--partitions",
                                                 std::to_string(options.partitions), "--groups",
                                                 std::to_string(options.groups)}));
    std::unique_ptr<HubProcess> hub(new HubProcess(std::move(child), key, options.event_hub));
    hub->child_.say(key);
    const auto line = hub->child_.next_line();
    if (!line) return Error{ErrorCode::unavailable, "the hub did not start"};
    std::from_chars(line->data(), line->data() + line->size(), hub->port_);
    return hub;
}

std::string HubProcess::connection_string() const {
    return fmt::format(
        "Endpoint=sb://127.0.0.1:{};SharedAccessKeyName=bench;SharedAccessKey={};EntityPath={};"
        "UseDevelopmentEmulator=true",
        port_, key_, event_hub_);
}

double HubProcess::resident_mib() const {
    return proc_field(child_.id(), "statm", 1) * static_cast<double>(sysconf(_SC_PAGESIZE)) /
           (1 << 20);
}

// A line has a number, our address, the peer's, a state, and the bytes not yet acknowledged.
double HubProcess::unsent_mib() const {
    io::system::SystemFiles files;
    const auto opened = files.open("/proc/net/tcp", io::OpenMode::read);
    if (!opened.ok()) return 0;
    const std::string ours = fmt::format(" 0100007F:{:04X} ", port_);
    constexpr std::size_t before_queue = 17;  // the peer's address and the state
    std::array<std::byte, 4096> bytes;
    std::string text;
    double sum = 0;
    for (std::uint64_t at = 0;;) {
        const auto got = (*opened)->read(at, bytes);
        if (!got.ok() || *got == 0) break;
        at += *got;
        text += as_text(ByteView(bytes).first(*got));
        const std::size_t whole = text.rfind('\n');
        for (std::size_t found = text.find(ours); found < whole; found = text.find(ours, found)) {
            found += ours.size();
            const char* const queue = text.data() + found + before_queue;
            std::uint64_t unsent = 0;
            std::from_chars(queue, text.data() + text.size(), unsent, 16);
            sum += static_cast<double>(unsent);
        }
        text.erase(0, whole + 1);
    }
    return sum / (1 << 20);
}

// User and system time are fields 14 and 15, the first behind the name being the third.
double HubProcess::cpu_seconds() const {
    return (proc_field(child_.id(), "stat", 11) + proc_field(child_.id(), "stat", 12)) /
           static_cast<double>(sysconf(_SC_CLK_TCK));
}

cli::ExitCode run_hub_child(const HubProcessOptions& options) {
    cli::live_with_parent();
    const auto key = cli::next_word();
    if (!key) return cli::ExitCode::failed;
    set_trace_level(TraceLevel::off);
    server::ServerOptions wanted;
    wanted.hub.directory = options.data;
    wanted.amqp = {{"127.0.0.1", 0}};
    wanted.rules = {{"bench", "", door::Secret(*key), {}, {true, true, true}}};
    server::EventHubWish wish;
    wish.name = options.event_hub;
    wish.options.partitions = options.partitions;
    for (std::uint32_t i = 0; i < options.groups; ++i) wish.groups.push_back(fmt::format("g{}", i));
    wanted.event_hubs.push_back(wish);
    auto server = server::Server::open(wanted);
    if (!server.ok()) return cli::fail("cannot open the hub in " + options.data, server.error());
    fmt::print("{}\n", (*server)->ports().amqp);
    std::fflush(stdout);
    while (cli::next_word()) {
    }
    return cli::ExitCode::done;
}

}  // namespace evenkeel::bench
