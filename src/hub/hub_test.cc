// The hub as its users see it: real threads, real files, the public header.
#include <atomic>
#include <filesystem>
#include <set>

#include <gtest/gtest.h>

#include "io/file.h"
#include "io/system/files.h"
#include "io/system/loop.h"
#include "support/temporary_directory.h"
#include <evenkeel/hub.h>

namespace evenkeel {
namespace {

using namespace std::chrono_literals;
using io::system::WorkerThread;

// Longer than anything here takes, also under a sanitizer.
constexpr auto patience = 60s;

class World {
public:
    explicit World(HubOptions hub_options = {}) : options(std::move(hub_options)) {
        options.directory = folder.path() + "/data";
        open();
    }
    void open() {
        hub.reset();
        auto opened = Hub::open(options);
        ASSERT_TRUE(opened.ok()) << opened.error().detail;
        hub = std::move(*opened);
    }
    std::unique_ptr<Reader> reader(std::uint32_t partition,
                                   Position position = Position::earliest(),
                                   ReaderOptions reader_options = {}) {
        auto opened = hub->open_reader("h", "$Default", partition, position, reader_options);
        EXPECT_TRUE(opened.ok()) << opened.error().detail;
        return std::move(*opened);
    }
    // Reads so many texts, however many reads it takes.
    std::vector<std::string> texts(Reader& from, std::size_t count) {
        std::vector<std::string> all;
        while (all.size() < count) {
            const auto batch = from.read(count - all.size(), patience);
            if (!batch.ok() || batch->empty()) {
                ADD_FAILURE() << (batch.ok() ? "nothing came" : batch.error().detail);
                break;
            }
            for (const auto& event : *batch) all.emplace_back(event.text());
        }
        return all;
    }
    std::vector<std::filesystem::path> segments() {
        std::vector<std::filesystem::path> all;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(options.directory)) {
            if (entry.path().extension() == ".log") all.push_back(entry.path());
        }
        std::sort(all.begin(), all.end());
        return all;
    }

