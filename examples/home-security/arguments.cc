#include "arguments.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

namespace homes {
namespace {

template <typename Number>
bool parse_number(const std::string& text, Number& to) {
    Number number = 0;
    const char* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end) return false;
    to = number;
    return true;
}

}  // namespace

Arguments::Arguments(std::string program, std::string about)
    : program_(std::move(program)), about_(std::move(about)) {}

void Arguments::add(const std::string& name, std::string& to, const std::string& help,
                    const char* variable) {
    const std::string shown = *variable ? "$" + std::string(variable) : to;
    if (const char* value = *variable ? std::getenv(variable) : nullptr) to = value;
    options_.push_back({name, help, shown,
                        [&to](const std::string& text) {
                            to = text;
                            return true;
                        },
                        [&to] { return to.empty(); }});
}

void Arguments::add(const std::string& name, std::uint32_t& to, const std::string& help) {
    options_.push_back({name, help, std::to_string(to),
                        [&to](const std::string& text) { return parse_number(text, to); },
                        [] { return false; }});
}

void Arguments::add(const std::string& name, std::uint64_t& to, const std::string& help) {
    options_.push_back({name, help, std::to_string(to),
                        [&to](const std::string& text) { return parse_number(text, to); },
                        [] { return false; }});
}

bool Arguments::parse(int count, char** arguments) {
    for (int i = 1; i < count; i += 2) {
        const std::string name = arguments[i];
        const auto option =
            std::find_if(options_.begin(), options_.end(),
                         [&](const Option& known) { return name == "--" + known.name; });
        if (option == options_.end()) {
            return fail(name == "--help" ? "" : "there is no option '" + name + "'");
        }
        if (i + 1 == count) return fail(name + " needs a value");
        if (!option->set(arguments[i + 1])) return fail(name + " takes a number");
    }
    for (const Option& option : options_) {
        if (std::count(required_.begin(), required_.end(), option.name) && option.is_empty()) {
            return fail("--" + option.name + " is missing");
        }
    }
    return true;
}

bool Arguments::fail(const std::string& what) const {
    if (!what.empty()) std::fprintf(stderr, "%s: %s\n", program_.c_str(), what.c_str());
    std::fprintf(stderr, "usage: %s [--option value]...\n%s\n\n", program_.c_str(), about_.c_str());
    for (const Option& option : options_) {
        std::fprintf(stderr, "  --%-12s %s%s\n", option.name.c_str(), option.help.c_str(),
                     option.shown_default.empty()
                         ? ""
                         : (" (default: " + option.shown_default + ")").c_str());
    }
    return false;
}

}  // namespace homes
