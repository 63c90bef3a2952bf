#include "demo/usage.h"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

#include <fmt/core.h>

#include "base/number.h"

namespace evenkeel::demo {
namespace {

std::string content_of(pid_t process, std::string_view name) {
    const std::string path = fmt::format("/proc/{}/{}", process, name);
    std::FILE* const file = std::fopen(path.c_str(), "re");  // tidy: allow file: it has no size
    if (file == nullptr) return {};
    std::string text(8192, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    return text;
}

std::optional<ProcessUse> use_of(pid_t process) {
    return parse_use(content_of(process, "stat"), content_of(process, "status"));
}

std::string_view next_word(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    const std::string_view word = text.substr(0, text.find_first_of(" \t\n"));
    text.remove_prefix(word.size());
    return word;
}

// "VmHWM:     61232 kB"
bool read_megabytes(std::string_view status, std::string_view name, std::size_t& to) {
    const std::size_t at = status.find(name);
    if (at == std::string_view::npos) return false;
    status.remove_prefix(at + name.size());
    std::size_t kilobytes = 0;
    if (!read_number(next_word(status), kilobytes)) return false;
    to = kilobytes >> 10U;
    return true;
}

}  // namespace

std::optional<ProcessUse> parse_use(std::string_view stat, std::string_view status) {
    // The name of the program is in brackets, and may contain any.
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string_view::npos) return std::nullopt;
    stat.remove_prefix(name_end + 1);
    constexpr int fields_before = 11;  // from the state on
    for (int i = 0; i < fields_before; ++i) next_word(stat);
    std::uint64_t user = 0, system = 0;
    ProcessUse use;
    if (!read_number(next_word(stat), user) || !read_number(next_word(stat), system) ||
        !read_megabytes(status, "\nVmRSS:", use.memory_mb) ||
        !read_megabytes(status, "\nVmHWM:", use.memory_mb_max)) {
        return std::nullopt;
    }
    use.cpu_ticks = user + system;
    return use;
}

void Usage::add(const std::string& group, pid_t process) {
    const auto found = std::ranges::find(names_, group);
    const auto place = static_cast<std::size_t>(found - names_.begin());
    if (found == names_.end()) names_.push_back(group);
    processes_.push_back({.group = place, .id = process});
}

void Usage::begin() {
    look();
    for (Process& process : processes_) process.ticks_before = process.use.cpu_ticks;
}

void Usage::look() {
    for (Process& process : processes_) {
        // A process that has ended has no memory any more, and keeps what it had.
        if (const auto use = use_of(process.id)) process.use = *use;
    }
}

std::vector<Usage::Group> Usage::groups() const {
    const auto ticks_a_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
    std::vector<Group> groups;
    for (const auto& name : names_) groups.push_back({.name = name});
    for (const Process& process : processes_) {
        Group& group = groups[process.group];
        ++group.processes;
        group.cpu_seconds +=
            static_cast<double>(process.use.cpu_ticks - process.ticks_before) / ticks_a_second;
        group.memory_mb_max = std::max(group.memory_mb_max, process.use.memory_mb_max);
    }
    return groups;
}

std::size_t Usage::memory_mb(pid_t process) {
    const auto use = use_of(process);
    return use ? use->memory_mb : 0;
}

}  // namespace evenkeel::demo
