// What only the system's files have; the rest is io/file_test.cc.
#include "io/system/files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/temporary_directory.h"

namespace evenkeel::io::system {
namespace {

mode_t mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
}

// A limit of this process, put back at the end.
class Limited {
public:
    Limited(__rlimit_resource resource, rlim_t value) : resource_(resource) {
        EXPECT_EQ(::getrlimit(resource_, &before_), 0);
        const rlimit limit{value, before_.rlim_max};
        EXPECT_EQ(::setrlimit(resource_, &limit), 0);
    }
    ~Limited() { ::setrlimit(resource_, &before_); }

private:
    __rlimit_resource resource_;
    rlimit before_{};
};

TEST(SystemFiles, are_hidden_from_others) {
    const test::TemporaryDirectory directory;
    SystemFiles files;

    ASSERT_TRUE(files.make_directory(directory.path() + "/d").ok());
    ASSERT_TRUE(files.open(directory.path() + "/d/a", OpenMode::create).ok());

    EXPECT_EQ(mode_of(directory.path() + "/d") & 0027, 0u);
    EXPECT_EQ(mode_of(directory.path() + "/d/a") & 0137, 0u);
}

TEST(SystemFiles, are_hidden_from_the_group_too_when_they_are_private) {
    const test::TemporaryDirectory directory;
    SystemFiles files;
    const std::string path = directory.path() + "/keys";

    ASSERT_TRUE(replace_file(files, path, as_bytes("secret"), OpenMode::create_private).ok());
    ASSERT_TRUE(replace_file(files, path, as_bytes("another"), OpenMode::create_private).ok());

    EXPECT_EQ(mode_of(path) & 0177, 0u);
}

TEST(SystemFiles, know_what_a_rename_may_replace) {
    const test::TemporaryDirectory directory;
    SystemFiles files;
    const auto path = [&](const std::string& name) { return directory.path() + "/" + name; };
    ASSERT_TRUE(replace_file(files, path("file"), as_bytes("text")).ok());
    ASSERT_EQ(::chmod(path("file").c_str(), 0), 0);
    ASSERT_EQ(::symlink("file", path("link").c_str()), 0);
    ASSERT_EQ(::symlink("nothing", path("dangling").c_str()), 0);
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    ASSERT_EQ(::symlink("pipe", path("link-to-pipe").c_str()), 0);

    EXPECT_FALSE(is_replaceable(path("free")).value());
    for (const char* name : {"file", "link", "dangling"}) {
        EXPECT_TRUE(is_replaceable(path(name)).value()) << name;
    }
    for (const char* name : {"pipe", "link-to-pipe", ""}) {
        EXPECT_EQ(is_replaceable(path(name)).error().code, ErrorCode::invalid_argument) << name;
    }
    EXPECT_FALSE(is_replaceable(path("file/below")).ok());
}

TEST(SystemFiles, write_more_than_one_call_takes) {
    const test::TemporaryDirectory directory;
    SystemFiles files;
    const std::string path = directory.path() + "/a";
    const auto file = *files.open(path, OpenMode::create);
    std::vector<std::byte> content(3 << 20);
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<std::byte>(i * 7);

    ASSERT_TRUE(file->write(0, content).ok());

    EXPECT_EQ(*read_file(files, path, 4 << 20), content);
}

TEST(SystemFiles, say_that_a_device_is_full) {
    SystemFiles files;
    const auto file = files.open("/dev/full", OpenMode::write);
    if (!file.ok()) GTEST_SKIP() << "no /dev/full here: " << file.error().detail;

    const auto written = (*file)->write(0, as_bytes("x"));

    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().code, ErrorCode::overloaded);
    EXPECT_EQ(written.error().detail, "write /dev/full: No space left on device");
}

TEST(SystemFiles, say_that_a_file_is_too_large_after_writing_what_fits) {
    const test::TemporaryDirectory directory;
    SystemFiles files;
    const auto file = *files.open(directory.path() + "/a", OpenMode::create);
    ::signal(SIGXFSZ, SIG_IGN);
    const Limited limited(RLIMIT_FSIZE, 4096);

    const auto written = file->write(0, std::vector<std::byte>(10'000));

    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().code, ErrorCode::overloaded);
    EXPECT_EQ(*file->size(), 4096u);
}

TEST(SystemFiles, say_that_descriptors_ran_out) {
    const test::TemporaryDirectory directory;
    SystemFiles files;
    const Limited limited(RLIMIT_NOFILE, 3);

    const auto opened = files.open(directory.path() + "/a", OpenMode::create);

    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::overloaded);
}

TEST(SystemFiles, refuse_to_read_a_pipe_without_waiting_for_its_writer) {
    const test::TemporaryDirectory directory;
    SystemFiles files;
    const std::string path = directory.path() + "/pipe";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);

    const auto opened = files.open(path, OpenMode::read);

    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::unavailable);
    EXPECT_NE(opened.error().detail.find("not a regular file"), std::string::npos)
        << opened.error().detail;
}

TEST(SystemFiles, remove_a_link_but_not_what_it_leads_to) {
    const test::TemporaryDirectory directory;
    SystemFiles files;
    const std::string root = directory.path();
    ASSERT_TRUE(files.make_directory(root + "/kept").ok());
    ASSERT_TRUE(files.open(root + "/kept/a", OpenMode::create).ok());
    ASSERT_TRUE(files.make_directory(root + "/gone").ok());
    ASSERT_EQ(::symlink((root + "/kept").c_str(), (root + "/gone/link").c_str()), 0);

    ASSERT_TRUE(remove_tree(files, root + "/gone").ok());

    EXPECT_EQ(files.list(root + "/kept")->size(), 1u);
}

TEST(SystemFiles, do_not_leak_into_programs_we_start) {
    const test::TemporaryDirectory directory;
    SystemFiles files;
    const auto next = ::dup(1);  // the number that the next open gets
    ASSERT_GE(next, 0);
    ::close(next);

    const auto file = files.open(directory.path() + "/a", OpenMode::create);

    EXPECT_EQ(::fcntl(next, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(SystemLock, conflict_names_the_process_and_what_to_do) {
    const test::TemporaryDirectory directory;
    SystemFiles files;
    const std::string path = directory.path() + "/LOCK";
    const auto held = files.lock(path);
    ASSERT_TRUE(held.ok());

    const auto second = files.lock(path);

    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().detail, "lock " + path + ": held by process " +
                                         std::to_string(::getpid()) +
                                         "; stop it first, or use another folder");
}

TEST(SystemLock, a_file_left_behind_is_no_lock) {
    const test::TemporaryDirectory directory;
    SystemFiles files;
    const std::string path = directory.path() + "/LOCK";
    {
        const auto old = *files.open(path, OpenMode::create);
        ASSERT_TRUE(old->write(0, as_bytes("123456789012345\n")).ok());
    }

    const auto held = files.lock(path);

    ASSERT_TRUE(held.ok());
    EXPECT_EQ(as_text(*read_file(files, path, 100)), std::to_string(::getpid()) + "\n");
}

}  // namespace
}  // namespace evenkeel::io::system
