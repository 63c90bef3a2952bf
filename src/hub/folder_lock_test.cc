#include "hub/folder_lock.h"

#include "hub/hub_fixture.h"

namespace evenkeel::hub {
namespace {

using namespace std::chrono_literals;

const std::string lock_path = test_folder + "/lock";

class FolderLockTest : public testing::Test, public HubFixture {
protected:
    void SetUp() override {
        ASSERT_TRUE(open().ok());
        hub->start();
        ASSERT_TRUE(create("eh1").ok());
    }
    Result<commitlog::Appended> store(const std::string& body) { return append("eh1", 0, {body}); }
    // The error of another server that starts now.
    ErrorCode second() {
        const auto opened = open_data_folder(*disk, test_folder);
        return opened.ok() ? ErrorCode{} : opened.error().code;
    }
    // A process of a version that knows only of the file.
    std::unique_ptr<io::FileLock> lock_of_an_older_version() {
        EXPECT_TRUE(disk->remove(lock_path).ok());
        return *disk->lock(lock_path);
    }
};

TEST_F(FolderLockTest, holds_when_the_lock_file_is_removed) {
    ASSERT_TRUE(disk->remove(lock_path).ok());

    EXPECT_EQ(second(), ErrorCode::conflict);
    EXPECT_TRUE(store("a").ok());
    EXPECT_EQ(second(), ErrorCode::conflict);
    ASSERT_TRUE(reopen().ok());
    EXPECT_EQ(*read("eh1", 0), Bodies{"a"});
}

TEST_F(FolderLockTest, holds_when_the_lock_file_is_replaced) {
    ASSERT_TRUE(disk->remove(lock_path).ok());
    ASSERT_TRUE(io::replace_file(*disk, lock_path, as_bytes("1\n")).ok());

    EXPECT_EQ(second(), ErrorCode::conflict);
    EXPECT_TRUE(store("a").ok());
    EXPECT_EQ(disk->lock(lock_path).error().code, ErrorCode::conflict) << "taken again";
}

TEST_F(FolderLockTest, makes_a_removed_lock_file_again_when_idle) {
    ASSERT_TRUE(disk->remove(lock_path).ok());

    run_for(2s);

    EXPECT_EQ(disk->lock(lock_path).error().code, ErrorCode::conflict);
}

TEST_F(FolderLockTest, stores_nothing_once_another_process_has_the_lock_file) {
    ASSERT_TRUE(store("a").ok());
    auto other = lock_of_an_older_version();
    const auto before = disk->operations();

    const auto refused = store("b");

    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
    EXPECT_NE(refused.error().detail.find("lock"), std::string::npos) << refused.error().detail;
    EXPECT_FALSE(create("eh2").ok());
    other.reset();
    EXPECT_FALSE(store("c").ok()) << "what the other one did is not known";
    close();
    EXPECT_EQ(disk->operations(), before + 2) << "looks at the lock file; not even the mark";
    ASSERT_TRUE(open().ok());
    EXPECT_EQ(*read("eh1", 0), Bodies{"a"});
}

TEST_F(FolderLockTest, stores_nothing_once_the_folder_is_another) {
    ASSERT_TRUE(store("a").ok());
    ASSERT_TRUE(disk->rename(test_folder, "moved").ok());
    ASSERT_TRUE(disk->make_directory(test_folder).ok());

    EXPECT_FALSE(store("b").ok());
    EXPECT_FALSE(create("eh2").ok());
    kill();
    EXPECT_TRUE(disk->list(test_folder)->empty());
}

}  // namespace
}  // namespace evenkeel::hub
