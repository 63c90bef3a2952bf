// Tells the service manager how we are, by the sd_notify protocol: datagrams of KEY=value lines to
// the socket that $NOTIFY_SOCKET names. Without one, nothing happens.
//
//   READY=1               once clients are taken, and again after a reload
//   RELOADING=1           with MONOTONIC_USEC, as Type=notify-reload wants it
//   STOPPING=1            from the first signal to stop
//   WATCHDOG=1            about twice in the time that $WATCHDOG_USEC gives us
// Threads: any, once made.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace evenkeel::io::system {

class ServiceManager {
public:
    // `socket` is a path, or a name behind '@'; empty: nobody listens. `watchdog_usec` and
    // `watchdog_pid` are texts as the manager gives them; either may be empty.
    ServiceManager(const std::string& socket, std::string_view watchdog_usec,
                   std::string_view watchdog_pid);
    // By the process's environment.
    static ServiceManager from_environment();
    ~ServiceManager();
    ServiceManager(ServiceManager&&) noexcept;

    void ready(std::string_view status) const;
    void reloading() const;
    void stopping() const;
    void alive() const;
    // How often alive() is to be called; none if nobody waits for it.
    std::optional<Duration> watchdog_interval() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace evenkeel::io::system
