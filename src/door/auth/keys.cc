#include "door/auth/keys.h"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/base64.h"
#include "base/format_version.h"
#include "base/random.h"
#include "base/text.h"
#include "eventhubs/names.h"

namespace evenkeel::door {
namespace {

namespace json = boost::json;

constexpr std::uint64_t keys_bytes_max = std::uint64_t{16} << 20;
constexpr std::size_t name_bytes_max = 256;
constexpr std::size_t key_bytes_max = 256;

Error damaged(std::string_view why) {
    return {ErrorCode::corrupt, fmt::format("not a good keys file: {}", why)};
}

Error wrong(std::string text) {
    return {ErrorCode::invalid_argument, std::move(text)};
}

bool take_text(const json::object& object, std::string_view key, std::string& to) {
    const json::value* const value = object.if_contains(json::string_view(key.data(), key.size()));
    if (!value || !value->is_string()) return false;
    to = std::string(value->get_string());
    return true;
}

Result<Rule> decode_rule(const json::value& value) {
    if (!value.is_object()) return damaged("a rule is not an object");
    const json::object& object = value.get_object();
    Rule rule;
    std::string primary;
    std::string secondary;
    const json::value* const rights = object.if_contains("rights");
    if (!take_text(object, "name", rule.name) || !take_text(object, "hub", rule.hub) ||
        !take_text(object, "primary", primary) || !take_text(object, "secondary", secondary) ||
        !rights || !rights->is_array()) {
        return damaged("a rule lacks a field");
    }
    rule.primary = Secret(std::move(primary));
    rule.secondary = Secret(std::move(secondary));
    for (const auto& right : rights->get_array()) {
        if (right == "Send") {
            rule.rights.send = true;
        } else if (right == "Listen") {
            rule.rights.listen = true;
        } else if (right == "Manage") {
            rule.rights.manage = true;
        } else {
            return damaged("a rule has an unknown right");
        }
    }
    return rule;
}

}  // namespace

// Names of rules are like those of groups, but longer, and "$" begins none.
Result<> check_rule_name(std::string_view name) {
    const bool good = !name.empty() && name.size() <= name_bytes_max &&
                      std::all_of(name.begin(), name.end(), [](char c) {
                          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                 (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
                      });
    if (good) return {};
    return wrong(
        fmt::format("'{}' cannot be the name of a rule; use up to {} letters, digits, '.', "
                    "'-' and '_'",
                    shown(name), name_bytes_max));
}

// A connection string has to carry it.
Result<> check_key_text(std::string_view text) {
    const bool good = text.size() <= key_bytes_max &&
                      std::all_of(text.begin(), text.end(),
                                  [](char c) { return c > ' ' && c <= '~' && c != ';'; });
    if (good) return {};
    return wrong(fmt::format("a key has up to {} printable characters without blanks and ';'",
                             key_bytes_max));
}

Secret fresh_key() {
    std::array<std::byte, 32> bytes;
    secure_bytes(bytes);
    return Secret(base64_encoded(bytes));
}

std::string encode_keys(std::uint64_t generation, const std::vector<Rule>& rules) {
    json::array list;
    for (const auto& rule : rules) {
        json::array rights;
        if (rule.rights.send) rights.emplace_back("Send");
        if (rule.rights.listen) rights.emplace_back("Listen");
        if (rule.rights.manage) rights.emplace_back("Manage");
        list.push_back(json::object{{"name", rule.name},
                                    {"hub", rule.hub},
                                    {"rights", std::move(rights)},
                                    {"primary", rule.primary.reveal()},
                                    {"secondary", rule.secondary.reveal()}});
    }
    const std::string body =
        json::serialize(json::object{{"generation", generation}, {"rules", std::move(list)}});
    return format::framed("keys", format::keys, body);
}

Result<DecodedKeys> decode_keys(std::string_view text) {
    EK_TRY_ASSIGN(const std::string_view body,
                  format::unframed(text, "keys", format::keys, "keys file"));
    boost::system::error_code error;
    const json::value value = json::parse(json::string_view(body.data(), body.size()), error);
    if (error || !value.is_object()) return damaged("it is not a JSON object");
    const json::value* const generation = value.get_object().if_contains("generation");
    const json::value* const rules = value.get_object().if_contains("rules");
    if (!generation || !rules || !rules->is_array()) return damaged("it lacks a field");
    DecodedKeys keys;
    keys.generation = generation->to_number<std::uint64_t>(error);
    if (error) return damaged("its generation is not a number");
    for (const auto& entry : rules->get_array()) {
        EK_TRY_ASSIGN(auto rule, decode_rule(entry));
        keys.rules.push_back(std::move(rule));
    }
    return keys;
}

Keys::Keys(io::FileSystem& files, std::string directory)
    : file_(files, {.directory = std::move(directory),
                    .name = keys_file_name,
                    .bytes_max = keys_bytes_max,
                    .mode = io::OpenMode::create_private}) {}

Result<Keys> Keys::load(io::FileSystem& files, std::string directory) {
    Keys keys(files, std::move(directory));
    EK_TRY_ASSIGN(auto loaded, keys.file_.load(&decode_keys));
    if (!loaded) return keys;
    keys.generation_ = loaded->content.generation;
    keys.rules_ = std::move(loaded->content.rules);
    return keys;
}

Result<std::size_t> Keys::find(std::string_view name, std::string_view hub) const {
    const std::string folded = eventhubs::folded(hub);
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        if (rules_[i].name == name && rules_[i].hub == folded) return i;
    }
    return Error{ErrorCode::not_found,
                 fmt::format("there is no rule '{}'{}", shown(name),
                             hub.empty() ? std::string() : " of event hub " + shown(hub))};
}

Result<> Keys::save(std::vector<Rule> rules) {
    auto saved = file_.save(encode_keys(generation_ + 1, rules));
    if (!saved.ok()) {
        // A change that was not acknowledged must not come back: both files are as they were, if
        // the disk lets us.
        (void)file_.save(encode_keys(generation_, rules_));
        return saved;
    }
    ++generation_;
    rules_ = std::move(rules);
    return {};
}

Result<Rule> Keys::create(const RuleWish& wish) {
    EK_TRY(check_rule_name(wish.name));
    if (!wish.hub.empty()) EK_TRY(eventhubs::check_event_hub_name(wish.hub));
    EK_TRY(check_key_text(wish.primary.reveal()));
    EK_TRY(check_key_text(wish.secondary.reveal()));
    if (!wish.rights.send && !wish.rights.listen && !wish.rights.manage) {
        return wrong("a rule needs a right: Send, Listen or Manage");
    }
    if (find(wish.name, wish.hub).ok()) {
        return Error{ErrorCode::already_exists,
                     fmt::format("there is a rule '{}' already", wish.name)};
    }
    Rule rule{wish.name, eventhubs::folded(wish.hub), wish.primary, wish.secondary, wish.rights};
    const auto same = std::count_if(rules_.begin(), rules_.end(),
                                    [&](const Rule& other) { return other.hub == rule.hub; });
    if (static_cast<std::size_t>(same) >= rules_max) {
        return wrong(fmt::format("there are {} rules already, and no more are allowed; remove one",
                                 rules_max));
    }
    if (rule.rights.manage) rule.rights = {true, true, true};
    if (rule.primary.empty()) rule.primary = fresh_key();
    if (rule.secondary.empty()) rule.secondary = fresh_key();
    auto rules = rules_;
    rules.push_back(rule);
    EK_TRY(save(std::move(rules)));
    return rule;
}

Result<Rule> Keys::rotate(std::string_view name, std::string_view hub, KeyKind kind) {
    EK_TRY_ASSIGN(const std::size_t index, find(name, hub));
    auto rules = rules_;
    (kind == KeyKind::primary ? rules[index].primary : rules[index].secondary) = fresh_key();
    EK_TRY(save(std::move(rules)));
    return rules_[index];
}

Result<> Keys::remove(std::string_view name, std::string_view hub) {
    EK_TRY_ASSIGN(const std::size_t index, find(name, hub));
    auto rules = rules_;
    rules.erase(rules.begin() + static_cast<std::ptrdiff_t>(index));
    return save(std::move(rules));
}

Result<> Keys::remove_hub(std::string_view hub) {
    auto rules = rules_;
    std::erase_if(rules, [&](const Rule& rule) { return rule.hub == eventhubs::folded(hub); });
    if (hub.empty() || rules.size() == rules_.size()) return {};
    return save(std::move(rules));
}

}  // namespace evenkeel::door
