#include "cli/commands/doctor.h"

#include <algorithm>
#include <cstdlib>

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fmt/core.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/archive.h"
#include "cli/capture.h"
#include "cli/commands/hub_command.h"
#include "cli/commands/status.h"
#include "cli/contexts.h"
#include "cli/remote/admin_client.h"
#include "cli/remote/store_session.h"
#include "io/system/files.h"

namespace evenkeel::cli {
namespace {

using Status = Finding::Status;

constexpr std::uint64_t open_files_min = 4096;
constexpr std::uint64_t free_bytes_warning = std::uint64_t{1} << 30;
constexpr std::uint64_t free_bytes_failed = std::uint64_t{100} << 20;
constexpr double sync_ms_warning = 50;
constexpr int syncs = 20;
constexpr std::uint64_t text_bytes_max = std::uint64_t{16} << 20;
constexpr std::size_t log_bytes_max = std::size_t{256} << 10;
constexpr std::size_t statuses_max = 50;

// What may hold secrets comes first. Nothing else of the environment is looked at.
constexpr const char* variables[] = {"EVENKEEL_HUB",
                                     "EVENTHUB_CONNECTION_STRING",
                                     "EVENKEEL_STORE",
                                     "EVENKEEL_URL",
                                     "EVENKEEL_CA",
                                     "EVENKEEL_CONTEXT",
                                     "XDG_CONFIG_HOME",
                                     "NO_COLOR",
                                     "TERM",
                                     "LANG",
                                     "LC_ALL"};

std::string value_of(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

Finding open_files() {
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    const std::string detail = fmt::format("at most {} at once", files.rlim_cur);
    if (files.rlim_cur >= open_files_min) return {"open files", Status::ok, detail};
    return {"open files", Status::warning, detail + "; a partition of a hub needs three",
            "'ulimit -n 65536' in the shell, LimitNOFILE= in a systemd unit"};
}

Finding disk_space(const std::string& folder) {
    const auto free = io::system::SystemFiles().free_bytes(folder);
    if (!free.ok()) {
        return {"disk space", Status::failed, free.error().detail,
                "--folder names the folder of the data"};
    }
    const std::string detail = fmt::format("{} free in {}", bytes_text(*free), folder);
    const Status status = *free < free_bytes_failed    ? Status::failed
                          : *free < free_bytes_warning ? Status::warning
                                                       : Status::ok;
    return {"disk space", status, detail,
            status == Status::ok ? "" : "free space, or shorten the retention of event hubs"};
}

// The median time in which 4 KiB reach stable storage.
Result<double> sync_milliseconds(const std::string& folder) {
    io::system::SystemFiles files;
    const std::string path = fmt::format("{}/evenkeel-doctor-{}.tmp", folder, ::getpid());
    EK_TRY_ASSIGN(const auto file, files.open(path, io::OpenMode::create_private));
    const std::string page(4096, 'x');
    const SystemClock clock;
    std::vector<double> times;
    Result<> written;
    for (int i = 0; i < syncs && written.ok(); ++i) {
        const Instant before = clock.now();
        written = file->write(static_cast<std::uint64_t>(i) * page.size(), as_bytes(page));
        if (written.ok()) written = file->sync();
        times.push_back(std::chrono::duration<double, std::milli>(clock.now() - before).count());
    }
    const auto removed = files.remove(path);
    EK_TRY(written);
    EK_TRY(removed);
    std::ranges::sort(times);
    return times[times.size() / 2];
}

Finding sync_speed(const std::string& folder) {
    const auto time = sync_milliseconds(folder);
    if (!time.ok()) {
        return {"disk sync", Status::failed, time.error().detail,
                "--folder names a folder that can be written"};
    }
    const std::string detail =
        fmt::format("4 KiB are durable after {:.2f} ms in {}", *time, folder);
    if (*time < sync_ms_warning) return {"disk sync", Status::ok, detail};
    return {"disk sync", Status::warning, detail,
            "every acknowledged batch waits that long: use a local disk, not a network share"};
}

Finding contexts() {
    const auto read = read_contexts();
    if (!read.ok()) {
        return {"contexts", Status::failed, read.error().detail,
                "repair that line, or move the file away"};
    }
    const std::string used = value_of("EVENKEEL_CONTEXT");
    return {"contexts", Status::ok,
            fmt::format("{} in {}; {}", read->all.size(), contexts_path(),
                        used.empty() ? "none is used" : "'" + printable(used) + "' is used")};
}

Finding environment() {
    const bool both =
        !value_of("EVENKEEL_HUB").empty() && !value_of("EVENTHUB_CONNECTION_STRING").empty();
    if (both && value_of("EVENKEEL_HUB") != value_of("EVENTHUB_CONNECTION_STRING")) {
        return {"environment", Status::warning,
                "EVENKEEL_HUB and EVENTHUB_CONNECTION_STRING name different hubs; the first counts",
                "unset one of them"};
    }
    if (value_of("EVENKEEL_HUB").empty() && !value_of("EVENKEEL_URL").empty()) {
        return {"environment", Status::warning, "EVENKEEL_URL is set without EVENKEEL_HUB",
                "'eval \"$(evenkeel conn --env)\"' sets both for one hub"};
    }
    return {"environment", Status::ok, "the variables agree"};
}

// `named`: by --store or EVENKEEL_STORE. Else the file that processors take here.
Finding store(const std::string& named) {
    const std::string url = named.empty() ? "sqlite:evenkeel-progress.db" : named;
    const std::string shown = without_secrets(url);
    auto reached = check_file_of_store(url);
    if (!reached.ok() && reached.error().code == ErrorCode::not_found) {
        if (named.empty()) {
            return {"store", Status::skipped,
                    "there is no evenkeel-progress.db in this folder, and --store names none"};
        }
        return {"store", Status::failed, without_secrets(reached.error().detail),
                "name the file that the processors have, or start one"};
    }
    if (reached.ok()) {
        const auto session =
            StoreSession::open(url, {"doctor", "doctor", "doctor"}, {.may_create = false});
        if (!session.ok()) reached = session.error();
    }
    if (!reached.ok()) {
        return {"store", Status::failed, without_secrets(reached.error().detail),
                "is the address right, does the server run, and may this user log in?"};
    }
    return {"store", Status::ok, shown + " can be opened"};
}

std::vector<Finding> all_findings(const DoctorCommand& options) {
    std::vector<Finding> findings = findings_of(options.check);
    findings.push_back(store(options.store));
    findings.push_back(environment());
    findings.push_back(contexts());
    findings.push_back(open_files());
    findings.push_back(disk_space(options.folder));
    findings.push_back(sync_speed(options.folder));
    for (Finding& finding : findings) finding.detail = without_secrets(finding.detail);
    return findings;
}

// Collects what goes into the bundle, and what does not.
class Bundle {
public:
    explicit Bundle(const DoctorCommand& options) : options_(options) {
        redaction_.learn(options.check.remote.connection);
        redaction_.learn(options.store);
        for (const char* name : variables) redaction_.learn(value_of(name));
        if (const auto remote = remote_of(options.check.remote); remote.ok()) {
            redaction_.learn_secret(remote->target.key.reveal());
            redaction_.learn_secret(remote->target.token.reveal());
        }
        if (const auto read = read_contexts(); read.ok()) {
            for (const auto& [name, context] : read->all) {
                redaction_.learn(context.hub);
                redaction_.learn(context.store);
                redaction_.learn(context.url);
            }
        }
    }

    void collect(const std::vector<Finding>& findings) {
        configuration();  // first: what it has of secrets is searched for in all others
        add("findings.json", printed([&] { print_findings(findings, Output::json); }));
        version();
        machine();
        environment_variables();
        contexts_without_secrets();
        server_log();
        const auto remote = remote_of(options_.check.remote);
        const bool is_reached = std::ranges::any_of(findings, [](const Finding& finding) {
            return finding.name == "admin" && finding.status == Status::ok;
        });
        if (remote.ok() && is_reached) {
            live(*remote);
        } else {
            left_out("hubs.json, metrics.txt, status", "the admin interface was not reached");
        }
    }

    Result<> write() {
        std::string about =
            "A bundle of 'evenkeel doctor', for a bug report.\n\n"
            "In it:\n";
        for (const auto& file : files_) about += "  " + file.name + "\n";
        about += "\nLeft out:\n" + missing_ +
                 "  keys, tokens, passwords: replaced by ***\n  events and their properties\n";
        files_.insert(files_.begin(), {"README.txt", about});
        for (auto& file : files_) file.content = redaction_.apply(file.content);
        const std::string bytes = tar_gz(files_, SystemClock().wall());
        io::system::SystemFiles files;
        EK_TRY_ASSIGN(const auto file, files.open(options_.bundle, io::OpenMode::create_private));
        auto written = file->write(0, as_bytes(bytes));
        if (written.ok()) written = file->sync();
        if (!written.ok()) {
            (void)files.remove(options_.bundle);  // half of it helps nobody
            return written;
        }
        fmt::print("{}", files_.front().content);
        return {};
    }

private:
    void add(std::string name, std::string content) {
        files_.push_back({std::move(name), std::move(content)});
    }
    void left_out(std::string_view name, std::string_view why) {
        missing_ += fmt::format("  {}: {}\n", name, printable(without_secrets(why)));
    }
    template <typename Print>
    static std::string printed(Print print) {
        Capture output(stdout);
        print();
        return output.take();
    }
    static Result<std::string> content_of(const std::string& path) {
        io::system::SystemFiles files;
        EK_TRY_ASSIGN(const auto bytes, io::read_file(files, path, text_bytes_max));
        return std::string(as_text(bytes));
    }

    void configuration() {
        if (options_.config.empty()) return left_out("configuration.toml", "no --config was given");
        const auto text = content_of(options_.config);
        if (!text.ok()) return left_out("configuration.toml", text.error().detail);
        add("configuration.toml", redaction_.apply_to_configuration(*text));
    }

    void version() {
        add("version.txt",
            fmt::format("evenkeel {}\ncompiler: {}\nchecks: {}\n", EVENKEEL_VERSION, __VERSION__,
#ifdef NDEBUG
                        "release"
#else
                        "debug"
#endif
                        ));
    }

    void machine() {
        utsname name{};
        uname(&name);
        std::string text = fmt::format("{} {} {} {}\ncores: {}\n\n", name.sysname, name.release,
                                       name.version, name.machine, sysconf(_SC_NPROCESSORS_ONLN));
        for (const char* path :
             {"/etc/os-release", "/proc/self/limits", "/proc/meminfo", "/proc/loadavg",
              "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/cpu.max"}) {
            text += fmt::format("== {}\n{}\n", path, text_of_system(path));
        }
        add("system.txt", text);
    }

    // Files of the system say that they are empty, and are not: they are read to their end.
    static std::string text_of_system(const char* path) {
        io::system::SystemFiles files;
        const auto file = files.open(path, io::OpenMode::read);
        if (!file.ok()) return "not there\n";
        std::vector<std::byte> bytes(std::size_t{64} << 10);
        const auto got = (*file)->read(0, bytes);
        return got.ok() ? std::string(as_text(ByteView(bytes).first(*got))) : "not readable\n";
    }

    void environment_variables() {
        std::string text;
        for (const char* name : variables) {
            const std::string value = value_of(name);
            if (!value.empty()) text += fmt::format("{}={}\n", name, without_secrets(value));
        }
        add("environment.txt", text.empty() ? "none of our variables is set\n" : text);
    }

    void contexts_without_secrets() {
        const auto read = read_contexts();
        if (!read.ok()) return left_out("contexts.toml", read.error().detail);
        Contexts masked = *read;
        for (auto& [name, context] : masked.all) {
            context.hub = without_secrets(context.hub);
            context.store = without_secrets(context.store);
            context.url = without_secrets(context.url);
        }
        add("contexts.toml", to_toml(masked));
    }

    void server_log() {
        if (options_.log.empty()) return left_out("log.txt", "no --log was given");
        io::system::SystemFiles files;
        const auto file = files.open(options_.log, io::OpenMode::read);
        if (!file.ok()) return left_out("log.txt", file.error().detail);
        const auto size = (*file)->size();
        const std::uint64_t from = size.ok() && *size > log_bytes_max ? *size - log_bytes_max : 0;
        std::vector<std::byte> bytes(log_bytes_max);
        const auto got = (*file)->read(from, bytes);
        if (!got.ok()) return left_out("log.txt", got.error().detail);
        std::string text(as_text(ByteView(bytes).first(*got)));
        // A line that was cut may be the second half of a secret.
        if (from > 0) text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
        add("log.txt", text);
    }

    void live(const Remote& remote) {
        HubCommand list;
        list.remote = options_.check.remote;
        list.output = Output::json;
        add("hubs.json", printed([&] { (void)hub_ls(list); }));
        AdminClient admin(remote);
        const auto metrics = admin.metrics();
        if (metrics.ok()) {
            add("metrics.txt", *metrics);
        } else {
            left_out("metrics.txt", metrics.error().detail);
        }
        if (options_.store.empty()) return left_out("status", "no --store was given");
        const auto hubs = admin.hubs();
        if (!hubs.ok()) return left_out("status", hubs.error().detail);
        std::string text;
        std::size_t shown = 0;
        for (const auto& hub : *hubs) {
            for (const auto& group : hub.groups) {
                if (++shown > statuses_max) continue;
                StatusOptions status_options;
                status_options.remote = options_.check.remote;
                status_options.event_hub = hub.name;
                status_options.group = group;
                status_options.store = options_.store;
                status_options.json = true;
                text += printed([&] { (void)status(status_options); });
            }
        }
        add("status.json", text);
        if (shown > statuses_max) {
            left_out("status", fmt::format("{} more groups", shown - statuses_max));
        }
    }

    const DoctorCommand& options_;
    Redaction redaction_;
    std::vector<ArchiveFile> files_;
    std::string missing_;
};

}  // namespace

ExitCode doctor(const DoctorCommand& options) {
    const auto findings = all_findings(options);
    if (options.bundle.empty()) {
        print_findings(findings, options.check.output);
        return exit_code_of(findings);
    }
    Bundle bundle(options);
    bundle.collect(findings);
    const auto written = bundle.write();
    if (!written.ok()) {
        return fail(fmt::format("the bundle '{}' was not written", options.bundle), written.error(),
                    written.error().code == ErrorCode::already_exists
                        ? "choose another name; it is never overwritten"
                        : "");
    }
    fmt::print(stderr, "wrote {}; look through it before you send it\n", options.bundle);
    return ExitCode::done;
}

}  // namespace evenkeel::cli
