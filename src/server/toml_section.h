// One table of a TOML file, read key by key: what is wrong with a value, and what nobody asked for,
// is gathered with its line. For server/config.cc, and the contexts of cli/.
//
//     TomlSection limits = top.table("limits");
//     limits.number("connections_max", 1, 1'000'000, options.connections_max);
//
// A key that is missing leaves its value as it was.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace evenkeel::server {

// A whole file. Gathers the problems of all its sections, and outlives them.
class TomlFile {
public:
    // `name` begins each problem.
    static Result<std::unique_ptr<TomlFile>> parse(std::string_view text, std::string name);
    ~TomlFile();

    // All there are, each on a line of its own, in the order of the file; none if all is well.
    std::string problems() const;

private:
    friend class TomlSection;
    struct State;
    explicit TomlFile(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

class TomlSection {
public:
    // The file as a whole.
    explicit TomlSection(TomlFile& file);
    // Reports unknown keys.
    ~TomlSection();
    TomlSection(TomlSection&&) noexcept;
    TomlSection& operator=(TomlSection&&) = delete;

    bool is_there(std::string_view key) const;
    // [key]; empty if it is not there.
    TomlSection table(std::string_view key);
    // [[key]], each of them.
    std::vector<TomlSection> tables(std::string_view key);

    void text(std::string_view key, std::string& to);
    // A string whose content is not shown in errors.
    void secret(std::string_view key, std::string& to) { text(key, to); }
    void flag(std::string_view key, bool& to);
    // One text, or a list of them.
    void texts(std::string_view key, std::vector<std::string>& to);
    // A number of bytes, or a text such as "64MiB".
    void bytes(std::string_view key, std::uint64_t min, std::uint64_t max, std::uint64_t& to);
    // A text such as "500ms", "30s", "7d", "forever" (0) where that is allowed.
    void time(std::string_view key, std::chrono::milliseconds min, bool may_be_forever,
              std::chrono::milliseconds& to);
    // One of the words; its place in the list, or -1 if it is not there or wrong.
    int choice(std::string_view key, const std::vector<std::string_view>& words);
    template <typename T>
    void number(std::string_view key, std::uint64_t min, std::uint64_t max, T& to) {
        std::uint64_t value = to;
        whole_number(key, min, max, value);
        to = static_cast<T>(value);
    }

    // True if something was wrong with the key's value.
    bool is_wrong(std::string_view key) const;
    // Something is wrong with the key's value, or with the whole section if it is not there.
    void problem(std::string_view key, std::string_view why);

private:
    struct Place;
    explicit TomlSection(std::unique_ptr<Place> place);
    void whole_number(std::string_view key, std::uint64_t min, std::uint64_t max,
                      std::uint64_t& to);
    std::unique_ptr<Place> place_;
};

}  // namespace evenkeel::server