    test::TemporaryDirectory folder;
    HubOptions options;
    std::unique_ptr<Hub> hub;
};

using Texts = std::vector<std::string>;

TEST(Hub, starts_in_one_line_sends_and_reads) {
    const test::TemporaryDirectory folder;

    auto hub = Hub::open({.directory = folder.path() + "/data"}).value();
    hub->create("homes", {.partitions = 16}).value();
    const auto receipt = hub->send("homes", "door opened", {.partition_key = "home-17"}).value();
    auto reader =
        hub->open_reader("homes", "$Default", receipt.partition, Position::earliest()).value();
    const auto batch = reader->read(100, patience).value();

    ASSERT_EQ(batch.size(), 1u);
    EXPECT_EQ(batch[0].text(), "door opened");
    EXPECT_EQ(batch[0].partition_key, "home-17");
    EXPECT_EQ(batch[0].sequence_number, 0);
    EXPECT_EQ(batch[0].offset, 0);
    EXPECT_EQ(batch[0].enqueued_time, receipt.enqueued_time);
}

TEST(Hub, keeps_a_batch_together_in_one_partition) {
    World world;
    world.hub->create("h", {.partitions = 4}).value();
    const std::vector<std::string_view> bodies = {"a", "b", "", "d"};

    const auto receipt = world.hub->send("h", bodies, {.partition = 3}).value();

    EXPECT_EQ(receipt.partition, 3u);
    EXPECT_EQ(receipt.first_sequence_number, 0);
    EXPECT_EQ(receipt.last_sequence_number, 3);
    EXPECT_EQ(world.texts(*world.reader(3), 4), (Texts{"a", "b", "", "d"}));
    EXPECT_EQ(world.hub->describe("h", 3)->last_enqueued_offset, receipt.last_offset);
}

TEST(Hub, tells_what_there_is) {
    World world;
    world.hub->create("Homes", {.partitions = 2, .retention = 1h}).value();
    world.hub->create_group("homes", "audit").value();
    world.hub->send("homes", "x", {.partition = 1}).value();
    const auto reader = world.hub->open_reader("homes", "audit", 1, Position::latest()).value();

    const auto info = world.hub->describe("HOMES").value();
    const auto used = world.hub->describe("homes", 1).value();
    const auto unused = world.hub->describe("homes", 0).value();

    EXPECT_EQ(world.hub->list().size(), 1u);
    EXPECT_EQ(info.name, "Homes");
    EXPECT_EQ(info.options.partitions, 2u);
    EXPECT_EQ(info.options.retention, 1h);
    EXPECT_EQ(info.groups, (Texts{"$Default", "audit"}));
    EXPECT_GT(info.created_time, Timestamp());
    EXPECT_FALSE(used.is_empty);
    EXPECT_EQ(used.readers, 1u);
    EXPECT_EQ(used.last_enqueued_sequence_number, 0);
    EXPECT_TRUE(unused.is_empty);
    EXPECT_EQ(unused.begin_sequence_number, -1);
    EXPECT_TRUE(used.problems.empty());
    EXPECT_NE(world.hub->metrics().find("events"), std::string::npos);
}

TEST(Hub, refuses_what_does_not_exist_and_goes_on) {
    World world;
    world.hub->create("h", {.partitions = 1}).value();

    EXPECT_EQ(world.hub->send("x", "").error().code, ErrorCode::not_found);
    EXPECT_EQ(world.hub->send("h", "", {.partition = 1}).error().code, ErrorCode::not_found);
    EXPECT_EQ(world.hub->send("h", "", {.partition = 0, .partition_key = "k"}).error().code,
              ErrorCode::invalid_argument);
    EXPECT_EQ(world.hub->send("h", std::string(2 << 20, 'x')).error().code,
              ErrorCode::invalid_argument);
    EXPECT_EQ(world.hub->open_reader("h", "x", 0, Position::earliest()).error().code,
              ErrorCode::not_found);
    EXPECT_EQ(world.hub->open_reader("h", "$Default", 0, Position::at_sequence(5)).error().code,
              ErrorCode::invalid_argument);
    EXPECT_EQ(world.hub->purge("h", 7, 0).error().code, ErrorCode::not_found);
    EXPECT_EQ(world.hub->describe("x").error().code, ErrorCode::not_found);
    EXPECT_EQ(world.reader(0)->read(0, 0ms).error().code, ErrorCode::invalid_argument);
    EXPECT_TRUE(world.hub->send("h", "x").ok());
}

TEST(Hub, keeps_everything_when_it_is_opened_again) {
    World world;
    world.hub->create("h", {.partitions = 2}).value();
    for (int i = 0; i < 100; ++i) {
        world.hub->send("h", std::to_string(i), {.partition = 1}).value();
    }
    world.hub->purge("h", 1, 10).value();

    world.open();

    EXPECT_EQ(world.texts(*world.reader(1), 90).front(), "10");
    EXPECT_EQ(world.hub->send("h", "x", {.partition = 1})->first_sequence_number, 100);
}

TEST(Hub, keeps_its_folder_to_itself) {
    World world;

    const auto second = Hub::open(world.options);

    EXPECT_EQ(second.error().code, ErrorCode::conflict);
    EXPECT_NE(second.error().detail.find("data"), std::string::npos);
    EXPECT_TRUE(world.hub->create("h", {}).ok());
}

TEST(Hub, takes_events_from_many_threads_in_order_of_each) {
    World world;
    world.hub->create("h", {.partitions = 2}).value();
    constexpr int threads = 6;
    constexpr int events = 200;
    std::atomic<int> failed = 0;
    {
        std::vector<std::unique_ptr<WorkerThread>> senders;
        for (int t = 0; t < threads; ++t) {
            senders.push_back(std::make_unique<WorkerThread>("send/" + std::to_string(t)));
            senders.back()->post([&, t] {
                for (int i = 0; i < events; ++i) {
                    const std::string body = std::to_string(t) + ":" + std::to_string(i);
                    if (!world.hub->send("h", body, {.partition = 0}).ok()) ++failed;
                }
            });
        }
    }

    EXPECT_EQ(failed, 0);
    std::map<char, int> next;
    for (const auto& text : world.texts(*world.reader(0), threads * events)) {
        EXPECT_EQ(std::stoi(text.substr(2)), next[text[0]]++);
    }
    EXPECT_EQ(next.size(), static_cast<std::size_t>(threads));
}

TEST(Hub, changes_what_there_is_while_many_threads_send_and_read) {
    World world;
    world.hub->create("h", {.partitions = 1}).value();
    std::atomic<bool> stop = false;
    std::atomic<int> sent = 0;
    WorkerThread sender("send/0");
    WorkerThread other("send/1");
    WorkerThread watcher("watch/0");
    sender.post([&] {
        while (!stop) sent += world.hub->send("h", "x", {.partition = 0}).ok() ? 1 : 0;
    });
    other.post([&] {
        while (!stop) (void)world.hub->send("coming-and-going", "x");
    });
    watcher.post([&] {
        while (!stop) (void)world.hub->list();
    });

    for (std::uint32_t i = 0; i < 10; ++i) {
        EXPECT_TRUE(world.hub->create("coming-and-going", {.partitions = 3}).ok());
        EXPECT_TRUE(world.hub->alter("h", {.partitions = i + 2}).ok());
        EXPECT_TRUE(world.hub->create_group("h", "g").ok());
        EXPECT_TRUE(world.hub->remove_group("h", "g").ok());
        EXPECT_TRUE(world.hub->remove("coming-and-going").ok());
    }
    stop = true;
    sender.finish();
    other.finish();
    watcher.finish();

    EXPECT_EQ(world.hub->describe("h", 0)->last_enqueued_sequence_number, sent - 1);
    EXPECT_EQ(world.hub->describe("h")->options.partitions, 11u);
}

TEST(Hub, answers_everything_that_was_sent_before_it_is_destroyed) {
    World world;
    world.hub->create("h", {.partitions = 4}).value();
    std::atomic<int> answers = 0;
    constexpr int events = 500;
    for (int i = 0; i < events; ++i) {
        const std::string_view body = "x";
        world.hub->send_later("h", {&body, 1}, {}, [&](const Result<Receipt>&) { ++answers; });
    }

    world.hub.reset();

    EXPECT_EQ(answers, events);
}

TEST(Reader, is_one_of_five_at_most) {
    World world;
    world.hub->create("h", {.partitions = 1}).value();
    world.hub->send("h", "x").value();
    std::vector<std::unique_ptr<Reader>> readers;
    for (int i = 0; i < 5; ++i) readers.push_back(world.reader(0));

    EXPECT_EQ(world.hub->open_reader("h", "$Default", 0, Position::earliest()).error().code,
              ErrorCode::overloaded);
    for (const auto& reader : readers) EXPECT_EQ(world.texts(*reader, 1), (Texts{"x"}));
    readers.pop_back();
    EXPECT_TRUE(world.hub->open_reader("h", "$Default", 0, Position::earliest()).ok());
}

TEST(Reader, gives_nothing_when_nothing_comes_in_time) {
    World world;
    world.hub->create("h", {.partitions = 1}).value();
    const auto reader = world.reader(0);

    for (const auto wait : {0ms, 20ms, -5ms}) EXPECT_TRUE(reader->read(1, wait).value().empty());
}

TEST(Reader, hands_out_at_most_what_was_asked_for_and_goes_on_behind_it) {
    World world;
    world.hub->create("h", {.partitions = 1}).value();
    const std::vector<std::string_view> bodies = {"a", "b", "c", "d", "e"};
    world.hub->send("h", bodies, {}).value();
    const auto reader = world.reader(0);

    EXPECT_EQ(reader->read(2, patience)->size(), 2u);
    EXPECT_EQ(world.texts(*reader, 3), (Texts{"c", "d", "e"}));
}

TEST(Reader, is_woken_by_what_is_sent) {
    World world;
    world.hub->create("h", {.partitions = 1}).value();
    const auto reader = world.reader(0);
    WorkerThread thread("read/0");
    Result<EventBatch> batch = EventBatch();
    thread.post([&] { batch = reader->read(1, std::chrono::milliseconds::max()); });

    world.hub->send("h", "x").value();

    thread.finish();
    ASSERT_TRUE(batch.ok());
    EXPECT_EQ(batch->back().text(), "x");
}

TEST(Reader, that_waits_ends_when_it_is_closed) {
    World world;
    world.hub->create("h", {.partitions = 1}).value();
    const auto reader = world.reader(0);
    WorkerThread thread("read/0");
    Result<EventBatch> batch = EventBatch();
    thread.post([&] { batch = reader->read(1, patience); });

    reader->close();

    thread.finish();
    EXPECT_EQ(batch.error().code, ErrorCode::cancelled);
    reader->close();
    EXPECT_EQ(reader->read(1, 0ms).error().code, ErrorCode::cancelled);
    EXPECT_EQ(world.hub->describe("h", 0)->readers, 0u);
}

TEST(Reader, that_waits_ends_with_its_event_hub) {
    World world;
    world.hub->create("h", {.partitions = 1}).value();
    const auto reader = world.reader(0);
    WorkerThread thread("read/0");
    Result<EventBatch> batch = EventBatch();
    thread.post([&] { batch = reader->read(1, patience); });

    world.hub->remove("h").value();

    thread.finish();
    EXPECT_EQ(batch.error().code, ErrorCode::not_found);
}

TEST(Reader, drops_read_ahead_events_once_a_newer_one_attaches) {
    World world;
    world.hub->create("h", {.partitions = 1}).value();
    const std::vector<std::string_view> bodies = {"a", "b", "c"};
    world.hub->send("h", bodies, {}).value();
    const auto old = world.reader(0, Position::earliest(), {.epoch = 1, .name = "old"});
    ASSERT_EQ(world.texts(*old, 1), (Texts{"a"}));

    const auto newer = world.reader(0, Position::earliest(), {.epoch = 2, .name = "new"});

    const auto late = old->read(10, 0ms);
    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.error().code, ErrorCode::fenced);
    EXPECT_TRUE(late.error().detail.starts_with("New receiver 'new' with higher epoch of '2'"));
    EXPECT_EQ(world.texts(*newer, 3), (Texts{"a", "b", "c"}));
}

