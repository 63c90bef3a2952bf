#include "cli/read.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>

#include <fmt/core.h>

#include "base/log.h"
#include "base/result.h"
#include "cli/duration.h"
#include "cli/interrupt.h"
#include "cli/send.h"
#include <evenkeel/consumer.h>

namespace evenkeel::cli {
namespace {

constexpr std::size_t read_events = 500;
constexpr auto idle_wait = std::chrono::milliseconds(100);

struct Source {
    std::uint32_t partition = 0;
    std::unique_ptr<RemoteReader> reader;
    std::int64_t last = -1;  // of the partition when we began
    bool at_end = false;
};

std::optional<std::int64_t> number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

bool is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto first = static_cast<unsigned char>(text[i]);
        const std::size_t size = first < 0x80             ? 1
                                 : (first & 0xe0) == 0xc0 ? 2
                                 : (first & 0xf0) == 0xe0 ? 3
                                 : (first & 0xf8) == 0xf0 ? 4
                                                          : 0;
        if (size == 0 || i + size > text.size()) return false;
        for (std::size_t j = 1; j < size; ++j) {
            if ((static_cast<unsigned char>(text[i + j]) & 0xc0) != 0x80) return false;
        }
        i += size;
    }
    return true;
}

std::string base64(std::string_view bytes) {
    constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t word = 0;
        const std::size_t size = std::min<std::size_t>(3, bytes.size() - i);
        for (std::size_t j = 0; j < 3; ++j) {
            word = word << 8 | (j < size ? static_cast<unsigned char>(bytes[i + j]) : 0u);
        }
        for (std::size_t j = 0; j < 4; ++j) {
            text += j <= size ? letters[word >> (18 - 6 * j) & 63] : '=';
        }
    }
    return text;
}

void print(const ReadOptions& options, std::uint32_t partition, const Event& event) {
    if (options.json) {
        fmt::print("{}\n", as_json(partition, event));
    } else if (!options.format.empty()) {
        fmt::print("{}", formatted(options.format, partition, event));
    } else {
        fmt::print("{}\n", event.text());
    }
}

Result<std::vector<Source>> open_sources(Client& client, const ReadOptions& options,
                                         const Position& position) {
    auto partitions = options.partitions;
    if (partitions.empty()) {
        EK_TRY_ASSIGN(const auto properties, client.properties());
        for (std::uint32_t i = 0; i < properties.partitions; ++i) partitions.push_back(i);
    }
    std::vector<Source> sources;
    for (const std::uint32_t partition : partitions) {
        Source source;
        source.partition = partition;
        EK_TRY_ASSIGN(const auto info, client.properties(partition));
        source.last = info.last_enqueued_sequence_number;
        source.at_end = info.is_empty || position.kind == Position::Kind::latest;
        RemoteReaderOptions wanted;
        wanted.name = "evenkeel read";
        wanted.epoch = options.epoch;
        EK_TRY_ASSIGN(source.reader,
                      open_reader(client, options.group, partition, position, wanted));
        sources.push_back(std::move(source));
    }
    return sources;
}

}  // namespace

