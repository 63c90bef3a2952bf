// A hub on a real disk that is full, or that turns read-only: a file system of our own in memory.
// Mounting it takes the rights of root; without them these tests are skipped.
#include <cerrno>
#include <cstring>

#include <sys/mount.h>

#include "io/system/files.h"
#include "support/temporary_directory.h"
#include <evenkeel/hub.h>

namespace evenkeel::fault {
namespace {

constexpr std::size_t disk_bytes = std::size_t{8} << 20;

// A small tmpfs, as long as the test runs.
class SmallDisk {
public:
    SmallDisk() {
        const std::string options = "size=" + std::to_string(disk_bytes);
        mounted_ = ::mount("evenkeel-test", directory_.path().c_str(), "tmpfs",
                           MS_NOSUID | MS_NODEV, options.c_str()) == 0;
        if (!mounted_) why_not_ = std::strerror(errno);
    }
    ~SmallDisk() {
        if (mounted_) ::umount2(directory_.path().c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    bool mounted() const { return mounted_; }
    const std::string& why_not() const { return why_not_; }
    const std::string& path() const { return directory_.path(); }

    // Takes all the room there is left.
    void fill() {
        auto file = files_.open(path() + "/filling", io::OpenMode::create).value();
        const std::vector<std::byte> bytes(4096);
        std::uint64_t at = 0;
        while (file->write(at, bytes).ok()) at += bytes.size();
    }
    void free() { files_.remove(path() + "/filling").value(); }

    bool set_read_only(bool read_only) {
        const unsigned long flags = MS_REMOUNT | MS_NOSUID | MS_NODEV | (read_only ? MS_RDONLY : 0);
        return ::mount(nullptr, path().c_str(), nullptr, flags, nullptr) == 0;
    }

private:
    const test::TemporaryDirectory directory_;
    io::system::SystemFiles files_;
    bool mounted_ = false;
    std::string why_not_;
};

std::unique_ptr<Hub> a_hub(const SmallDisk& disk) {
    HubOptions options;
    options.directory = disk.path() + "/hub";
    options.segment_bytes_max = 64 << 10;
    auto hub = Hub::open(options);
    EXPECT_TRUE(hub) << to_string(hub.error());
    return hub.ok() ? std::move(*hub) : nullptr;
}

std::string body(std::int64_t number) {
    return std::to_string(number) + std::string(1000, 'x');
}

// Sends bodies numbered by their sequence number until one is refused; that is returned.
Error send_until_refused(Hub& hub, std::int64_t& next) {
    while (true) {
        const auto receipt = hub.send("homes", body(next));
        if (!receipt.ok()) return receipt.error();
        EXPECT_EQ(receipt->first_sequence_number, next);
        ++next;
    }
}

void expect_all_readable(Hub& hub, std::int64_t end) {
    auto reader = hub.open_reader("homes", "$Default", 0, Position::earliest());
    ASSERT_TRUE(reader) << to_string(reader.error());
    std::int64_t next = 0;
    while (next < end) {
        const auto batch = (*reader)->read(1000, std::chrono::seconds(10));
        ASSERT_TRUE(batch) << to_string(batch.error());
        ASSERT_FALSE(batch->empty()) << "ends before " << next;
        for (const auto& event : *batch) {
            ASSERT_EQ(event.sequence_number, next);
            ASSERT_EQ(event.text(), body(next));
            ++next;
        }
    }
    EXPECT_EQ(next, end);
}

TEST(DiskFull, refuses_sends_reads_on_and_recovers_by_itself) {
    SmallDisk disk;
    if (!disk.mounted()) GTEST_SKIP() << "no right to mount a small disk: " << disk.why_not();
    auto hub = a_hub(disk);
    ASSERT_TRUE(hub->create("homes", {.partitions = 1}));
    std::int64_t next = 0;
    ASSERT_TRUE(hub->send("homes", body(next++)));
    disk.fill();

    const Error refused = send_until_refused(*hub, next);

    EXPECT_EQ(refused.code, ErrorCode::overloaded) << to_string(refused);
    expect_all_readable(*hub, next);

    disk.free();
    for (int i = 0; i < 100; ++i) {
        const auto receipt = hub->send("homes", body(next));
        ASSERT_TRUE(receipt) << to_string(receipt.error());
        EXPECT_EQ(receipt->first_sequence_number, next);
        ++next;
    }
    expect_all_readable(*hub, next);
    hub.reset();
    hub = a_hub(disk);
    expect_all_readable(*hub, next);
}

TEST(DiskFull, opens_and_reads_while_there_is_no_room) {
    SmallDisk disk;
    if (!disk.mounted()) GTEST_SKIP() << "no right to mount a small disk: " << disk.why_not();
    auto hub = a_hub(disk);
    ASSERT_TRUE(hub->create("homes", {.partitions = 1}));
    std::int64_t next = 0;
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(hub->send("homes", body(next++)));
    disk.fill();
    (void)send_until_refused(*hub, next);
    hub.reset();

    hub = a_hub(disk);

    ASSERT_TRUE(hub);
    expect_all_readable(*hub, next);
}

TEST(DiskReadOnly, refuses_to_open_naming_the_cause) {
    SmallDisk disk;
    if (!disk.mounted()) GTEST_SKIP() << "no right to mount a small disk: " << disk.why_not();
    auto hub = a_hub(disk);
    ASSERT_TRUE(hub->create("homes", {.partitions = 1}));
    std::int64_t next = 0;
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(hub->send("homes", body(next++)));
    hub.reset();
    if (!disk.set_read_only(true)) GTEST_SKIP() << "no right to remount: " << std::strerror(errno);

    const auto opened = Hub::open({.directory = disk.path() + "/hub"});

    // A hub that could not take an event is not opened, and says why.
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::unavailable) << to_string(opened.error());
    EXPECT_NE(opened.error().detail.find("Read-only"), std::string::npos)
        << to_string(opened.error());

    ASSERT_TRUE(disk.set_read_only(false));
    hub = a_hub(disk);
    ASSERT_TRUE(hub);
    expect_all_readable(*hub, next);
    ASSERT_TRUE(hub->send("homes", body(next++)));
    expect_all_readable(*hub, next);
}

}  // namespace
}  // namespace evenkeel::fault
