// Bytes as damage to a partition's folder and its journal: replay, recovery and reading must end,
// without a crash, and with memory in proportion to what is there. The input is a list of edits to
// the files of a small log:
//
//   0 what u8 | 1 file u8 | 2 position u16 | 4 size u8 | bytes
//
// Random bytes never pass a checksum, so some edits are a record, a mark, an index entry, or an
// entry or the header of a journal, with those bytes as fields and a checksum that holds.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "base/time_point.h"
#include "commitlog/journal.h"
#include "commitlog/journal_replay.h"
#include "commitlog/log.h"
#include "io/sim/disk.h"
#include "io/sim/scheduler.h"

namespace evenkeel::commitlog {
namespace {

const LogIdentity identity{{}, {1}};
const std::string directory = "p";
const std::string journals = "journal";

JournalOptions journal_options() {
    JournalOptions options;
    options.directory = journals;
    options.file_bytes_max = 4096;
    options.growth_bytes = 512;
    return options;
}

struct World {
    explicit World(std::unique_ptr<io::sim::Disk> on) : disk(std::move(on)) {}

    bool open() {
        const auto replayed = replay_journals(*disk, journals, [](const LogIdentity& who) {
            return who.partition == identity.partition ? std::optional(directory) : std::nullopt;
        });
        if (!replayed.ok() || !replayed->unreplayed.empty()) return false;
        journal = std::make_shared<Journal>(
            JournalContext{*disk, executor, background, loop.clock(), log_metrics},
            journal_options());
        LogOptions options;
        options.segment_bytes_max = 1024;
        options.index_distance = 256;
        options.tail_bytes_max = 0;
        auto opened = Log::open({*disk, loop, executor, log_metrics, journal.get()}, directory,
                                identity, options);
        if (opened.ok()) log = std::move(*opened);
        return opened.ok();
    }
    void append(std::size_t events, std::size_t bytes) {
        const std::vector<std::byte> body(bytes);
        log->append(std::vector<NewEvent>(events, {{}, body}), [](const Result<Appended>&) {});
        scheduler.run_until_idle();
    }
    void read(const Position& position) {
        auto cursor = log->seek(position);
        if (!cursor.ok()) return;
        while (true) {
            auto step = log->read(*cursor, 500);
            if (std::holds_alternative<std::monostate>(step)) return;
            const auto* const cold = std::get_if<ColdRead>(&step);
            if (!cold) continue;
            const auto outcome = cold->perform();
            if (!outcome.ok()) return;
            const Offset before = cursor->next;
            log->advance(*cursor, *outcome);
            EK_CHECK(cursor->next > before, "a read moves on");
        }
    }

    std::unique_ptr<io::sim::Disk> disk;
    Metrics metrics;
    LogMetrics log_metrics{metrics};
    io::sim::Scheduler scheduler{1};
    io::sim::SimLoop loop{scheduler, "loop"};
    io::sim::SimExecutor executor{scheduler, "disk"};
    io::sim::SimExecutor background{scheduler, "background"};
    std::shared_ptr<Journal> journal;
    std::unique_ptr<Log> log;
};

// Three segments and a journal; with the files' names.
const io::sim::Disk& a_log() {
    static const std::unique_ptr<io::sim::Disk> disk = [] {
        auto fresh = std::make_unique<io::sim::Disk>();
        EK_CHECK(create_log(*fresh, directory, identity).ok(), "an empty disk takes a log");
        EK_CHECK(fresh->make_directory(journals).ok(), "an empty disk takes a folder");
        World world(std::move(fresh));
        EK_CHECK(world.open(), "a new log opens");
        for (std::size_t i = 0; i < 20; ++i) world.append(1 + i % 3, 10 * i);
        return world.disk->kill();
    }();
    return *disk;
}

// Fields from the input: as many as it has, then zeros.
struct Fields {
    std::array<std::int64_t, 8> values{};
    explicit Fields(ByteView bytes) {
        const std::size_t size = std::min(bytes.size(), sizeof values);
        if (size > 0) std::memcpy(values.data(), bytes.data(), size);
    }
};

std::vector<std::byte> forged(unsigned what, ByteView bytes) {
    const std::uint32_t seed = identity.seed();
    const auto [a, b, c, d, e, f, g, h] = Fields(bytes).values;
    std::vector<std::byte> result;
    switch (what) {
        case 0: {
            const Record record{
                {a}, {b}, {c},  static_cast<std::uint32_t>(d), static_cast<std::uint32_t>(e),
                {f}, {},  bytes};
            result.resize(stored_bytes(record));
            encode(record, seed, result.data());
            break;
        }
        case 1: {
            const Mark mark{static_cast<std::uint64_t>(a), {b}, {c}, {d}, {e}, {f},
                            static_cast<std::uint32_t>(g)};
            const auto slot = encode(mark, seed);
            result.assign(slot.begin(), slot.end());
            break;
        }
        case 2: {
            append_encoded({{a}, {b}, {c}}, seed, result);
            break;
        }
        case 3: {
            // Its nonce keeps others from making one up; what rots is refused by its checksum.
            const JournalHeader header{static_cast<std::uint64_t>(a % 4), {}};
            const LogIdentity whose{identity.incarnation, {static_cast<std::uint32_t>(b % 2)}};
            const std::int64_t base = d % 65536;
            const std::size_t size = bytes.size() / 8 * 8;
            std::byte* const payload = begin_entry({whose, {{c}, {base}}, {base + e % 8192}},
                                                   header.generation, size, result);
            std::copy_n(bytes.begin(), size, payload);
            seal_entry(size, header.seed(), payload);
            break;
        }
        case 4: {
            const auto header = encode(JournalHeader{static_cast<std::uint64_t>(a % 4), {}});
            result.assign(header.begin(), header.begin() + journal_header_bytes);
            break;
        }
        default: result.assign(bytes.begin(), bytes.end());
    }
    (void)h;
    return result;
}

void damage(io::sim::Disk& disk, ByteView& input) {
    const auto what = static_cast<unsigned>(input[0]);
    const auto position = load<std::uint16_t>(input.data() + 2);
    const auto size = std::min<std::size_t>(static_cast<std::size_t>(input[4]), input.size() - 5);
    const ByteView bytes = input.subspan(5, size);
    const auto paths = disk.files();
    if (!paths.empty()) {
        const std::string& path = paths[static_cast<std::size_t>(input[1]) % paths.size()];
        const std::uint64_t at = position % (disk.file_size(path) + 1);
        const auto file = disk.open(path, io::OpenMode::write);
        switch (what % 8) {
            case 6: (void)(*file)->truncate(at); break;
            case 7: (void)disk.remove(path); break;
            default:
                // Where such a thing would lie, or anywhere.
                (void)(*file)->write(what & 8 ? at : at / 8 * 8, forged(what % 8, bytes));
        }
    }
    input = input.subspan(5 + size);
}

}  // namespace
}  // namespace evenkeel::commitlog

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace evenkeel;
    set_trace_level(TraceLevel::off);
    auto disk = commitlog::a_log().kill();
    ByteView input(reinterpret_cast<const std::byte*>(data), size);
    while (input.size() >= 5) commitlog::damage(*disk, input);
    for (int start = 0; start < 2; ++start) {
        commitlog::World world(std::move(disk));
        if (!world.open()) return 0;
        world.read(Position::earliest());
        world.read(Position::at_sequence(7));
        world.read(Position::at_time(time_point({1'767'225'600'000})));
        world.append(2, 30);
        world.read(Position::earliest());
        disk = world.disk->kill();
    }
    return 0;
}