std::optional<Position> parse_position(std::string_view text, WallTime now) {
    if (text == "start" || text == "earliest") return Position::earliest();
    if (text == "end" || text == "latest") return Position::latest();
    if (text.starts_with("seq:")) {
        const auto value = number(text.substr(4));
        return value ? std::optional(Position::at_sequence(*value)) : std::nullopt;
    }
    if (text.starts_with("offset:")) {
        const auto value = number(text.substr(7));
        return value ? std::optional(Position::at_offset(*value)) : std::nullopt;
    }
    if (text.starts_with('-')) {
        const auto ago = parse_duration(text.substr(1));
        if (!ago) return std::nullopt;
        const auto past = std::chrono::duration_cast<std::chrono::milliseconds>(*ago);
        return Position::at_time((now - past).milliseconds);
    }
    std::tm parts{};
    const std::string owned(text);
    for (const char* pattern :
         {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"}) {
        parts = {};
        const char* const end = strptime(owned.c_str(), pattern, &parts);
        if (end && *end == '\0') return Position::at_time(std::int64_t{timegm(&parts)} * 1000);
    }
    return std::nullopt;
}

std::string formatted(std::string_view format, std::uint32_t partition, const Event& event) {
    std::string text;
    for (std::size_t i = 0; i < format.size(); ++i) {
        const char next = i + 1 < format.size() ? format[i + 1] : '\0';
        if (format[i] == '\\' && (next == 'n' || next == 't')) {
            text += next == 'n' ? '\n' : '\t';
            ++i;
        } else if (format[i] == '%' && next != '\0') {
            ++i;
            switch (next) {
                case 'p': text += std::to_string(partition); break;
                case 's': text += std::to_string(event.sequence_number); break;
                case 'o': text += std::to_string(event.offset); break;
                case 't': text += to_string(WallTime{event.enqueued_time_ms}); break;
                case 'k': text += event.partition_key; break;
                case 'b': text += event.text(); break;
                case '%': text += '%'; break;
                default: text += fmt::format("%{}", next);
            }
        } else {
            text += format[i];
        }
    }
    return text;
}

std::string as_json(std::uint32_t partition, const Event& event) {
    const std::string key =
        event.partition_key.empty() ? "null" : "\"" + json_escaped(event.partition_key) + "\"";
    const std::string body = is_utf8(event.text())
                                 ? "\"body\":\"" + json_escaped(event.text()) + "\""
                                 : "\"body_base64\":\"" + base64(event.text()) + "\"";
    return fmt::format(
        "{{\"partition\":{},\"sequence_number\":{},\"offset\":{},\"enqueued_at\":\"{}\","
        "\"partition_key\":{},{}}}",
        partition, event.sequence_number, event.offset, to_string(WallTime{event.enqueued_time_ms}),
        key, body);
}

ExitCode read(const ReadOptions& options) {
    Interrupt interrupt;
    const auto position = parse_position(options.from, SystemClock().wall());
    if (!position) {
        return wrong_usage(fmt::format("'{}' is no place to start", options.from),
                           "use start, end, seq:N, offset:N, 2026-03-02T09:14:00Z or -15m");
    }
    ClientOptions wanted;
    wanted.connection = options.connection.empty() ? default_connection() : options.connection;
    wanted.event_hub = options.event_hub;
    wanted.name = "evenkeel read";
    auto client = Client::open(wanted);
    if (!client.ok()) return fail("cannot read", client.error());
    auto sources = open_sources(**client, options, *position);
    if (!sources.ok()) {
        return fail(fmt::format("cannot read event hub '{}'", options.event_hub), sources.error(),
                    "is a hub running? 'evenkeel dev' starts one");
    }
    std::uint64_t printed = 0;
    while (!interrupt.wait(Duration(0))) {
        bool any = false;
        bool all_at_end = true;
        for (Source& source : *sources) {
            if (source.at_end && !options.follow) continue;
            all_at_end = false;
            auto batch = source.reader->read(
                read_events, sources->size() == 1 ? idle_wait : std::chrono::milliseconds(0));
            if (!batch.ok()) {
                std::fflush(stdout);
                return fail(fmt::format("partition {}", source.partition), batch.error());
            }
            for (const Event& event : *batch) {
                any = true;
                source.at_end = source.at_end || event.sequence_number >= source.last;
                print(options, source.partition, event);
                if (++printed == options.count) return ExitCode::done;
            }
        }
        if (all_at_end) return ExitCode::done;
        if (!any) {
            std::fflush(stdout);
            if (interrupt.wait(idle_wait / 10)) break;
        }
    }
    return ExitCode::interrupted;
}

}  // namespace evenkeel::cli
