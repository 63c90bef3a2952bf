#include "server/toml_section.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include <fmt/core.h>
#include <toml++/toml.h>

#include "base/number.h"
#include "base/spelling.h"
#include "base/text.h"

namespace evenkeel::server {
namespace {

// A text within a problem: short, and printable.
std::string shown(std::string_view text) {
    return "'" + evenkeel::shown(text) + "'";
}

std::string_view kind_of(const toml::node& node) {
    switch (node.type()) {
        case toml::node_type::table: return "a table";
        case toml::node_type::array: return "a list";
        case toml::node_type::string: return "a text";
        case toml::node_type::integer: return "a number";
        case toml::node_type::floating_point: return "a fraction";
        case toml::node_type::boolean: return "true or false";
        case toml::node_type::date:
        case toml::node_type::time:
        case toml::node_type::date_time: return "a date";
        case toml::node_type::none: break;
    }
    return "nothing";
}

// A whole number and the unit behind it; none if it is not that.
struct Amount {
    std::uint64_t number = 0;
    std::string_view unit;
};
std::optional<Amount> take_amount(std::string_view text) {
    const auto number = take_number<std::uint64_t>(text);
    if (!number) return std::nullopt;
    while (text.starts_with(' ')) text.remove_prefix(1);
    return Amount{*number, text};
}

// None if it overflows or has another unit.
std::optional<std::uint64_t> scaled(std::string_view text,
                                    const std::map<std::string_view, std::uint64_t>& units) {
    const auto amount = take_amount(text);
    if (!amount) return std::nullopt;
    const auto unit = units.find(amount->unit);
    if (unit == units.end()) return std::nullopt;
    constexpr auto number_max =
        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (amount->number > number_max / unit->second) return std::nullopt;
    return amount->number * unit->second;
}

const std::map<std::string_view, std::uint64_t> byte_units = {{"", 1},
                                                              {"B", 1},
                                                              {"KiB", 1ull << 10},
                                                              {"MiB", 1ull << 20},
                                                              {"GiB", 1ull << 30},
                                                              {"TiB", 1ull << 40}};
const std::map<std::string_view, std::uint64_t> time_units = {
    {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};

// Such that times do not overflow: 10,000 years.
constexpr std::uint64_t time_ms_max = std::uint64_t{10'000} * 365 * 86'400'000;

}  // namespace

struct TomlFile::State {
    void add(const toml::source_region& at, std::string_view key, std::string_view why) {
        // What is missing is on no line.
        const std::string line = at.begin.line == 0 ? "" : fmt::format(":{}", at.begin.line);
        problems.emplace(at.begin.line, fmt::format("{}{}: {}{}{}", name, line, key,
                                                    key.empty() ? "" : ": ", why));
    }

    std::string name;
    toml::table table;
    std::multimap<toml::source_index, std::string> problems;  // by line
};

TomlFile::TomlFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
TomlFile::~TomlFile() = default;

Result<std::unique_ptr<TomlFile>> TomlFile::parse(std::string_view text, std::string name) {
    auto state = std::make_unique<State>();
    try {
        state->table = toml::parse(text);
    } catch (const toml::parse_error& error) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("{}:{}: not TOML: {}", name, error.source().begin.line,
                                 error.description())};
    }
    state->name = std::move(name);
    return std::unique_ptr<TomlFile>(new TomlFile(std::move(state)));
}

std::string TomlFile::problems() const {
    std::string all;
    for (const auto& [line, text] : state_->problems) {
        if (!all.empty()) all += "\n";
        all += text;
    }
    return all;
}

struct TomlSection::Place {
    const toml::node* find(std::string_view key) {
        asked.insert(std::string(key));
        return table ? table->get(key) : nullptr;
    }
    std::string full(std::string_view key) const {
        return prefix.empty() ? std::string(key) : prefix + "." + std::string(key);
    }
    void wrong(const toml::node& node, std::string_view key, std::string_view why) {
        bad.insert(std::string(key));
        file->add(node.source(), full(key), why);
    }

