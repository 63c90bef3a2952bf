#include "base/spelling.h"

#include <algorithm>

namespace evenkeel {
namespace {

// How many letters lie between two words: insertions, removals and changes.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
        }
    }
    return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& words) {
    std::string best;
    std::size_t best_distance = word.size() > 4 ? 3 : 2;
    for (const auto& candidate : words) {
        if (const auto away = distance(word, candidate); away < best_distance) {
            best = candidate;
            best_distance = away;
        }
    }
    return best;
}

}  // namespace evenkeel
