// The rules with their keys, durably: a small file in the data folder and a copy of it
// (io/twin_file.h).
//
//   evenkeel keys 1 <crc32c, 8 hex digits> <bytes>\n
//   {"generation": 3, "rules": [{"name": ..., "hub": ..., "rights": ["Send"], "primary": ...}]}
//
// Invariants
//   AUTH-3  A change is durable in both files before the call returns, or nothing has changed.
//   AUTH-4  At most 12 rules for the namespace and 12 for each event hub; names differ within each.
//   AUTH-5  Manage comes with Send and Listen. A rule has a primary key; rotating one keeps the
//           other.
// The files hold secrets in plain text, as the service's own connection strings do: only the hub's
// user may read them. Nothing here prints a key.
// Calls block. Threads: one at a time; give rules() to AccessRules::replace() on the door's loop.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "door/auth/access.h"
#include "io/file.h"
#include "io/twin_file.h"

namespace evenkeel::door {

inline constexpr const char* keys_file_name = "keys";
inline constexpr const char* keys_copy_name = "keys.copy";

struct RuleWish {
    std::string name;
    std::string hub = {};  // empty: the whole namespace
    Rights rights = {};
    Secret primary = {};  // empty: made here
    Secret secondary = {};
};

enum class KeyKind : std::uint8_t { primary, secondary };

class Keys {
public:
    static constexpr std::size_t rules_max = 12;

    // None are there if the files do not exist; `corrupt` if neither is good.
    static Result<Keys> load(io::FileSystem& files, std::string directory);

    const std::vector<Rule>& rules() const { return rules_; }

    // already_exists, or invalid_argument that says what to change.
    Result<Rule> create(const RuleWish& wish);
    // A new key in the place of one of the two. not_found.
    Result<Rule> rotate(std::string_view name, std::string_view hub, KeyKind kind);
    Result<> remove(std::string_view name, std::string_view hub);
    // The rules of an event hub that was removed.
    Result<> remove_hub(std::string_view hub);

private:
    Keys(io::FileSystem& files, std::string directory);
    Result<std::size_t> find(std::string_view name, std::string_view hub) const;
    Result<> save(std::vector<Rule> rules);

    io::TwinFile file_;
    std::uint64_t generation_ = 0;
    std::vector<Rule> rules_;
};

// The text of a keys file, and back; `corrupt` says what is wrong.
std::string encode_keys(std::uint64_t generation, const std::vector<Rule>& rules);
struct DecodedKeys {
    std::uint64_t generation = 0;
    std::vector<Rule> rules;
};
Result<DecodedKeys> decode_keys(std::string_view text);

// invalid_argument says what a name or key may be made of. No key is shown.
Result<> check_rule_name(std::string_view name);
Result<> check_key_text(std::string_view key);

// 32 unpredictable bytes as base64, as the service makes its keys.
Secret fresh_key();

}  // namespace evenkeel::door
