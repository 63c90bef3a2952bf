#include "host/handler/worker_process.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>
#include <poll.h>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/promise.h"
#include "base/text.h"
#include "io/system/loop.h"

namespace evenkeel::host {
namespace {

constexpr int tick_ms = 100;
constexpr int pipe_bytes = 1 << 20;
constexpr std::size_t read_bytes = std::size_t{64} << 10;
constexpr Duration grace = std::chrono::seconds(5);       // between SIGTERM and SIGKILL
constexpr Duration last_words = std::chrono::seconds(1);  // what is read behind its end
constexpr int no_program = 127;
// A shell's exit code: this, and the signal that ended its command.
constexpr int shell_signal = 128;

WorkerEnd end_of(int status) {
    const bool has_exited = WIFEXITED(status);
    const int code = has_exited ? WEXITSTATUS(status) : WTERMSIG(status);
    const int number = has_exited ? code - shell_signal : code;
    return {fmt::format("{} {}", has_exited ? "exit code" : "signal", code),
            (has_exited && code == 0) || number == SIGTERM || number == SIGINT || number == SIGHUP};
}

// A descriptor of ours.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() { close(); }
    int get() const { return number_; }
    bool is_open() const { return number_ >= 0; }
    void close() {
        if (number_ >= 0) ::close(std::exchange(number_, -1));
    }

private:
    int number_ = -1;
};

struct Pipe {
    Descriptor read, write;
};
Result<Pipe> make_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return Error{ErrorCode::unavailable,
                     fmt::format("cannot create a pipe: {}", std::strerror(errno))};
    }
    return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

// What exec() wants: pointers into the texts.
std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    all.reserve(texts.size() + 1);
    for (auto& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
}

struct Child {
    const char* program;
    const char* folder;
    char* const* arguments;
    char* const* environment;
    int input, output, errors, answers;  // answers: -1 for none
    std::optional<std::uint64_t> memory_max;
};

// In the guard, a second child: waits for the end of `alive`, which comes with our own end, and
// then ends what the worker has started. A shell, because a mere copy of us would keep our memory.
// It takes no signals of the group, and ends with it. Only calls that are safe between fork() and
// exec().
[[noreturn]] void become_guard(int alive, pid_t leader, char* const* arguments) {
    if (setpgid(0, leader) != 0) _exit(no_program);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    // It keeps no output of ours open.
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);  // tidy: allow file: safe after fork
    if (nothing < 0 || dup2(alive, 0) < 0 || dup2(nothing, 1) < 0 || dup2(nothing, 2) < 0) {
        _exit(no_program);
    }
    char* const environment[] = {nullptr};
    execve("/bin/sh", arguments, environment);
    _exit(no_program);
}

// In the child: only calls that are safe between fork() and exec().
[[noreturn]] void become(const Child& child, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(no_program);
    setpgid(0, 0);
    if (child.memory_max) {
        // Of data, not of addresses: runtimes such as Node reserve far more of these than they use.
        const rlimit limit{*child.memory_max, *child.memory_max};
        if (setrlimit(RLIMIT_DATA, &limit) != 0) _exit(no_program);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    std::signal(SIGPIPE, SIG_DFL);
    if (child.folder[0] != '\0' && chdir(child.folder) != 0) _exit(no_program);
    // By way of high numbers, since a pipe may have one of the numbers that it is to become.
    const int from[] = {child.input, child.output, child.errors, child.answers};
    int high[] = {-1, -1, -1, -1};
    for (int i = 0; i < 4; ++i) {
        if (from[i] >= 0) high[i] = fcntl(from[i], F_DUPFD_CLOEXEC, 10);
    }
    for (int i = 0; i < 4; ++i) {
        if (high[i] >= 0 && dup2(high[i], i) < 0) _exit(no_program);
    }
    execve(child.program, child.arguments, child.environment);
    _exit(no_program);
}

}  // namespace

struct WorkerProcess::State {
    explicit State(Options given) : options(std::move(given)) {}

    Options options;
    std::atomic<pid_t> process{-1};
    WorkerEnd ending;  // set once, before `ended`
    std::atomic<bool> ended{false};
    std::atomic<bool> is_stopping{false};
    Descriptor wake;
    Descriptor exited;  // readable once the process has ended; closed if the system has none
    Descriptor input, output, errors, answers;
    pid_t guard = -1;  // the process that ends the group if we are killed; none without a shell
    Descriptor alive;  // its input
    Guarded<std::string> outbox;
    std::string unsent;    // what the pipe has not taken yet,
    std::size_t sent = 0;  // behind so many bytes that it has
    std::string unread[3];
    std::string why_killed;  // by us, for what it wrote
    io::system::WorkerThread thread{"worker-io/0"};

