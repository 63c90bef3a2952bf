// A scaled app: its host with the scale controller, what its status says, and what its function has
// written.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "process/host/host_fixture.h"

namespace evenkeel::fault {

class ScaledHost : public FunctionHost {
protected:
    struct Instance {
        pid_t process = 0;
        std::string state;
        std::set<std::int64_t> partitions;
    };
    struct Status {
        bool is_there = false;
        std::map<std::string, Instance> instances;  // by name
    };
    // Of an event that the function got: partition and sequence number.
    using Place = std::pair<std::int64_t, std::int64_t>;

    void make_hub(const std::string& name, int partitions);
    // An app with one function that writes down what it gets, and takes `delay` seconds for each
    // event: "0.1".
    void make_slow_app(const std::string& host_json, const std::string& delay);
    void set_delay(const std::string& delay) { app_.add("f/delay", delay); }
    // Events `first` to `last` of each partition; each tenth makes the function fail.
    void send_to_all(int partitions, int first, int last) const;

    // What it and its instances say goes to a file, since it may be more than a pipe holds. Leases
    // of the fast profile end on a busy machine, and then events are repeated.
    std::unique_ptr<Process> start_scaled(const std::vector<std::string>& more) const;
    // Ends it as a service manager does; what all hosts of this test have said.
    std::string stop_scaled(Process& host) const;
    std::string said() const { return test::read_whole_file(folder_.path() + "/host.log"); }
    std::string status_file() const { return folder_.path() + "/status.json"; }

    // As the host writes it.
    Status status() const;
    // How many partitions each running instance owns, the fewest first.
    std::vector<std::size_t> shares() const;
    // Waits for these shares.
    bool settles(const std::vector<std::size_t>& wanted) const;
    // As eventually(), but leaves the processor to those that are waited for.
    static bool soon(const std::function<bool()>& condition);

    // What the function got, in the order in which it was called.
    std::vector<Place> handled() const;
    // True if the events of each partition came in order.
    static bool is_in_order(const std::vector<Place>& places);
    // Events behind the checkpoints, as `evenkeel scale` counts them.
    std::int64_t unread() const;

    std::string event_hub_;
};

}  // namespace evenkeel::fault
