#include "door/admin/query.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/percent.h"
#include "base/text.h"

namespace evenkeel::door {
namespace {

std::optional<std::string> decoded(std::string_view text) {
    std::string spaced(text);
    std::ranges::replace(spaced, '+', ' ');
    return percent_decoded_strictly(spaced);
}

}  // namespace

Result<std::map<std::string, std::string>> parse_query(
    std::string_view query, std::initializer_list<std::string_view> known) {
    std::map<std::string, std::string> values;
    while (!query.empty()) {
        const std::string_view word = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), word.size() + 1));
        if (word.empty()) continue;
        const std::size_t equals = std::min(word.find('='), word.size());
        const auto name = decoded(word.substr(0, equals));
        const auto value = decoded(word.substr(std::min(equals + 1, word.size())));
        if (!name || !value) {
            return Error{ErrorCode::invalid_argument, "the query has a bad escape"};
        }
        if (std::find(known.begin(), known.end(), *name) == known.end()) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("nothing is known of '{}' in the query", shown(*name))};
        }
        if (!values.emplace(*name, *value).second) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("'{}' is there twice in the query", shown(*name))};
        }
    }
    return values;
}

}  // namespace evenkeel::door
