// The bytes of one simulated file, in pages that copies share until one of them changes a page: a
// copy costs one pointer per 4 KiB, a page that was never written costs none.
//
// Invariant: the bytes of the last page past size() are zero, so that growing needs no clearing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/bytes.h"

namespace evenkeel::io::sim {

class Content {
public:
    std::uint64_t size() const { return size_; }

    // Returns how much there was.
    std::size_t read(std::uint64_t position, ByteSpan buffer) const {
        if (position >= size_) return 0;
        const std::size_t count = std::min<std::uint64_t>(buffer.size(), size_ - position);
        for (std::size_t done = 0; done < count;) {
            const std::size_t at = (position + done) % page_bytes;
            const std::size_t part = std::min(count - done, page_bytes - at);
            const auto& page = pages_[(position + done) / page_bytes];
            if (page) {
                std::memcpy(buffer.data() + done, page->data() + at, part);
            } else {
                std::memset(buffer.data() + done, 0, part);
            }
            done += part;
        }
        return count;
    }

    // Grows as needed, with zeros before `position`.
    void write(std::uint64_t position, ByteView bytes) {
        if (bytes.empty()) return;
        if (position + bytes.size() > size_) resize(position + bytes.size());
        for (std::size_t done = 0; done < bytes.size();) {
            const std::size_t at = (position + done) % page_bytes;
            const std::size_t part = std::min(bytes.size() - done, page_bytes - at);
            Page& page = edit((position + done) / page_bytes);
            std::memcpy(page.data() + at, bytes.data() + done, part);
            done += part;
        }
    }

    void resize(std::uint64_t size) {
        pages_.resize((size + page_bytes - 1) / page_bytes);
        const std::size_t end = size % page_bytes;
        if (size < size_ && end != 0 && pages_.back()) {
            Page& last = edit(pages_.size() - 1);
            std::fill(last.begin() + static_cast<std::ptrdiff_t>(end), last.end(), std::byte{0});
        }
        size_ = size;
    }

private:
    static constexpr std::size_t page_bytes = 4096;
    using Page = std::array<std::byte, page_bytes>;

    Page& edit(std::size_t index) {
        auto& page = pages_[index];
        if (!page) {
            page = std::make_shared<Page>();
        } else if (page.use_count() > 1) {
            page = std::make_shared<Page>(*page);
        }
        return *page;
    }

    std::vector<std::shared_ptr<Page>> pages_;  // null: all zeros
    std::uint64_t size_ = 0;
};

}  // namespace evenkeel::io::sim
