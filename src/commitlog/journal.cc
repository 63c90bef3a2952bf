#include "commitlog/journal.h"

#include <algorithm>
#include <cstring>

#include "base/canary.h"
#include "base/check.h"
#include "base/log.h"
#include "commitlog/journal_replay.h"

namespace evenkeel::commitlog {
namespace {

// Until segments that could not be synced are tried again: each try reads the journal, and disks
// that fail once often fail for long.
constexpr Duration retry_pause_min = std::chrono::seconds(1);
constexpr Duration retry_pause_max = std::chrono::seconds(60);

Duration next_pause(Duration pause) {
    return std::clamp(pause * 2, retry_pause_min, retry_pause_max);
}

// Of one growth, in units of JournalOptions::growth_bytes: more would delay the syncs beside it.
constexpr std::uint64_t growth_steps_max = 16;

// Synced piece by piece, because a sync of entries beside it writes out what it finds.
Result<> write_zeros(io::File& file, std::uint64_t from, std::uint64_t to) {
    constexpr std::uint64_t piece_bytes = std::uint64_t{256} << 10;
    const std::vector<std::byte> zeros(std::min(piece_bytes, to - from));
    for (std::uint64_t at = from; at < to; at += zeros.size()) {
        const auto size = std::min<std::uint64_t>(zeros.size(), to - at);
        EK_TRY(file.write(at, ByteView(zeros).first(size)));
        EK_TRY(file.sync());
    }
    return {};
}

}  // namespace

// The segments of a full file on their way to the disk, one after the other.
struct Journal::Settling {
    struct Item {
        std::shared_ptr<JournaledSegment> segment;
        JournaledSegment::Progress at;
        bool suspect = false;
        Result<> result;
    };
    JournalFile* file = nullptr;
    std::uint64_t generation = 0;
    std::vector<Extent> extents;
    std::vector<Item> items;
    std::size_t next = 0;
};

void JournaledSegment::settle(const Progress& at) {
    settled.flushes = std::max(settled.flushes, at.flushes);
    settled.failures = std::max(settled.failures, at.failures);
}

void JournaledSegment::note_sync(bool ok) {
    if (!is_dirty()) return;
    if (!ok) {
        ++reached.failures;
    } else if (!is_suspect()) {
        settle(reached);
    }
}

Journal::Journal(const JournalContext& context, JournalOptions options)
    : context_(context), options_(std::move(options)) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
        files_[i].path =
            options_.directory + "/" + options_.name + static_cast<char>('a' + i) + journal_suffix;
    }
}

Result<bool> Journal::prepare(std::uint64_t bytes) {
    tend();
    EK_TRY(mend());
    const std::uint64_t size = journal_entry_header_bytes + bytes;
    const bool fits = bytes <= std::min(options_.entry_bytes_max, journal_entry_bytes_max) &&
                      journal_entries_at + size <= options_.file_bytes_max;
    if (fits && has_room(size)) return true;
    // What waits goes to the file that it was meant for, and before a flush that takes its time.
    commit();
    EK_TRY(mend());
    if (!fits) return false;
    if (current_ && !is_whole(*current_)) {
        grow_in_background(*current_);
        // One that cannot grow is full as it is.
        if (growing_ || current_->end == 0) return false;
    }
    leave_file();
    return start_file() && has_room(size);
}

bool Journal::has_room(std::uint64_t bytes) const {
    if (!current_) return false;
    const std::uint64_t header = current_->end == 0 ? journal_entries_at : 0;
    const std::uint64_t before = group_.empty() ? header : group_.size();
    return current_->end + before + bytes <= current_->room;
}

void Journal::add(std::shared_ptr<JournaledSegment> segment, Offset from,
                  const std::vector<Tail::Piece>& pieces, Done done, Task afterwards) {
    EK_CHECK(current_ && !failed_, "a journal is prepared for each entry");
    if (current_->end == 0 && group_.empty()) {
        const auto header = encode(current_->header);
        group_.assign(header.begin(), header.end());
    }
    std::size_t bytes = 0;
    for (const auto& piece : pieces) bytes += piece.bytes().size();
    std::byte* const payload = begin_entry({segment->identity, segment->name, from},
                                           current_->header.generation, bytes, group_);
    std::byte* to = payload;
    for (const auto& piece : pieces) {
        const ByteView part = piece.bytes();
        std::memcpy(to, part.data(), part.size());
        to += part.size();
    }
    seal_entry(bytes, current_->header.seed(), payload);
    waiting_.push_back({std::move(segment), std::move(done), std::move(afterwards)});
    if (group_.size() >= options_.group_bytes_max) return commit();
    if (commit_posted_) return;
    // Behind the flushes that wait for this thread already, so that they share the sync.
    commit_posted_ = true;
    context_.disk.post([self = shared_from_this()] {
        self->commit_posted_ = false;
        self->commit();
    });
}

