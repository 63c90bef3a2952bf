#include "commitlog/segment_list.h"

#include <algorithm>

#include "base/check.h"

namespace evenkeel::commitlog {

SegmentList::SegmentList(io::FileSystem& files, std::string directory, const LogIdentity& identity,
                         const std::vector<RecoveredSegment>& recovered)
    : files_(files), directory_(std::move(directory)), identity_(identity) {
    for (const auto& segment : recovered) {
        const SegmentHeader header{segment.name, identity.incarnation, identity.partition,
                                   segment.last_record_bytes, segment.floor_time};
        entries_.push_back({header, segment.floor_known, segment.lost, true, {}});
    }
    check_state();
}

std::size_t SegmentList::holding(Offset offset) const {
    const auto after =
        std::upper_bound(entries_.begin(), entries_.end(), offset,
                         [](Offset wanted, const Entry& entry) { return wanted < entry.base(); });
    EK_CHECK(after != entries_.begin(), "an offset below the first segment is moved up first");
    return static_cast<std::size_t>(after - entries_.begin()) - 1;
}

// The newest event's time in a segment is the floor of the one behind it. Where a damaged header
// hides it, a later floor stands in: too late is safe, too early would remove live events.
WallTime SegmentList::last_time(std::size_t index, WallTime newest) const {
    for (std::size_t i = index + 1; i < entries_.size(); ++i) {
        if (entries_[i].floor_known) return entries_[i].header.floor_time;
    }
    return newest;
}

std::shared_ptr<SegmentFile> SegmentList::file(std::size_t index) const {
    const Entry& entry = entries_[index];
    auto file = entry.file.lock();
    if (!file) {
        file = std::make_shared<SegmentFile>(files_, directory_, entry.header.name);
        entry.file = file;
    }
    return file;
}

void SegmentList::add(const SegmentName& name, const EventBefore& before) {
    Entry entry;
    entry.header = {name, identity_.incarnation, identity_.partition, before.record_bytes,
                    before.time};
    entry.exists = false;
    entries_.push_back(std::move(entry));
    check_state();
}

void SegmentList::set_created(Offset base) {
    entries_[holding(base)].exists = true;
    check_state();
}

void SegmentList::remove_uncreated() {
    while (!entries_.back().exists) entries_.pop_back();
    check_state();
}

bool SegmentList::has_below(Offset start) const {
    return entries_.size() > 1 && entries_[1].exists && entries_[1].base() <= start;
}

std::vector<SegmentName> SegmentList::remove_below(Offset start) {
    std::vector<SegmentName> removed;
    while (has_below(start)) {
        removed.push_back(entries_.front().header.name);
        entries_.pop_front();
    }
    check_state();
    return removed;
}

void SegmentList::check_state() const {
    EK_CHECK(!entries_.empty() && entries_.front().exists, "a log has a segment on disk");
    if (entries_.size() == 1) return;
    const Entry& last = entries_.back();
    const Entry& before = entries_[entries_.size() - 2];
    EK_CHECK(before.base() <= last.base(), "segments rise");
    EK_CHECK(before.exists || !last.exists, "segments are created in turn");
}

}  // namespace evenkeel::commitlog
