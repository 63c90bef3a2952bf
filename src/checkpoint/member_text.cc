#include "checkpoint/member_text.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "base/check.h"
#include "base/number.h"

namespace evenkeel::checkpoint {

namespace {

// By number: the state's place in this list.
struct KnownState {
    MemberState state;
    std::string_view name;
};
constexpr KnownState known_states[] = {
    {MemberState::active, "active"},
    {MemberState::leaving, "leaving"},
    {MemberState::unable, "unable"},
};
constexpr MemberState unknown_state = MemberState::leaving;

}  // namespace

std::int64_t state_number(MemberState state) {
    const auto* const found = std::ranges::find(known_states, state, &KnownState::state);
    EK_CHECK(found != std::end(known_states), "a state without a number");
    return found - std::begin(known_states);
}

MemberState state_numbered(std::int64_t number) {
    const bool is_known = number >= 0 && number < std::ssize(known_states);
    return is_known ? known_states[number].state : unknown_state;
}

std::string_view state_name(MemberState state) {
    return known_states[state_number(state)].name;
}

MemberState state_named(std::string_view name) {
    for (const KnownState& known : known_states) {
        if (known.name == name) return known.state;
    }
    return unknown_state;
}

std::string encode_offers(const std::vector<Offer>& offers) {
    std::string text;
    for (const Offer& offer : offers) {
        text += fmt::format("{}:{}:{};", offer.partition.value, offer.to.size(), offer.to);
    }
    return text;
}

std::vector<Offer> decode_offers(std::string_view text) {
    const auto number = [&]<typename T>(T) -> std::optional<T> {
        const auto value = take_number<T>(text);
        if (!value || !text.starts_with(':')) return std::nullopt;
        text.remove_prefix(1);
        return value;
    };
    std::vector<Offer> offers;
    while (!text.empty()) {
        const auto partition = number(std::uint32_t{0});
        if (!partition) break;
        const auto size = number(std::size_t{0});
        if (!size || text.size() <= *size || text[*size] != ';') break;
        offers.push_back({{*partition}, std::string(text.substr(0, *size))});
        text.remove_prefix(*size + 1);
    }
    return offers;
}

}  // namespace evenkeel::checkpoint