void Journal::commit() {
    if (waiting_.empty()) return;
    check_state();
    const Result<> result = write_group();
    if (result.ok()) {
        for (const auto& entry : waiting_) {
            ++entry.segment->reached.flushes;
            if (entry.segment->generation == current_->header.generation) continue;
            entry.segment->generation = current_->header.generation;
            current_->segments.push_back(entry.segment);
        }
    } else {
        failed_ = true;
        trace(TraceLevel::error, "the journal cannot be written; its appends are refused",
              {{"file", current_->path}, {"cause", result.error().detail}});
    }
    group_.clear();
    std::vector<Waiting> waiting;
    waiting.swap(waiting_);
    for (auto& entry : waiting) entry.done(result);
    if (!result.ok()) return;
    for (auto& entry : waiting) entry.afterwards();
    grow_ahead();
}

Result<> Journal::write_group() {
    EK_TRY(current_->file->write(current_->end, group_));
    if (!EK_CANARY(ack_before_journal_sync)) {
        const Instant before = context_.clock.now();
        auto result = current_->file->sync();
        context_.metrics.syncs.add();
        context_.metrics.sync_time.observe((context_.clock.now() - before).count());
        EK_TRY(std::move(result));
    }
    current_->end += group_.size();
    return {};
}

// The file with room is left: its segments go to the disk, then it can be used again (JOURNAL-2).
void Journal::leave_file() {
    if (current_) current_->state = State::full;
    current_ = nullptr;
    tend();
}

void Journal::tend() {
    if (failed_ || closed_) return;
    for (auto& file : files_) {
        if (settling_ || failed_) return;
        if (file.state != State::full || context_.clock.now() < file.retry_at) continue;
        // What waits may be in its segment since before a sync of that failed. Only what is in the
        // journal is written anew.
        commit();
        if (!failed_) settle_in_background(file);
    }
}

// False if there is none: the caller does without the journal.
bool Journal::start_file() {
    if (closed_) return false;
    const auto unused = std::find_if(files_.begin(), files_.end(), [](const JournalFile& file) {
        return file.state == State::unused;
    });
    if (unused == files_.end() || (!unused->file && !make_file(*unused).ok())) return false;
    current_ = unused;
    current_->state = State::filling;
    current_->header = {++generation_, options_.nonce};
    current_->end = 0;
    return true;
}

// On a full disk not for each flush.
Result<> Journal::make_file(JournalFile& file) {
    if (context_.clock.now() < grow_at_) {
        return Error{ErrorCode::unavailable,
                     file.path + ": it could not be made, and is tried later"};
    }
    auto created = create_file(file);
    if (!created.ok()) {
        file.file.reset();
        growth_pause_ = next_pause(growth_pause_);
        grow_at_ = context_.clock.now() + growth_pause_;
    }
    return created;
}

Result<> Journal::create_file(JournalFile& file) {
    auto opened = context_.files.open(file.path, io::OpenMode::create);
    if (!opened.ok() && opened.error().code == ErrorCode::already_exists) {
        // Left over from a creation that failed: nothing was ever acknowledged in it.
        opened = context_.files.open(file.path, io::OpenMode::write);
        if (opened.ok()) EK_TRY((*opened)->truncate(0));
    }
    if (!opened.ok()) return opened.error();
    file.file = std::move(*opened);
    file.room = std::min(options_.file_bytes_max, options_.growth_bytes);
    auto written = write_zeros(*file.file, 0, file.room);
    if (written.ok()) return context_.files.sync_directory(options_.directory);
    (void)file.file->truncate(0);  // others may need the room
    return written;
}

// When half of the file is used up it grows; a whole one is followed by the other one.
void Journal::grow_ahead() {
    if (growing_ || closed_ || !current_ || current_->end < current_->room / 2) return;
    JournalFile& other = &files_[0] == current_ ? files_[1] : files_[0];
    JournalFile& file = is_whole(*current_) ? other : *current_;
    if (&file == &other && other.state != State::unused) return;
    if (!file.file && !make_file(file).ok()) return;
    if (!is_whole(file)) grow_in_background(file);
}