TEST(Reader, gets_nothing_of_what_was_read_ahead_after_it_was_closed) {
    World world;
    world.hub->create("h", {.partitions = 1}).value();
    const std::vector<std::string_view> bodies = {"a", "b"};
    world.hub->send("h", bodies, {}).value();
    const auto reader = world.reader(0);
    ASSERT_EQ(reader->read(1, patience)->size(), 1u);

    reader->close();

    EXPECT_EQ(reader->read(1, 0ms).error().code, ErrorCode::cancelled);
}

TEST(Reader, keeps_the_bytes_of_a_batch_alive_as_long_as_the_batch) {
    World world({.segment_bytes_max = 4096});
    world.hub->create("h", {.partitions = 1}).value();
    world.hub->send("h", "first").value();
    auto reader = world.reader(0);
    const auto batch = reader->read(1, patience).value();

    for (int i = 0; i < 100; ++i) world.hub->send("h", std::string(500, 'x')).value();
    world.hub->purge("h", 0, 90).value();
    reader.reset();
    world.hub.reset();

    EXPECT_EQ(batch[0].text(), "first");
}

// Ten events in sealed segments of one each, the hub closed.
void fill_segments(World& world) {
    world.hub->create("h", {.partitions = 1}).value();
    for (int i = 0; i < 10; ++i) world.hub->send("h", std::to_string(i)).value();
}

