#include "cli/backup_file.h"

#include <gtest/gtest.h>

#include "base/hex.h"
#include "base/number.h"
#include "base/random.h"
#include "io/system/files.h"
#include "support/paths.h"
#include "support/temporary_directory.h"

namespace evenkeel::cli {
namespace {

using Kind = BackupReader::Item::Kind;
using Texts = std::vector<std::string>;

BackupHub a_hub() {
    return {"orders",
            2,
            86'400'000,
            1'000'000,
            1'700'000'000'000,
            1'700'000'100'000,
            {"$Default", "billing"}};
}

class BackupFile : public testing::Test {
protected:
    Result<> write(const std::string& name, std::size_t events) {
        EK_TRY_ASSIGN(auto writer, BackupWriter::create(files_, path(name), a_hub()));
        for (std::size_t i = 0; i < events; ++i) {
            const auto number = static_cast<std::int64_t>(i);
            const std::string body = "body " + std::to_string(i);
            EK_TRY(writer->add(0, {100 + number, 4096 + 64 * number, 1'700'000'000'000 + number,
                                   i % 2 == 0 ? "key" : "", as_bytes(body)}));
        }
        EK_TRY(writer->end_partition(0));
        EK_TRY(writer->end_partition(1));
        return writer->finish();
    }
    // Each event and the end of each partition, as text.
    Result<Texts> read(const std::string& name) {
        EK_TRY_ASSIGN(auto reader, BackupReader::open(files_, path(name)));
        Texts items;
        while (true) {
            EK_TRY_ASSIGN(const auto item, reader->next());
            if (item.kind == Kind::end) return items;
            const auto& event = item.event;
            items.push_back(
                item.kind == Kind::partition_end
                    ? "end " + std::to_string(item.ended.events)
                    : std::to_string(item.partition) + " " + std::to_string(event.sequence_number) +
                          " " + std::to_string(event.offset) + " " +
                          std::to_string(event.enqueued_ms) + " " + std::string(event.key) + " " +
                          std::string(as_text(event.sections)));
        }
    }
    // Without a sync: there are many of them.
    void put(const std::string& name, ByteView bytes) {
        (void)files_.remove(path(name));
        ASSERT_TRUE(files_.open(path(name), io::OpenMode::create).value()->write(0, bytes).ok());
    }
    std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
    std::vector<std::byte> bytes_of(const std::string& name) {
        return io::read_file(files_, path(name), 1 << 20).value();
    }

