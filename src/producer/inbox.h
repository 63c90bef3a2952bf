// Events on their way from the threads that enqueue them to the loop that sends them. The loop
// takes all at once: it is woken for the first one and when much has come, not for each, and looks
// by itself in between.
//
//     add() ──true: the first, or much──▶ take() on the loop
//       └───false: the loop looks again──▶ take()
//
// Invariant SEND-5: an event is taken once, in the order of the calls of add(), and while there is
// one, a take() is due. Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/guarded.h"
#include <evenkeel/hub.h>

namespace evenkeel::producer {

class Inbox {
public:
    // Beyond that the loop is woken: it is less than a batch.
    static constexpr std::size_t wake_bytes = std::size_t{64} << 10;

    // Copies of what was added; keeps its memory when it is cleared.
    class Events {
    public:
        template <typename Each>  // (partition, key, section)
        void for_each(Each each) const {
            std::size_t key = 0;
            std::size_t section = 0;
            for (const Entry& entry : entries_) {
                each(entry.partition, std::string_view(keys_).substr(key, entry.key_bytes),
                     ByteView(sections_).subspan(section, entry.section_bytes));
                key += entry.key_bytes;
                section += entry.section_bytes;
            }
        }
        bool empty() const { return entries_.empty(); }
        void clear();

    private:
        friend class Inbox;
        struct Entry {
            std::optional<std::uint32_t> partition;
            std::uint32_t key_bytes;
            std::size_t section_bytes;
        };
        std::vector<Entry> entries_;
        std::string keys_;
        std::vector<std::byte> sections_;
    };

    // True: take() has to be called soon, and nobody else will see to it.
    [[nodiscard]] bool add(const Route& route, ByteView section);
    // Swaps all events into `to`, which is empty. With `looks_again`, the caller calls it again if
    // there were any, after a moment; add() relies on it.
    void take(Events& to, bool looks_again);

private:
    struct State {
        Events events;
        bool is_awaited = false;  // a take() is due
        bool is_urgent = false;   // and soon
    };
    Guarded<State> state_;
};

}  // namespace evenkeel::producer
