#include "eventhubs/partition_key.h"

#include <bit>
#include <cstdlib>
#include <cstring>

#include "base/check.h"

namespace evenkeel::eventhubs {
namespace {

struct State {
    std::uint32_t a, b, c;

    void mix() {
        a -= c, a ^= std::rotl(c, 4), c += b;
        b -= a, b ^= std::rotl(a, 6), a += c;
        c -= b, c ^= std::rotl(b, 8), b += a;
        a -= c, a ^= std::rotl(c, 16), c += b;
        b -= a, b ^= std::rotl(a, 19), a += c;
        c -= b, c ^= std::rotl(b, 4), b += a;
    }
    void finish() {
        c ^= b, c -= std::rotl(b, 14);
        a ^= c, a -= std::rotl(c, 11);
        b ^= a, b -= std::rotl(a, 25);
        c ^= b, c -= std::rotl(b, 16);
        a ^= c, a -= std::rotl(c, 4);
        b ^= a, b -= std::rotl(a, 14);
        c ^= b, c -= std::rotl(b, 24);
    }
    void add(std::string_view block) {
        std::uint32_t words[3] = {0, 0, 0};
        std::memcpy(words, block.data(), block.size());
        a += words[0];
        b += words[1];
        c += words[2];
    }
};

}  // namespace

std::int16_t partition_key_hash(std::string_view key) {
    constexpr std::size_t block = 12;
    const auto start = 0xdeadbeef + static_cast<std::uint32_t>(key.size());
    State state{start, start, start};
    std::string_view rest = key;
    for (; rest.size() > block; rest.remove_prefix(block)) {
        state.add(rest.substr(0, block));
        state.mix();
    }
    if (!rest.empty()) {
        state.add(rest);
        state.finish();
    }
    return static_cast<std::int16_t>((state.c ^ state.b) & 0xffff);
}

PartitionId partition_of_key(std::string_view key, std::uint32_t partition_count) {
    EK_CHECK(partition_count > 0, "an event hub has a partition");
    const int hash = partition_key_hash(key);
    return {static_cast<std::uint32_t>(std::abs(hash % static_cast<int>(partition_count)))};
}

}  // namespace evenkeel::eventhubs
