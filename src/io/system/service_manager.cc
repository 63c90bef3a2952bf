#include "io/system/service_manager.h"

#include <cstdlib>
#include <cstring>
#include <ctime>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/number.h"

namespace evenkeel::io::system {
namespace {

std::string variable(const char* name) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): at the start
    return value ? value : "";
}

}  // namespace

struct ServiceManager::State {
    ~State() {
        if (descriptor >= 0) ::close(descriptor);
    }

    // A manager that does not listen is no reason to stop or to wait.
    void send(std::string_view message) const {
        if (descriptor < 0) return;
        (void)::sendto(descriptor, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                       reinterpret_cast<const sockaddr*>(&address), address_bytes);
    }

    int descriptor = -1;
    sockaddr_un address{};
    socklen_t address_bytes = 0;
    std::optional<Duration> watchdog;
};

ServiceManager::ServiceManager(const std::string& socket, std::string_view watchdog_usec,
                               std::string_view watchdog_pid)
    : state_(std::make_unique<State>()) {
    State& state = *state_;
    const bool is_known = socket.starts_with('/') || socket.starts_with('@');
    if (!is_known || socket.size() < 2 || socket.size() >= sizeof state.address.sun_path) return;
    state.address.sun_family = AF_UNIX;
    std::memcpy(state.address.sun_path, socket.data(), socket.size());
    if (socket.starts_with('@')) state.address.sun_path[0] = '\0';
    state.address_bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket.size());
    state.descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const bool is_ours =
        watchdog_pid.empty() || parse_number<std::uint64_t>(watchdog_pid).value_or(0) ==
                                    static_cast<std::uint64_t>(getpid());
    // Beyond a day nobody would notice, and times would overflow.
    constexpr std::uint64_t usec_max = std::uint64_t{86'400} * 1'000'000;
    const std::uint64_t usec = parse_number<std::uint64_t>(watchdog_usec).value_or(0);
    if (is_ours && usec > 0 && usec <= usec_max) {
        state.watchdog = std::chrono::microseconds(usec) / 2;
    }
}

ServiceManager ServiceManager::from_environment() {
    return {variable("NOTIFY_SOCKET"), variable("WATCHDOG_USEC"), variable("WATCHDOG_PID")};
}

ServiceManager::~ServiceManager() = default;
ServiceManager::ServiceManager(ServiceManager&&) noexcept = default;

void ServiceManager::ready(std::string_view status) const {
    state_->send("READY=1\nSTATUS=" + std::string(status) +
                 "\nMAINPID=" + std::to_string(getpid()));
}

void ServiceManager::reloading() const {
    timespec now{};
    // The manager compares it with that clock, which Instant is not.
    clock_gettime(CLOCK_MONOTONIC, &now);  // tidy: allow clock: the protocol names this one
    const std::int64_t usec = now.tv_sec * 1'000'000 + now.tv_nsec / 1000;
    state_->send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(usec));
}

void ServiceManager::stopping() const {
    state_->send("STOPPING=1\nSTATUS=Draining");
}

void ServiceManager::alive() const {
    state_->send("WATCHDOG=1");
}

std::optional<Duration> ServiceManager::watchdog_interval() const {
    return state_->watchdog;
}

}  // namespace evenkeel::io::system