    TomlFile::State* file;
    const toml::table* table;  // none: it is not in the file
    std::string prefix;
    std::set<std::string> asked = {};
    std::set<std::string> bad = {};
};

TomlSection::TomlSection(TomlFile& file)
    : place_(new Place{file.state_.get(), &file.state_->table, ""}) {}
TomlSection::TomlSection(std::unique_ptr<Place> place) : place_(std::move(place)) {}
TomlSection::TomlSection(TomlSection&&) noexcept = default;

TomlSection::~TomlSection() {
    if (!place_ || !place_->table) return;
    for (const auto& [key, node] : *place_->table) {
        const std::string name(key.str());
        if (place_->asked.contains(name)) continue;
        std::string known;
        for (const auto& word : place_->asked) known += (known.empty() ? "" : ", ") + word;
        const std::string word = nearest(name, {place_->asked.begin(), place_->asked.end()});
        place_->file->add(
            key.source(), place_->full(evenkeel::shown(name)),
            fmt::format("is not a known key{}; valid keys: {}",
                        word.empty() ? "" : fmt::format(", did you mean {}?", word), known));
    }
}

bool TomlSection::is_there(std::string_view key) const {
    return place_->find(key) != nullptr;
}

bool TomlSection::is_wrong(std::string_view key) const {
    return place_->bad.contains(std::string(key));
}

TomlSection TomlSection::table(std::string_view key) {
    const toml::node* const node = place_->find(key);
    if (node && !node->is_table()) {
        place_->wrong(*node, key, fmt::format("must be a table: [{}]", place_->full(key)));
    }
    return TomlSection(std::unique_ptr<Place>(
        new Place{place_->file, node ? node->as_table() : nullptr, place_->full(key)}));
}

std::vector<TomlSection> TomlSection::tables(std::string_view key) {
    std::vector<TomlSection> all;
    const toml::node* const node = place_->find(key);
    if (!node) return all;
    const toml::array* const array = node->as_array();
    for (std::size_t i = 0; array && i < array->size(); ++i) {
        const toml::table* const table = array->get(i)->as_table();
        if (!table) {
            place_->wrong(*node, key, fmt::format("must be tables: [[{}]]", place_->full(key)));
            break;
        }
        all.push_back(TomlSection(std::unique_ptr<Place>(
            new Place{place_->file, table, fmt::format("{}[{}]", place_->full(key), i)})));
    }
    if (!array) place_->wrong(*node, key, fmt::format("must be tables: [[{}]]", place_->full(key)));
    return all;
}

void TomlSection::text(std::string_view key, std::string& to) {
    const toml::node* const node = place_->find(key);
    if (!node) return;
    if (const auto value = node->value_exact<std::string>()) {
        to = *value;
    } else {
        place_->wrong(*node, key,
                      fmt::format("must be a string in quotes, not {}", kind_of(*node)));
    }
}

void TomlSection::flag(std::string_view key, bool& to) {
    const toml::node* const node = place_->find(key);
    if (!node) return;
    if (const auto value = node->value_exact<bool>()) {
        to = *value;
    } else {
        place_->wrong(*node, key, "must be true or false");
    }
}

void TomlSection::texts(std::string_view key, std::vector<std::string>& to) {
    const toml::node* const node = place_->find(key);
    if (!node) return;
    to.clear();
    if (const auto value = node->value_exact<std::string>()) {
        to.push_back(*value);
        return;
    }
    const toml::array* const array = node->as_array();
    bool good = array != nullptr;
    for (std::size_t i = 0; good && i < array->size(); ++i) {
        const auto value = array->get(i)->value_exact<std::string>();
        good = value.has_value();
        if (good) to.push_back(*value);
    }
    if (!good) place_->wrong(*node, key, "must be a string in quotes, or a list of them");
}

void TomlSection::whole_number(std::string_view key, std::uint64_t min, std::uint64_t max,
                               std::uint64_t& to) {
    const toml::node* const node = place_->find(key);
    if (!node) return;
    const auto value = node->value_exact<std::int64_t>();
    if (value && *value >= 0 && static_cast<std::uint64_t>(*value) >= min &&
        static_cast<std::uint64_t>(*value) <= max) {
        to = static_cast<std::uint64_t>(*value);
        return;
    }
    place_->wrong(*node, key, fmt::format("must be a whole number from {} to {}", min, max));
}

void TomlSection::bytes(std::string_view key, std::uint64_t min, std::uint64_t max,
                        std::uint64_t& to) {
    const toml::node* const node = place_->find(key);
    if (!node) return;
    std::optional<std::uint64_t> value;
    if (const auto text = node->value_exact<std::string>()) value = scaled(*text, byte_units);
    if (const auto number = node->value_exact<std::int64_t>(); number && *number >= 0) {
        value = static_cast<std::uint64_t>(*number);
    }
    if (value && *value >= min && *value <= max) {
        to = *value;
        return;
    }
    place_->wrong(
        *node, key,
        fmt::format("must be a size from {} to {} bytes, such as 1048576 or \"1MiB\"", min, max));
}

void TomlSection::time(std::string_view key, std::chrono::milliseconds min, bool may_be_forever,
                       std::chrono::milliseconds& to) {
    const toml::node* const node = place_->find(key);
    if (!node) return;
    if (const auto text = node->value_exact<std::string>()) {
        if (may_be_forever && *text == "forever") {
            to = std::chrono::milliseconds(0);
            return;
        }
        const auto value = scaled(*text, time_units);
        if (value && *value <= time_ms_max && *value >= static_cast<std::uint64_t>(min.count())) {
            to = std::chrono::milliseconds(*value);
            return;
        }
    }
    place_->wrong(*node, key,
                  fmt::format("must be a time of {} ms or more, such as \"500ms\", \"30s\", "
                              "\"2m\", \"1h\" or \"7d\"{}",
                              min.count(), may_be_forever ? ", or \"forever\"" : ""));
}

int TomlSection::choice(std::string_view key, const std::vector<std::string_view>& words) {
    const toml::node* const node = place_->find(key);
    if (!node) return -1;
    const auto value = node->value_exact<std::string>();
    const auto found = value ? std::find(words.begin(), words.end(), *value) : words.end();
    if (found != words.end()) return static_cast<int>(found - words.begin());
    std::string all;
    for (const auto word : words) all += fmt::format("{}\"{}\"", all.empty() ? "" : ", ", word);
    place_->wrong(*node, key,
                  fmt::format("must be one of {}{}", all, value ? ", not " + shown(*value) : ""));
    return -1;
}

void TomlSection::problem(std::string_view key, std::string_view why) {
    const toml::node* const node = place_->table ? place_->table->get(key) : nullptr;
    if (node) return place_->wrong(*node, key, why);
    const toml::source_region at = place_->table ? place_->table->source() : toml::source_region{};
    place_->file->add(at, place_->full(key), why);
}

}  // namespace evenkeel::server
