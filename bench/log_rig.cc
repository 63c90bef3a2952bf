#include "bench/log_rig.h"

#include <latch>

#include <fmt/core.h>

#include "base/random.h"

namespace evenkeel::bench {

Result<std::unique_ptr<LogRig>> LogRig::make(const std::string& folder, const Options& options) {
    std::unique_ptr<LogRig> rig(new LogRig());
    rig->loop_.start();
    for (std::uint32_t i = 0; i < options.disk_threads; ++i) {
        rig->disks_.push_back(
            std::make_unique<io::system::WorkerThread>(fmt::format("disk/{}", i)));
    }
    if (options.journal) EK_TRY(rig->add_journals(folder + "/journal"));
    for (std::uint32_t i = 0; i < options.partitions; ++i) {
        const std::string path = fmt::format("{}/{}", folder, i);
        const commitlog::LogIdentity identity{{}, PartitionId{i}};
        EK_TRY(commitlog::create_log(rig->files_, path, identity));
        const std::size_t disk = i % rig->disks_.size();
        EK_TRY_ASSIGN(auto log, commitlog::Log::open(
                                    {rig->files_, rig->loop_, *rig->disks_[disk], rig->log_metrics_,
                                     options.journal ? rig->journals_[disk].get() : nullptr},
                                    path, identity, options.log));
        rig->logs_.push_back(std::move(log));
    }
    return rig;
}

Result<> LogRig::add_journals(const std::string& folder) {
    EK_TRY(files_.make_directory(folder));
    for (std::size_t i = 0; i < disks_.size(); ++i) {
        commitlog::JournalOptions options;
        options.directory = folder;
        options.name = std::to_string(i);
        journals_.push_back(std::make_shared<commitlog::Journal>(
            commitlog::JournalContext{files_, *disks_[i], background_, loop_.clock(), log_metrics_},
            std::move(options)));
    }
    return {};
}

LogRig::~LogRig() {
    if (!logs_.empty()) {
        std::latch closed(static_cast<std::ptrdiff_t>(logs_.size()));
        loop_.post([&] {
            for (auto& log : logs_) log->close([&closed] { closed.count_down(); });
        });
        closed.wait();
    }
    std::latch settled(static_cast<std::ptrdiff_t>(journals_.size()));
    for (std::size_t i = 0; i < journals_.size(); ++i) {
        disks_[i]->post([&, journal = journals_[i]] {
            journal->close([&settled](const Result<>&) { settled.count_down(); });
        });
    }
    settled.wait();
    for (auto& disk : disks_) disk->finish();
    background_.finish();
    loop_.stop();
    logs_.clear();
}

AppendLoad::AppendLoad(LogRig& rig, const Options& options)
    : rig_(rig), options_(options), bytes_(options.batch_events * options.event_bytes) {
    Random(7).fill(bytes_);
    for (std::size_t i = 0; i < options.batch_events; ++i) {
        batch_.push_back(
            {{}, ByteView(bytes_).subspan(i * options.event_bytes, options.event_bytes)});
    }
    for (std::uint32_t i = 0; i < options.client_threads; ++i) {
        clients_.push_back(std::make_unique<io::system::WorkerThread>(fmt::format("client/{}", i)));
    }
}

AppendLoad::~AppendLoad() {
    (void)stop();
}

std::size_t AppendLoad::stored_bytes_per_event() const {
    return commitlog::stored_bytes(0, options_.event_bytes);
}

void AppendLoad::start() {
    {
        Lock lock(mutex_);
        running_ = options_.writers;
    }
    rig_.loop().post([this] {
        for (const auto& log : rig_.logs()) last_.push_back(log->properties().last_sequence);
        for (std::uint32_t writer = 0; writer < options_.writers; ++writer) append(writer);
    });
}

Result<> AppendLoad::stop() {
    stopping_ = true;
    {
        Lock lock(mutex_);
        while (running_ > 0) finished_.wait(mutex_);
    }
    Result<> result;
    io::system::run_and_wait(rig_.loop(), [&] {
        if (error_) result = *error_;
    });
    return result;
}

void AppendLoad::append(std::uint32_t writer) {
    auto& log = *rig_.logs()[writer % rig_.logs().size()];
    log.append(batch_, [this, writer](Result<commitlog::Appended> result) {
        on_done(writer, std::move(result));
    });
}

void AppendLoad::on_done(std::uint32_t writer, Result<commitlog::Appended> result) {
    SequenceNumber& last = last_[writer % last_.size()];
    if (!result.ok()) {
        error_ = result.error();
    } else if (result->first != last + 1 ||
               result->last != last + static_cast<std::int64_t>(options_.batch_events)) {
        error_ = Error{ErrorCode::corrupt, fmt::format("event {} was acknowledged as number {}",
                                                       last.value + 1, result->first.value)};
    } else {
        last = result->last;
        events_.fetch_add(options_.batch_events, std::memory_order_relaxed);
    }
    if (error_ || stopping_.load(std::memory_order_relaxed)) {
        finish_one();
    } else if (clients_.empty()) {
        append(writer);
    } else {
        clients_[writer % clients_.size()]->post(
            [this, writer] { rig_.loop().post([this, writer] { append(writer); }); });
    }
}

void AppendLoad::finish_one() {
    Lock lock(mutex_);
    if (--running_ == 0) finished_.notify_all();
}

}  // namespace evenkeel::bench