    io::system::SystemFiles files_;
    test::TemporaryDirectory folder_;
};

TEST_F(BackupFile, gives_back_settings_and_events) {
    ASSERT_TRUE(write("a", 3).ok());

    const auto hub = BackupReader::open(files_, path("a")).value()->hub();
    EXPECT_EQ(hub.name, "orders");
    EXPECT_EQ(hub.partitions, 2u);
    EXPECT_EQ(hub.retention_ms, 86'400'000);
    EXPECT_EQ(hub.partition_bytes_max, 1'000'000u);
    EXPECT_EQ(hub.created_ms, 1'700'000'000'000);
    EXPECT_EQ(hub.taken_ms, 1'700'000'100'000);
    EXPECT_EQ(hub.groups, (Texts{"$Default", "billing"}));
    EXPECT_EQ(read("a").value(),
              (Texts{"0 100 4096 1700000000000 key body 0", "0 101 4160 1700000000001  body 1",
                     "0 102 4224 1700000000002 key body 2", "end 3", "end 0"}));
}

TEST_F(BackupFile, splits_events_into_blocks) {
    const std::string large(BackupWriter::block_bytes * 2, 'x');
    auto writer = BackupWriter::create(files_, path("a"), a_hub()).value();
    for (std::int64_t i = 0; i < 5; ++i) {
        ASSERT_TRUE(writer->add(0, {i, i, i, "", as_bytes(i == 2 ? large : "small")}).ok());
    }
    ASSERT_TRUE(writer->end_partition(0).ok());
    ASSERT_TRUE(writer->end_partition(1).ok());
    ASSERT_TRUE(writer->finish().ok());
    EXPECT_EQ(read("a").value().size(), 7u);
}

TEST_F(BackupFile, appears_only_when_it_is_whole) {
    {
        auto writer = BackupWriter::create(files_, path("a"), a_hub()).value();
        ASSERT_TRUE(writer->add(0, {0, 0, 0, "", {}}).ok());
        EXPECT_FALSE(files_.open(path("a"), io::OpenMode::read).ok());
        EXPECT_TRUE(files_.open(path("a.partial"), io::OpenMode::read).ok());
    }
    EXPECT_FALSE(files_.open(path("a.partial"), io::OpenMode::read).ok()) << "it is cleaned up";
    // What a killed process left is replaced.
    ASSERT_TRUE(io::replace_file(files_, path("a.partial"), as_bytes("rubbish")).ok());
    ASSERT_TRUE(write("a", 1).ok());
    EXPECT_TRUE(read("a").ok());
    EXPECT_FALSE(files_.open(path("a.partial"), io::OpenMode::read).ok());
}

TEST_F(BackupFile, refuses_a_file_that_was_cut_off_anywhere) {
    ASSERT_TRUE(write("a", 3).ok());
    const auto whole = bytes_of("a");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        put("b", ByteView(whole).first(size));
        const auto items = read("b");
        ASSERT_FALSE(items.ok()) << size;
        EXPECT_EQ(items.error().code, ErrorCode::corrupt);
    }
    auto longer = whole;
    longer.push_back(std::byte{0});
    ASSERT_TRUE(io::replace_file(files_, path("b"), longer).ok());
    EXPECT_FALSE(read("b").ok());
}

TEST_F(BackupFile, refuses_a_file_with_any_bit_flipped) {
    ASSERT_TRUE(write("a", 2).ok());
    const auto whole = bytes_of("a");
    for (std::size_t at = 0; at < whole.size(); ++at) {
        if (at >= 12 && at < 16) continue;  // reserved
        auto changed = whole;
        changed[at] ^= std::byte{0x10};
        put("b", changed);
        EXPECT_FALSE(read("b").ok()) << at;
    }
}

TEST_F(BackupFile, says_which_events_are_good) {
    ASSERT_TRUE(write("a", 3).ok());
    auto bytes = bytes_of("a");
    bytes.resize(bytes.size() - 20);
    ASSERT_TRUE(io::replace_file(files_, path("b"), bytes).ok());

    const auto items = read("b");

    ASSERT_FALSE(items.ok());
    EXPECT_NE(items.error().detail.find("the file ends too early"), std::string::npos);

    bytes.resize(bytes.size() - 60);
    ASSERT_TRUE(io::replace_file(files_, path("b"), bytes).ok());
    const auto fewer = read("b");
    ASSERT_FALSE(fewer.ok());
    EXPECT_NE(fewer.error().detail.find("of partition 0 the events 100 to 102"), std::string::npos)
        << fewer.error().detail;
}

TEST_F(BackupFile, refuses_a_newer_version_and_other_files) {
    ASSERT_TRUE(write("a", 1).ok());
    auto bytes = bytes_of("a");
    bytes[8] = std::byte{2};
    ASSERT_TRUE(io::replace_file(files_, path("b"), bytes).ok());
    EXPECT_EQ(read("b").error().code, ErrorCode::unsupported);
    ASSERT_TRUE(io::replace_file(files_, path("b"), as_bytes("{\"body\":\"x\"}\n")).ok());
    EXPECT_EQ(read("b").error().detail, "it is not a back-up of an event hub");
    EXPECT_EQ(read("missing").error().code, ErrorCode::not_found);
}

TEST_F(BackupFile, survives_noise_without_a_crash) {
    ASSERT_TRUE(write("a", 20).ok());
    const auto whole = bytes_of("a");
    Random random(3);
    for (int i = 0; i < 1000; ++i) {
        auto changed = whole;
        for (int j = 0; j < 4; ++j) {
            changed[16 + random.below(changed.size() - 16)] =
                static_cast<std::byte>(random.next() & 0xff);
        }
        put("b", changed);
        const auto items = read("b");
        if (items.ok()) {
            EXPECT_EQ(changed, whole);
        }
    }
}

// Version 1 as it was when it was made: what reads it must read it for ever.
TEST_F(BackupFile, reads_the_golden_file_of_version_1) {
    const std::string name = test::data_path("backup_v1.hex");
    const auto stored = io::read_file(files_, name, 1 << 20);
    ASSERT_TRUE(stored.ok()) << stored.error().detail;
    std::vector<std::byte> bytes;
    std::string digits;
    for (const char c : as_text(*stored)) {
        if (c != '\n') digits += c;
        if (digits.size() < 2) continue;
        bytes.push_back(static_cast<std::byte>(parse_number<unsigned>(digits, 16).value()));
        digits.clear();
    }
    ASSERT_TRUE(io::replace_file(files_, path("golden"), bytes).ok());

    EXPECT_EQ(read("golden").value(),
              (Texts{"0 100 4096 1700000000000 key body 0", "0 101 4160 1700000000001  body 1",
                     "0 102 4224 1700000000002 key body 2", "end 3", "end 0"}));
    ASSERT_TRUE(write("new", 3).ok());
    EXPECT_EQ(to_hex(bytes_of("new")), to_hex(bytes)) << "what is written has not changed either";
}

}  // namespace
}  // namespace evenkeel::cli