TEST(Reader, meets_damaged_events_once_by_name_and_goes_on_behind_them) {
    World world({.segment_bytes_max = 64});
    fill_segments(world);
    world.hub.reset();
    io::system::SystemFiles files;
    auto file = files.open(world.segments().at(4).string(), io::OpenMode::write).value();
    ASSERT_TRUE(file->write(64 + 60, as_bytes("damage")).ok());
    world.open();
    const auto reader = world.reader(0);
    Texts texts;
    Texts errors;

    while (texts.size() + errors.size() < 10) {
        const auto batch = reader->read(3, patience);
        if (!batch.ok()) {
            ASSERT_EQ(batch.error().code, ErrorCode::corrupt);
            errors.push_back(batch.error().detail);
            continue;
        }
        ASSERT_FALSE(batch->empty());
        for (const auto& event : *batch) texts.emplace_back(event.text());
    }

    EXPECT_EQ(texts, (Texts{"0", "1", "2", "3", "5", "6", "7", "8", "9"}));
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_TRUE(errors[0].starts_with("events 4 to 4 in ")) << errors[0];
    EXPECT_EQ(world.hub->describe("h", 0)->problems.size(), 1u);
}

TEST(Reader, meets_a_segment_that_was_deleted_under_it_as_damage) {
    World world({.segment_bytes_max = 64});
    fill_segments(world);
    world.open();  // nothing is in memory now
    std::filesystem::remove(world.segments().at(4));
    const auto reader = world.reader(0);
    EXPECT_EQ(world.texts(*reader, 4), (Texts{"0", "1", "2", "3"}));

    const auto gone = reader->read(1, patience);

    ASSERT_FALSE(gone.ok());
    EXPECT_EQ(gone.error().code, ErrorCode::corrupt);
    EXPECT_TRUE(gone.error().detail.starts_with("events 4 to 4 in ")) << gone.error().detail;
    EXPECT_EQ(world.texts(*reader, 5), (Texts{"5", "6", "7", "8", "9"}));
}

TEST(HubLifetime, a_reader_that_outlives_its_hub_answers_cancelled) {
    World world;
    ASSERT_TRUE(world.hub->create("h", {.partitions = 1}).ok());
    ASSERT_TRUE(world.hub->send("h", "one").ok());
    auto idle = world.reader(0);
    auto used = world.reader(0);
    const EventBatch kept = used->read(10, patience).value();

    world.open();  // closes the one before, and opens the same folder again

    EXPECT_EQ(used->read(10, patience).error().code, ErrorCode::cancelled);
    EXPECT_EQ(idle->read(10, patience).error().code, ErrorCode::cancelled);
    idle->close();
    EXPECT_EQ(idle->read(10, 0ms).error().code, ErrorCode::cancelled);
    EXPECT_EQ(kept[0].text(), "one") << "what was read stays";
    EXPECT_TRUE(world.hub->send("h", "two").ok()) << "the folder is free";
}

TEST(HubLifetime, a_waiting_reader_ends_with_its_hub) {
    World world;
    ASSERT_TRUE(world.hub->create("h", {.partitions = 1}).ok());
    auto reader = world.reader(0);
    WorkerThread thread("reader");
    std::optional<ErrorCode> code;
    thread.post([&] {
        const auto batch = reader->read(10, patience);
        if (!batch.ok()) code = batch.error().code;
    });

    world.hub.reset();
    thread.finish();

    EXPECT_EQ(code, ErrorCode::cancelled);
}

}  // namespace
}  // namespace evenkeel
