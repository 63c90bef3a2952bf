#include "cli/watch.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <vector>

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/clock.h"
#include "cli/capture.h"
#include "cli/interrupt.h"
#include "cli/keyboard.h"
#include "cli/text/duration.h"
#include "cli/text/terminal.h"

namespace evenkeel::cli {
namespace {

constexpr auto interval_min = std::chrono::milliseconds(100);

// The terminal while it is drawn on: another screen, no cursor, no line wrap, keys without Enter.
class Screen {
public:
    Screen() {
        sigset_t resized;
        sigemptyset(&resized);
        sigaddset(&resized, SIGWINCH);
        pthread_sigmask(SIG_BLOCK, &resized, nullptr);
        resizes_ = signalfd(-1, &resized, SFD_CLOEXEC | SFD_NONBLOCK);
        events_ = epoll_create1(EPOLL_CLOEXEC);
        add(resizes_);
        if (keyboard_.is_there()) add(keyboard_.descriptor());
        fmt::print("\x1b[?1049h\x1b[?25l\x1b[?7l");
        std::fflush(stdout);
    }
    ~Screen() {
        fmt::print("\x1b[?7h\x1b[?25h\x1b[?1049l");
        std::fflush(stdout);
        close(events_);
        close(resizes_);
    }
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    // Readable when a key was pressed or the size has changed.
    int events() const { return events_; }
    // True if q was pressed.
    bool take_events() {
        signalfd_siginfo ignored;
        while (read(resizes_, &ignored, sizeof ignored) > 0) {
        }
        const bool had_keys = keyboard_.is_there();
        while (const auto key = keyboard_.next()) {
            if (*key == 'q' || *key == 'Q') return true;
        }
        if (had_keys && !keyboard_.is_there()) {
            epoll_ctl(events_, EPOLL_CTL_DEL, STDIN_FILENO, nullptr);
        }
        return false;
    }

private:
    void add(int descriptor) const {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.fd = descriptor;
        epoll_ctl(events_, EPOLL_CTL_ADD, descriptor, &event);
    }

    Keyboard keyboard_;
    int resizes_ = -1;
    int events_ = -1;
};

// "21:30:02"
std::string time_now() {
    return to_string(SystemClock().wall()).substr(11, 8);
}

struct Round {
    ExitCode exit = ExitCode::done;
    std::string output;
    std::string errors;

    // A check that failed is what was asked for.
    bool is_shown() const {
        return exit == ExitCode::done || exit == ExitCode::check_warning ||
               exit == ExitCode::check_failed;
    }
};

Round run_round(const std::function<ExitCode()>& show, const Terminal* drawn) {
    Round round;
    if (drawn) draw_as(drawn);
    Capture output(stdout);
    {
        Capture errors(stderr);
        round.exit = show();
        round.errors = errors.take();
    }
    round.output = output.take();
    draw_as(nullptr);
    return round;
}

ExitCode in_blocks(Duration interval, bool is_json, const std::function<ExitCode()>& show) {
    Interrupt interrupt;
    for (bool is_first = true;; is_first = false) {
        const Round round = run_round(show, nullptr);
        fmt::print(stderr, "{}", round.errors);
        if (is_first && !round.is_shown()) return round.exit;
        if (is_json && round.is_shown()) {
            fmt::print("{}\n", on_one_line(round.output));
        } else {
            fmt::print("{}{}", is_first ? "" : "\n", round.output);
        }
        if (std::fflush(stdout) != 0) {
            return fail("cannot write to standard output",
                        {ErrorCode::unavailable, "the write failed"});
        }
        if (interrupt.wait(interval)) return ExitCode::interrupted;
    }
}

ExitCode on_screen(Duration interval, const std::string& typed,
                   const std::function<ExitCode()>& show) {
    Interrupt interrupt;
    Terminal terminal = terminal_of(stdout);
    Round round = run_round(show, &terminal);
    if (!round.is_shown()) {
        fmt::print("{}", round.output);
        fmt::print(stderr, "{}", round.errors);
        return round.exit;
    }
    const SystemClock clock;
    Screen screen;
    // Sums and warnings first: they must not end up below a small terminal.
    const auto shown = [](const Round& each) { return each.errors + each.output; };
    std::string last = shown(round);
    std::string last_time = time_now();
    while (true) {
        const Instant next = clock.now() + interval;
        std::string text = last;
        if (!round.is_shown()) {
            text = fmt::format("{}\nas of {}:\n{}", shown(round), last_time, last);
        }
        const std::string header = fmt::format("every {}   {} UTC   q ends it", typed, time_now());
        while (true) {
            terminal = terminal_of(stdout);
            fmt::print("{}",
                       screen_of(painted(terminal, Paint::quiet, header), text, terminal.rows));
            std::fflush(stdout);
            const Duration left = next - clock.now();
            const bool has_event =
                left > Duration(0) && interrupt.wait_for_input(screen.events(), left);
            if (interrupt.requested()) return ExitCode::interrupted;
            if (!has_event) break;
            if (screen.take_events()) return ExitCode::done;
        }
        terminal = terminal_of(stdout);
        round = run_round(show, &terminal);
        if (!round.is_shown()) continue;
        last = shown(round);
        last_time = time_now();
    }
}

}  // namespace

std::string screen_of(const std::string& header, const std::string& text, int rows) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    const auto room = static_cast<std::size_t>(std::max(rows, 3)) - 1;  // below the header
    if (lines.size() > room) {
        const std::size_t hidden = lines.size() - (room - 1);
        lines.resize(room - 1);
        lines.push_back(fmt::format("... {} more lines", hidden));
    }
    std::string screen = "\x1b[H" + header + "\x1b[K";
    for (const auto& line : lines) screen += "\r\n" + line + "\x1b[K";
    return screen + "\x1b[J";
}

std::string on_one_line(const std::string& text) {
    boost::json::error_code failed;
    const auto value = boost::json::parse(text, failed);
    if (failed) return text;
    return boost::json::serialize(value);
}

ExitCode watched(const Watch& watch, bool is_json, const std::function<ExitCode()>& show) {
    if (watch.interval.empty()) return show();
    const auto interval = parse_duration(watch.interval);
    if (!interval || *interval < interval_min) {
        return wrong_usage(
            fmt::format("'{}' is not a time for --watch; at least 100ms", watch.interval),
            "--watch=2s");
    }
    const Terminal terminal = terminal_of(stdout);
    if (!terminal.is_terminal || is_json || terminal.is_dumb) {
        return in_blocks(*interval, is_json, show);
    }
    return on_screen(*interval, watch.interval, show);
}

}  // namespace evenkeel::cli