// With a descriptor of its own: a failure that it is told of is not kept from the next commit.
void Journal::grow_in_background(JournalFile& file) {
    if (growing_ || closed_ || context_.clock.now() < grow_at_) return;
    growing_ = true;
    ++in_background_;
    const std::uint64_t step =
        std::clamp(file.room, options_.growth_bytes, options_.growth_bytes * growth_steps_max);
    const std::uint64_t room = std::min(options_.file_bytes_max, file.room + step);
    context_.background.post(
        [self = shared_from_this(), &file, path = file.path, from = file.room, room]() mutable {
            const auto grow = [&]() -> Result<> {
                EK_TRY_ASSIGN(const auto own, self->context_.files.open(path, io::OpenMode::write));
                auto written = write_zeros(*own, from, room);
                if (!written.ok()) (void)own->truncate(from);  // others may need the room
                return written;
            };
            auto result = grow();
            io::Executor& disk = self->context_.disk;
            disk.post([self = std::move(self), &file, room, result = std::move(result)] {
                self->finish_growth(file, room, result);
            });
        });
}

void Journal::finish_growth(JournalFile& file, std::uint64_t room, const Result<>& result) {
    growing_ = false;
    --in_background_;
    if (result.ok()) {
        file.room = room;
        growth_pause_ = Duration();
    } else {
        if (growth_pause_ == Duration::zero()) {
            trace(TraceLevel::warning,
                  "a journal file cannot grow; it is used as it is, and more flushes sync their "
                  "own segments",
                  {{"file", file.path}, {"cause", result.error().detail}});
        }
        growth_pause_ = next_pause(growth_pause_);
    }
    grow_at_ = context_.clock.now() + growth_pause_;
    finish_close_if_idle();
}

void Journal::settle_in_background(JournalFile& file) {
    auto settling = std::make_shared<Settling>();
    settling->file = &file;
    settling->generation = file.header.generation;
    settling->extents = extents();
    for (const auto& segment : file.segments) {
        if (!segment->is_dirty()) continue;
        settling->items.push_back({segment, segment->reached, segment->is_suspect(), {}});
    }
    file.state = State::settling;
    settling_ = true;
    ++in_background_;
    if (EK_CANARY(recycle_before_sync)) settling->items.clear();
    settle_next(std::move(settling));
}

// One segment for each task, so that others come in between.
void Journal::settle_next(std::shared_ptr<Settling> settling) {
    context_.background.post([self = shared_from_this(), settling = std::move(settling)]() mutable {
        if (settling->next < settling->items.size()) {
            auto& item = settling->items[settling->next++];
            item.result =
                make_durable(self->context_.files, settling->extents, *item.segment, item.suspect);
            return self->settle_next(std::move(settling));
        }
        io::Executor& disk = self->context_.disk;
        disk.post([self = std::move(self), settling = std::move(settling)] {
            self->finish_settling(*settling);
        });
    });
}

void Journal::finish_settling(Settling& settling) {
    settling_ = false;
    --in_background_;
    JournalFile& file = *settling.file;
    bool settled = true;
    for (auto& item : settling.items) {
        if (item.result.ok()) {
            item.segment->settle(item.at);
        } else {
            ++item.segment->reached.failures;
            // Said once for each use of the file, not with each try.
            if (file.pause == Duration::zero()) {
                trace(TraceLevel::error,
                      "a segment cannot be synced; the journal keeps its events and tries again",
                      {{"folder", item.segment->directory}, {"cause", item.result.error().detail}});
            }
        }
        // A sync of its writer may have failed meanwhile.
        if (item.segment->is_suspect()) settled = false;
    }
    if (file.state == State::settling && file.header.generation == settling.generation) {
        file.state = settled ? State::unused : State::full;
        if (settled) file.segments.clear();
        file.pause = settled ? Duration() : next_pause(file.pause);
        file.retry_at = context_.clock.now() + file.pause;
    }
    tend();
    finish_close_if_idle();
}

Result<> Journal::settle(JournaledSegment& segment, io::File& file) {
    if (!segment.is_dirty()) return {};
    if (!segment.is_suspect()) {
        auto synced = file.sync();
        context_.metrics.syncs.add();
        segment.note_sync(synced.ok());
        return synced;
    }
    const auto at = segment.reached;
    EK_TRY(make_durable(context_.files, extents(), segment, true));
    segment.settle(at);
    return {};
}

