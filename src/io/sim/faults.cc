// tidy: no test: tested by disk_test.cc
#include "io/sim/faults.h"

#include <iterator>

#include "base/check.h"

namespace evenkeel::io::sim {
namespace {

bool is_mutating(OperationKind kind) {
    using enum OperationKind;
    return kind != read && kind != open && kind != list;
}

}  // namespace

std::string_view to_string(OperationKind kind) {
    constexpr std::string_view names[] = {
        "read",   "write",  "sync",           "truncate",       "open", "create",
        "remove", "rename", "make_directory", "sync_directory", "list",
    };
    static_assert(std::size(names) == static_cast<std::size_t>(OperationKind::list) + 1);
    return names[static_cast<std::size_t>(kind)];
}

Error failure(OperationKind kind, std::string_view path, ErrorCode code, std::string_view why) {
    return {code, std::string(to_string(kind)) + " " + std::string(path) + ": " + std::string(why)};
}

Error no_space(OperationKind kind, std::string_view path) {
    return failure(kind, path, ErrorCode::overloaded, "no space left on device (simulated)");
}

Result<> Faults::begin(const Operation& operation, bool* is_short_write) {
    EK_CHECK(!in_hook_, "the hook must not use the disk it watches, only images of it");
    if (is_mutating(operation.kind)) {
        ++operations_;
        if (hook_) {
            in_hook_ = true;
            hook_(operation);
            in_hook_ = false;
        }
    }
    const FaultRule* due = nullptr;
    for (auto& [rule, calls] : rules_) {
        if (rule.kind != operation.kind) continue;
        if (operation.path.find(rule.path_contains) == std::string_view::npos &&
            operation.to.find(rule.path_contains) == std::string_view::npos) {
            continue;
        }
        const std::uint64_t call = calls++;
        if (!due && call >= rule.after && call - rule.after < rule.times) due = &rule;
    }
    if (!due) return {};
    ++count_;
    if (due->fault == Fault::no_space) return no_space(operation.kind, operation.path);
    if (due->fault == Fault::short_write && is_short_write) *is_short_write = true;
    return failure(operation.kind, operation.path, ErrorCode::unavailable,
                   "input/output error (simulated)");
}

}  // namespace evenkeel::io::sim