    Result<> spawn();
    void start_guard();
    void run();
    bool has_unsent() const { return input.is_open() && sent < unsent.size(); }
    void send();
    bool receive(Stream stream, Descriptor& from);
    void lines_of(Stream stream, std::string& text, std::size_t searched);
    bool has_outputs() const { return output.is_open() || errors.is_open() || answers.is_open(); }
    bool is_gone() const;
    void take_end();
    void signal_group(int number) const {
        const pid_t leader = process;
        if (leader > 0 && !ended) kill(-leader, number);
    }
};

Result<> WorkerProcess::State::spawn() {
    static const auto ignored = std::signal(SIGPIPE, SIG_IGN);
    static_cast<void>(ignored);
    const std::string program =
        find_program(options.command.at(0), options.folder, options.environment);
    if (program.empty()) {
        return Error{ErrorCode::not_found,
                     fmt::format("there is no program '{}' in PATH", shown(options.command[0]))};
    }
    if (access(program.c_str(), X_OK) != 0) {
        return Error{ErrorCode::not_found,
                     fmt::format("cannot run '{}': {}", shown(program), std::strerror(errno))};
    }
    EK_TRY_ASSIGN(auto in, make_pipe());
    EK_TRY_ASSIGN(auto out, make_pipe());
    EK_TRY_ASSIGN(auto err, make_pipe());
    EK_TRY_ASSIGN(auto answer, make_pipe());
    std::vector<std::string> arguments = options.command;
    std::vector<std::string> variables = variables_of(options.environment);
    const auto argument_pointers = pointers(arguments);
    const auto variable_pointers = pointers(variables);
    const Child child{program.c_str(),
                      options.folder.c_str(),
                      argument_pointers.data(),
                      variable_pointers.data(),
                      in.read.get(),
                      out.write.get(),
                      err.write.get(),
                      options.has_answers ? answer.write.get() : -1,
                      options.memory_max};
    const pid_t parent = getpid();
    const pid_t forked = fork();
    if (forked == 0) become(child, parent);
    if (forked < 0) {
        return Error{ErrorCode::unavailable,
                     fmt::format("cannot start a process: {}", std::strerror(errno))};
    }
    setpgid(forked, forked);  // here too: we may want to signal the group before it runs
    process = forked;
    input = std::move(in.write);
    output = std::move(out.read);
    errors = std::move(err.read);
    if (options.has_answers) answers = std::move(answer.read);
    fcntl(input.get(), F_SETFL, O_NONBLOCK);
    // For batches of events in few steps. A limit of the system may refuse it, which does no harm.
    static_cast<void>(fcntl(input.get(), F_SETPIPE_SZ, pipe_bytes));
    if (answers.is_open()) static_cast<void>(fcntl(answers.get(), F_SETPIPE_SZ, pipe_bytes));
    start_guard();
    wake = Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    exited = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, forked, 0)));
    return {};
}

// The kernel kills the worker when we end, but not what that has started.
void WorkerProcess::State::start_guard() {
    auto pipe = make_pipe();
    if (!pipe.ok()) return;
    const pid_t leader = process;
    std::vector<std::string> words = {"sh", "-c", fmt::format("read line; kill -9 -{}", leader)};
    const auto arguments = pointers(words);
    const pid_t forked = fork();
    if (forked == 0) become_guard(pipe->read.get(), leader, arguments.data());
    if (forked < 0) return;
    setpgid(forked, leader);  // here too: the group may be ended before it runs
    guard = forked;
    alive = std::move(pipe->write);
}

// What was sent is cut off only when it is the greater part, so that each byte moves about once.
void WorkerProcess::State::send() {
    unsent += outbox.with([](std::string& text) { return std::exchange(text, {}); });
    while (has_unsent()) {
        const ssize_t written = ::write(input.get(), unsent.data() + sent, unsent.size() - sent);
        if (written > 0) {
            sent += static_cast<std::size_t>(written);
        } else if (errno == EAGAIN || errno == EINTR) {
            break;
        } else {
            input.close();
        }
    }
    if (!input.is_open()) sent = unsent.size();
    if (sent <= unsent.size() / 2) return;
    unsent.erase(0, sent);
    sent = 0;
}

// `searched` bytes have no line end.
void WorkerProcess::State::lines_of(Stream stream, std::string& text, std::size_t searched) {
    std::size_t begin = 0;
    for (auto end = text.find('\n', searched); end != std::string::npos;
         end = text.find('\n', begin)) {
        options.on_line(stream, std::string_view(text).substr(begin, end - begin));
        begin = end + 1;
    }
    text.erase(0, begin);
    if (text.size() <= (stream == Stream::answers ? line_bytes_max : read_bytes)) return;
    if (stream == Stream::answers) {
        why_killed = fmt::format(
            "it was killed, because its answer is longer than {} MiB, the most that one "
            "execution may return",
            line_bytes_max >> 20);
        signal_group(SIGKILL);
    } else {
        options.on_line(stream, text);
    }
    text.clear();
}