// With a descriptor of its own, which tells of every failure since it was opened, and of those that
// nobody has heard of yet. A segment that is gone needs nothing.
Result<> Journal::make_durable(io::FileSystem& files, const std::vector<Extent>& extents,
                               const JournaledSegment& segment, bool is_suspect) {
    auto opened = files.open(segment.directory + "/" + log_name(segment.name), io::OpenMode::write);
    if (!opened.ok()) {
        if (opened.error().code == ErrorCode::not_found) return {};
        return opened.error();
    }
    io::File& file = **opened;
    if (is_suspect && !EK_CANARY(skip_rewrite)) {
        const auto rewrite = [&](const JournalEntry& entry) -> Result<> {
            const auto& place = entry.place;
            const bool is_here = place.identity.incarnation == segment.identity.incarnation &&
                                 place.identity.partition == segment.identity.partition &&
                                 place.segment == segment.name;
            if (!is_here) return {};
            return file.write(file_position(place.segment.base, place.from), entry.bytes);
        };
        for (const auto& extent : extents) {
            EK_TRY_ASSIGN(const auto content, read_journal(files, extent.path, extent.bytes));
            // Used again since: all that was in it is in its segments (JOURNAL-2), and what is in
            // it now may not be acknowledged yet.
            if (content.header && content.header->generation > extent.generation) continue;
            EK_TRY_ASSIGN(const auto walk, for_each_entry(content, rewrite));
            if (walk.damages > 0 || walk.end != extent.bytes) {
                return Error{ErrorCode::corrupt,
                             extent.path +
                                 ": damaged, so that a segment whose sync failed cannot "
                                 "be written anew from it"};
            }
        }
    }
    return file.sync();
}

std::vector<Journal::Extent> Journal::extents() const {
    std::vector<Extent> extents;
    for (const auto& file : files_) {
        if (file.state != State::unused && file.end > 0)
            extents.push_back({file.path, file.end, file.header.generation});
    }
    return extents;
}

// JOURNAL-3
Result<> Journal::mend() {
    if (!failed_) return {};
    if (EK_CANARY(skip_mend)) {
        failed_ = false;
        return {};
    }
    if (in_background_ > 0) {
        return Error{ErrorCode::unavailable,
                     options_.directory + ": the journal failed and is being mended; try again"};
    }
    if (context_.clock.now() < mend_at_) {
        return Error{ErrorCode::unavailable,
                     options_.directory +
                         ": the journal failed and cannot be mended yet; it is tried again once a "
                         "second"};
    }
    auto mended = try_to_mend();
    if (mended.ok()) {
        failed_ = false;
    } else {
        mend_at_ = context_.clock.now() + retry_pause_min;
    }
    return mended;
}

Result<> Journal::try_to_mend() {
    EK_TRY(settle_all());
    return remove_files();
}

Result<> Journal::settle_all() {
    for (auto& file : files_) {
        for (const auto& segment : file.segments) {
            if (!segment->is_dirty()) continue;
            const auto at = segment->reached;
            auto result = make_durable(context_.files, extents(), *segment, segment->is_suspect());
            if (!result.ok()) {
                ++segment->reached.failures;
                return result;
            }
            segment->settle(at);
        }
    }
    return {};
}

Result<> Journal::remove_files() {
    for (auto& file : files_) {
        file.file.reset();
        auto removed = context_.files.remove(file.path);
        if (!removed.ok() && removed.error().code != ErrorCode::not_found) return removed;
    }
    EK_TRY(context_.files.sync_directory(options_.directory));
    for (auto& file : files_) {
        file.state = State::unused;
        file.segments.clear();
        file.end = 0;
        file.room = 0;
        file.pause = Duration();
        file.retry_at = {};
    }
    current_ = nullptr;
    return {};
}

void Journal::close(Done done) {
    EK_CHECK(!closed_, "a journal is closed once");
    closed_ = std::move(done);
    finish_close_if_idle();
}

void Journal::finish_close_if_idle() {
    if (!closed_ || in_background_ > 0) return;
    commit();
    auto result = settle_all();
    if (result.ok()) result = remove_files();
    Done done = std::move(closed_);
    closed_ = [](const Result<>&) {};  // stays closed
    done(result);
}

void Journal::check_state() const {
    EK_CHECK(!failed_, "nothing is written to a journal that failed");
    EK_CHECK(current_ && current_->state == State::filling && current_->file,
             "a journal has a file while entries wait for it");
    EK_CHECK(current_->end + group_.size() <= current_->room,
             "an entry was promised its room");  // JOURNAL-7
}

}  // namespace evenkeel::commitlog
