// What a simulated disk shall do wrong, and who watches it: each operation is announced here
// before it is performed, and fails if a rule says so.
//
// Threads: one. Failure: a fault is an Error as the system would give it, marked as simulated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/task.h"

namespace evenkeel::io::sim {

enum class OperationKind : unsigned char {
    read,
    write,
    sync,
    truncate,
    open,
    create,
    remove,
    rename,
    make_directory,
    sync_directory,
    list,
};
std::string_view to_string(OperationKind kind);

// `path` is the one given to the call, or for a file the one it was opened with.
struct Operation {
    OperationKind kind;
    std::string_view path;
    std::string_view to;  // the new path of a rename
};

enum class Fault : unsigned char {
    io_error,     // unavailable; a sync loses what it was to make durable (DISK-5)
    no_space,     // overloaded, and otherwise the same
    short_write,  // the first half is written, then unavailable; for other calls as io_error
};

struct FaultRule {
    OperationKind kind;
    std::string path_contains = {};  // empty: any path
    std::uint64_t after = 0;         // so many calls succeed first
    std::uint64_t times = 1;         // then so many fail
    Fault fault = Fault::io_error;
};

// "write path: why"
Error failure(OperationKind kind, std::string_view path, ErrorCode code, std::string_view why);
Error no_space(OperationKind kind, std::string_view path);

class Faults {
public:
    // Called before every operation that changes something, also one that will fail.
    void set_hook(Callback<void(const Operation&)> hook) { hook_ = std::move(hook); }
    void add(FaultRule rule) { rules_.push_back({std::move(rule)}); }
    void clear() { rules_.clear(); }

    // Tells the hook, counts, and returns the fault if one is due.
    Result<> begin(const Operation& operation, bool* is_short_write = nullptr);
    bool in_hook() const { return in_hook_; }

    // How many operations there were that change something, and how many failed by a rule.
    std::uint64_t operations() const { return operations_; }
    std::uint64_t count() const { return count_; }

private:
    struct Rule {
        FaultRule rule;
        std::uint64_t calls = 0;
    };

    std::vector<Rule> rules_;
    std::uint64_t count_ = 0;
    Callback<void(const Operation&)> hook_;
    bool in_hook_ = false;
    std::uint64_t operations_ = 0;
};

}  // namespace evenkeel::io::sim