bool WorkerProcess::State::receive(Stream stream, Descriptor& from) {
    std::string& text = unread[static_cast<std::size_t>(stream)];
    const std::size_t before = text.size();
    text.resize(before + read_bytes);
    const ssize_t got = ::read(from.get(), text.data() + before, read_bytes);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(0, got)));
    if (got < 0 && errno == EINTR) return true;
    lines_of(stream, text, before);
    if (got > 0) return true;
    if (!text.empty()) options.on_line(stream, text);
    from.close();
    return false;
}

// Until it has ended: one that has closed or redirected all its outputs may be well.
void WorkerProcess::State::run() {
    bool was_told = false;
    Instant told{};
    std::optional<Instant> gone;
    while (!gone || has_outputs()) {
        send();
        pollfd all[6] = {{output.get(), POLLIN, 0},
                         {errors.get(), POLLIN, 0},
                         {answers.get(), POLLIN, 0},
                         {wake.get(), POLLIN, 0},
                         {has_unsent() ? input.get() : -1, POLLOUT, 0},
                         {gone ? -1 : exited.get(), POLLIN, 0}};
        poll(all, 6, tick_ms);
        std::uint64_t wakes = 0;
        if (all[3].revents != 0) static_cast<void>(!::read(wake.get(), &wakes, sizeof wakes));
        if (all[2].revents != 0) receive(Stream::answers, answers);
        if (all[0].revents != 0) receive(Stream::output, output);
        if (all[1].revents != 0) receive(Stream::errors, errors);
        options.on_tick();
        const Instant now = SystemClock().now();
        // It may have left children that keep the pipes open, and write to them without end.
        if (gone) {
            const bool is_quiet = (all[0].revents | all[1].revents | all[2].revents) == 0;
            if (is_quiet || now > *gone + last_words) break;
        } else if (is_gone()) {
            gone = now;
            signal_group(SIGKILL);
        }
        if (!is_stopping) continue;
        if (!was_told) {
            input.close();
            signal_group(SIGTERM);
            told = now;
            was_told = true;
        } else if (now > told + grace) {
            signal_group(SIGKILL);
        }
    }
    take_end();
}

// It has ended, and was not waited for: its id is still its own.
bool WorkerProcess::State::is_gone() const {
    siginfo_t info{};
    const pid_t leader = process;
    if (waitid(P_PID, static_cast<id_t>(leader), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
        return errno == ECHILD;
    }
    return info.si_pid == leader;
}

void WorkerProcess::State::take_end() {
    input.close();
    const pid_t leader = process;
    int status = 0, ignored = 0;
    while (waitpid(leader, &status, 0) < 0 && errno == EINTR) {
    }
    kill(-leader, SIGKILL);  // what it has started and left, and the guard
    if (guard > 0) {
        kill(guard, SIGKILL);  // if it has not come into the group
        while (waitpid(guard, &ignored, 0) < 0 && errno == EINTR) {
        }
    }
    ending = end_of(status);
    if (!why_killed.empty()) ending.how = why_killed;
    ended = true;
    options.on_end(ending);
}

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(Options options) {
    auto state = std::make_unique<State>(std::move(options));
    State& ours = *state;
    Promise<Result<>> spawned;
    // On the thread that lives as long as the process: the kernel ends it with that thread.
    ours.thread.post([&ours, &spawned] {
        auto result = ours.spawn();
        const bool is_good = result.ok();
        spawned.set(std::move(result));
        if (is_good) ours.run();
    });
    EK_TRY(spawned.wait());
    return std::unique_ptr<WorkerProcess>(new WorkerProcess(std::move(state)));
}

WorkerProcess::WorkerProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}

WorkerProcess::~WorkerProcess() {
    state_->is_stopping = true;
    write("");
    state_->thread.finish();
}

void WorkerProcess::write(std::string text) {
    if (state_->ended) return;
    state_->outbox.with([&](std::string& all) { all += text; });
    const std::uint64_t one = 1;
    static_cast<void>(!::write(state_->wake.get(), &one, sizeof one));
}

void WorkerProcess::kill_now() {
    state_->signal_group(SIGKILL);
}

bool WorkerProcess::has_ended() const {
    return state_->ended;
}

const WorkerEnd& WorkerProcess::end() const {
    return state_->ending;
}

int WorkerProcess::id() const {
    return state_->process;
}

Environment worker_environment(const Environment& settings) {
    Environment kept = settings;
    for (const char* name : {"EVENKEEL_HUB", "EVENKEEL_STORE"}) kept.erase(name);
    return kept;
}

std::string find_program(const std::string& program, const std::string& folder,
                         const Environment& environment) {
    if (program.starts_with('/')) return program;
    if (program.find('/') != std::string::npos) return folder + "/" + program;
    const auto found = environment.find("PATH");
    std::string_view path = found == environment.end() ? "/usr/local/bin:/usr/bin:/bin"
                                                       : std::string_view(found->second);
    while (!path.empty()) {
        const auto end = std::min(path.find(':'), path.size());
        std::string candidate = fmt::format("{}/{}", path.substr(0, end), program);
        if (end > 0 && access(candidate.c_str(), X_OK) == 0) return candidate;
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return {};
}

}  // namespace evenkeel::host
