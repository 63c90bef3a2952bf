#include "cli/host_status.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/bytes.h"
#include "base/text.h"
#include "base/time_text.h"
#include "cli/text/listing.h"
#include "dashboard/json_writer.h"
#include "dashboard/scale_json.h"
#include "io/system/files.h"

namespace evenkeel::cli {
namespace {

namespace json = boost::json;
using dashboard::JsonWriter;

std::int64_t seconds_between(Instant begin, Instant end) {
    return std::chrono::duration_cast<std::chrono::seconds>(end - begin).count();
}

void write_function(JsonWriter& out, const HostStatus::Group& group,
                    const host::ScaledFunction& function, const host::ScaleDecision& decision) {
    out.object([&] {
        out.member("function", function.name).member("event_hub", group.event_hub);
        out.member("group", group.group);
        dashboard::write_scale(out, decision, function.policy);
        out.member("demand", decision.demand).member("even_count", decision.formula);
        out.member("min", function.policy.min);
        // Without a limit the partitions are one, once they are known.
        const bool has_max = !decision.unknown || function.policy.max != 0;
        out.member("max", has_max ? std::optional(decision.ceiling) : std::nullopt);
        out.member("arrivals_per_s", decision.arrivals_per_s);
        out.member("instance_per_s", decision.instance_per_s);
    });
}

void write_instance(JsonWriter& out, const HostStatus& status, const HostStatus::Running& running,
                    const host::InstanceSlot& slot) {
    out.object([&] {
        out.member("name", slot.name).member("state", to_string(slot.state));
        out.member("seconds", seconds_between(slot.since, status.now));
        out.key("pid");
        running.process == 0 ? out.null() : out.value(running.process);
        out.member("ended_in_a_row", slot.ends);
        if (!slot.last_end.empty()) out.member("last_end", slot.last_end);
        out.key("owns").array([&] {
            for (const auto& owned : running.owned) {
                out.object([&] {
                    out.member("function", owned.function);
                    out.key("partitions").array([&] {
                        for (const auto partition : owned.partitions) out.value(partition);
                    });
                });
            }
        });
    });
}

// Values of a file that somebody may have changed: what is missing is shown as such.
std::string text_of(const json::object& object, std::string_view name) {
    const auto* value = object.if_contains(name);
    if (value == nullptr || value->is_null()) return "-";
    if (value->is_string()) return printable(std::string_view(value->get_string()));
    return printable(json::serialize(*value));
}

const json::array& list_of(const json::object& object, std::string_view name) {
    static const json::array none;
    const auto* value = object.if_contains(name);
    return value != nullptr && value->is_array() ? value->get_array() : none;
}

std::string owned_text(const json::object& instance, bool has_several) {
    std::string all;
    for (const auto& each : list_of(instance, "owns")) {
        if (!each.is_object()) continue;
        if (!all.empty()) all += "; ";
        if (has_several) all += text_of(each.get_object(), "function") + ": ";
        std::vector<std::string> numbers;
        for (const auto& number : list_of(each.get_object(), "partitions")) {
            numbers.push_back(printable(json::serialize(number)));
        }
        all += fmt::format("{}", fmt::join(numbers, " "));
    }
    return all.empty() ? "none" : all;
}

std::string function_text(const json::object& function) {
    const bool is_known = text_of(function, "state") == "known";
    const std::string load =
        is_known ? fmt::format("{} partitions, {} unread", text_of(function, "partitions"),
                               text_of(function, "unread"))
                 : "lag not known";
    const std::string wanted = is_known
                                   ? fmt::format("{} wanted, {} now", text_of(function, "wanted"),
                                                 text_of(function, "instances"))
                                   : "hold";
    const std::string max = text_of(function, "max");
    return fmt::format(
        "{}: event hub {}, group {}, {}\n"
        "  {}, {}\n  why: {}\n  not more: {}\n  not less: {}\n\n",
        text_of(function, "function"), text_of(function, "event_hub"), text_of(function, "group"),
        load, wanted,
        max == "-" ? fmt::format("at least {}", text_of(function, "min"))
                   : fmt::format("from {} to {}", text_of(function, "min"), max),
        text_of(function, "why"), text_of(function, "why_not_more"),
        text_of(function, "why_not_less"));
}

std::string instances_text(const json::object& status, const Terminal& terminal) {
    Listing listing({{"INSTANCE"}, {"PID"}, {"STATE"}, {"FOR"}, {"PARTITIONS"}});
    const bool has_several = list_of(status, "functions").size() > 1;
    for (const auto& each : list_of(status, "instances")) {
        if (!each.is_object()) continue;
        const json::object& instance = each.get_object();
        std::string state = text_of(instance, "state");
        if (instance.contains("last_end") && state == "waiting") {
            state += fmt::format(" after {}", text_of(instance, "last_end"));
        }
        listing.add({text_of(instance, "name"), text_of(instance, "pid"), state,
                     text_of(instance, "seconds") + "s", owned_text(instance, has_several)});
    }
    return listing.empty() ? "No instance runs.\n" : listing.text(terminal);
}

// A host that hangs does not write any more.
std::string silence_text(const json::object& status, WallTime now) {
    constexpr std::chrono::seconds usual(30);
    const auto at = parse_wall_time(text_of(status, "at"));
    if (!at || now - *at <= usual) return "";
    return fmt::format("It has not written its status for {}.\n", age_text((now - *at).count()));
}

Error cannot(std::string_view what, const std::string& path) {
    return {ErrorCode::unavailable, fmt::format("{} '{}': {}", what, path, std::strerror(errno))};
}

}  // namespace

std::string status_json(const HostStatus& status, const host::ScaleController& controller) {
    JsonWriter out;
    out.object([&] {
        out.member("app", status.app).member("pid", status.process).member("at", status.at);
        out.member("state", controller.is_stopping() ? "draining" : "running");
        out.member("wanted", controller.wanted()).member("instances_now", controller.instances());
        out.member("is_failing", controller.is_failing());
        const auto& decisions = controller.decisions();
        out.key("decided_by");
        decisions.empty() ? out.null()
                          : out.value(controller.functions()[controller.leader()].name);
        out.key("functions").array([&] {
            for (std::size_t i = 0; i < decisions.size(); ++i) {
                write_function(out, status.groups[i], controller.functions()[i], decisions[i]);
            }
        });
        out.key("instances").array([&] {
            for (std::size_t i = 0; i < controller.slots().size(); ++i) {
                write_instance(out, status, status.instances[i], controller.slots()[i]);
            }
        });
        out.key("decisions").array([&] {
            for (const auto& note : status.notes) {
                out.object([&] { out.member("at", note.at).member("text", note.text); });
            }
        });
    });
    return out.take();
}

Result<std::string> status_text(const std::string& text, WallTime now, const Terminal& terminal) {
    boost::system::error_code error;
    const json::value parsed = json::parse(text, error);
    if (error || !parsed.is_object()) {
        return Error{ErrorCode::corrupt, "the file is not the status of a function host"};
    }
    const json::object& status = parsed.get_object();
    std::string all = fmt::format("Host of {}, pid {}: instances: {} now, {} wanted\n",
                                  text_of(status, "app"), text_of(status, "pid"),
                                  text_of(status, "instances_now"), text_of(status, "wanted"));
    all += silence_text(status, now);
    if (text_of(status, "state") == "draining") all += "It is stopping.\n";
    if (text_of(status, "is_failing") == "true") {
        all += "No instance runs, and all have ended by themselves: no more are started.\n";
    }
    all += "\n";
    for (const auto& function : list_of(status, "functions")) {
        if (function.is_object()) all += function_text(function.get_object());
    }
    all += instances_text(status, terminal);
    if (!list_of(status, "decisions").empty()) all += "\nLast decisions:\n";
    for (const auto& note : list_of(status, "decisions")) {
        if (!note.is_object()) continue;
        all += fmt::format("  {}  {}\n", text_of(note.get_object(), "at"),
                           text_of(note.get_object(), "text"));
    }
    return all;
}

Result<std::string> status_file_of(const std::string& app) {
    const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
    const char* const temporary = std::getenv("TMPDIR");
    const std::string folder =
        runtime != nullptr && *runtime == '/'
            ? fmt::format("{}/evenkeel", runtime)
            : fmt::format("{}/evenkeel-{}",
                          temporary != nullptr && *temporary == '/' ? temporary : "/tmp", getuid());
    if (mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
        return cannot("cannot create the folder", folder);
    }
    // Others can write to the folder for temporary files: they may have been faster.
    struct stat found {};
    if (lstat(folder.c_str(), &found) != 0) return cannot("cannot look at", folder);
    if (!S_ISDIR(found.st_mode) || found.st_uid != getuid()) {
        return Error{ErrorCode::not_allowed,
                     fmt::format("'{}' is not a folder of this user", folder)};
    }
    // FNV-1a: a name that is as good as any path, and no longer than a file name may be.
    std::uint64_t sum = 0xcbf29ce484222325;
    for (const char byte : app) {
        sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    }
    return fmt::format("{}/host-{:016x}.json", folder, sum);
}

Result<> write_status(const std::string& file, const std::string& json) {
    io::system::SystemFiles files;
    const std::string next = fmt::format("{}.{}", file, getpid());
    if (auto removed = files.remove(next);
        !removed.ok() && removed.error().code != ErrorCode::not_found) {
        return removed;
    }
    EK_TRY_ASSIGN(const auto written, files.open(next, io::OpenMode::create_private));
    EK_TRY(written->write(0, as_bytes(json)));
    return files.rename(next, file);
}

}  // namespace evenkeel::cli
