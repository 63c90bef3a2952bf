// hub backup, restore and copy against real hubs: what is kept, what is refused, and what is left
// when one of them is killed.
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "base/bytes.h"
#include "io/system/files.h"
#include "process/cli/admin_relay.h"
#include "process/cli/dev_hub.h"

namespace evenkeel::cli_tests {
namespace {

class Backup : public CliTest {
protected:
    void SetUp() override {
        CliTest::SetUp();
        name_ = testing::UnitTest::GetInstance()->current_test_info()->name();
        name_.resize(std::min<std::size_t>(name_.size(), 30));
        while (name_.ends_with('_')) name_.pop_back();
        file_ = hub_->file(name_ + ".backup");
    }
    // Three partitions, a group, keys, properties, a retention.
    void make_hub() {
        ASSERT_EQ(evenkeel({"hub", "create", name_, "--partitions", "3", "--retention", "3d",
                            "--group", "billing"})
                      .exit_code,
                  0);
        ASSERT_EQ(evenkeel({"send", name_, "-p", "0", "-P", "n:int=5", "--content-type", "a/b",
                            "one", "two", "three"})
                      .exit_code,
                  0);
        for (const char* key : {"a", "b", "c", "d"}) {
            ASSERT_EQ(evenkeel({"send", name_, "--key", key, "keyed"}).exit_code, 0);
        }
    }
    static std::string events_of(const std::string& hub) {
        const auto read = evenkeel({"read", hub, "-f", "%p %s %o %d %k %c %h %v\\n"});
        EXPECT_EQ(read.exit_code, 0) << read.errors;
        return sorted(read.output);
    }
    static std::string sorted(const std::string& lines) {
        std::vector<std::string> all;
        for (std::size_t begin = 0; begin < lines.size();) {
            const auto end = lines.find('\n', begin);
            all.push_back(lines.substr(begin, end - begin + 1));
            begin = end + 1;
        }
        std::sort(all.begin(), all.end());
        std::string text;
        for (const auto& line : all) text += line;
        return text;
    }
    bool exists(const std::string& path) { return files_.open(path, io::OpenMode::read).ok(); }

    io::system::SystemFiles files_;
    std::string name_;
    std::string file_;
};

TEST_F(Backup, restores_an_event_hub_as_it_was) {
    make_hub();
    const std::string before = events_of(name_);
    const auto saved = evenkeel({"hub", "backup", name_, file_});
    ASSERT_EQ(saved.exit_code, 0) << saved.errors;
    EXPECT_TRUE(has(saved.errors, "backed up event hub '" + name_ + "': 7 events, 3 partitions, "))
        << saved.errors;
    ASSERT_EQ(evenkeel({"hub", "rm", name_, "--yes"}).exit_code, 0);

    const auto restored = evenkeel({"hub", "restore", file_});

    EXPECT_EQ(restored.exit_code, 0) << restored.errors;
    EXPECT_TRUE(has(restored.errors, "restored event hub '" + name_ + "': 7 events, 3 partitions"))
        << restored.errors;
    EXPECT_EQ(events_of(name_), before) << "numbers, offsets, times, keys and properties are kept";
    EXPECT_TRUE(has(evenkeel({"group", "ls", name_, "-o", "name"}).output, "billing\n"));
    EXPECT_TRUE(
        has(evenkeel({"hub", "show", name_, "-o", "json"}).output, "\"retention_ms\": 259200000"));
}

TEST_F(Backup, tells_how_sequence_numbers_have_moved) {
    make_hub();
    ASSERT_EQ(evenkeel({"hub", "purge", name_, "-p", "0", "--before", "2", "--yes"}).exit_code, 0);
    ASSERT_EQ(evenkeel({"hub", "backup", name_, file_, "-q"}).exit_code, 0);

    const auto restored = evenkeel({"hub", "restore", file_, "--as", name_ + "-2"});

    EXPECT_EQ(restored.exit_code, 0) << restored.errors;
    EXPECT_TRUE(has(restored.errors, "partition 0: sequence numbers are now lower by 2\n"))
        << restored.errors;
    const auto format = std::vector<std::string>{"-p", "0", "-f", "%d %v\\n"};
    auto from = std::vector<std::string>{"read", name_};
    auto to = std::vector<std::string>{"read", name_ + "-2"};
    from.insert(from.end(), format.begin(), format.end());
    to.insert(to.end(), format.begin(), format.end());
    EXPECT_EQ(evenkeel(to).output, evenkeel(from).output) << "enqueued times are kept";
}

TEST_F(Backup, does_not_merge_into_an_event_hub_with_events) {
    make_hub();
    ASSERT_EQ(evenkeel({"hub", "backup", name_, file_, "-q"}).exit_code, 0);
    const std::string before = events_of(name_);

    const auto refused = evenkeel({"hub", "restore", file_});

    EXPECT_EQ(refused.exit_code, 6) << refused.errors;
    EXPECT_TRUE(has(refused.errors, "has events, or had some")) << refused.errors;
    EXPECT_EQ(events_of(name_), before);
    EXPECT_EQ(evenkeel({"hub", "create", name_ + "-2", "--partitions", "2"}).exit_code, 0);
    EXPECT_EQ(evenkeel({"hub", "restore", file_, "--as", name_ + "-2"}).exit_code, 6);
}

TEST_F(Backup, refuses_a_damaged_file_before_it_changes_anything) {
    make_hub();
    ASSERT_EQ(evenkeel({"hub", "backup", name_, file_, "-q"}).exit_code, 0);
    EXPECT_EQ(evenkeel({"hub", "restore", file_, "--dry-run"}).exit_code, 10);
    auto bytes = io::read_file(files_, file_, 1 << 20).value();
    bytes[bytes.size() - 100] ^= std::byte{1};
    ASSERT_TRUE(io::replace_file(files_, file_, bytes).ok());

    const auto refused = evenkeel({"hub", "restore", file_, "--as", name_ + "-2"});

    EXPECT_EQ(refused.exit_code, 1) << refused.errors;
    EXPECT_TRUE(has(refused.errors, "nothing was restored from ")) << refused.errors;
    EXPECT_TRUE(has(refused.errors, "does not match its checksum")) << refused.errors;
    EXPECT_EQ(evenkeel({"hub", "show", name_ + "-2"}).exit_code, 3);
    EXPECT_EQ(evenkeel({"hub", "restore", "/no/such/file"}).exit_code, 3);
}

TEST_F(Backup, does_not_replace_a_file_unless_told) {
    make_hub();
    ASSERT_TRUE(io::replace_file(files_, file_, as_bytes("precious")).ok());

    EXPECT_EQ(evenkeel({"hub", "backup", name_, file_}).exit_code, 6);
    EXPECT_EQ(as_text(io::read_file(files_, file_, 100).value()), "precious");
    EXPECT_EQ(evenkeel({"hub", "backup", name_, file_, "--force"}).exit_code, 0);
    EXPECT_EQ(evenkeel({"hub", "backup", "nohub", file_ + "2"}).exit_code, 3);
    EXPECT_FALSE(exists(file_ + "2"));
    EXPECT_FALSE(exists(file_ + "2.partial"));
    EXPECT_NE(evenkeel({"hub", "backup", name_, "/no/folder/file"}).exit_code, 0);
    for (const auto& more : {std::vector<std::string>{}, {"--force"}}) {
        std::vector<std::string> words = {"hub", "backup", name_, hub_->file("")};
        words.insert(words.end(), more.begin(), more.end());
        const auto folder = evenkeel(words);
        EXPECT_EQ(folder.exit_code, 2) << folder.errors;
        EXPECT_TRUE(has(folder.errors, "is a folder")) << folder.errors;
    }
}

TEST_F(Backup, never_replaces_what_is_not_a_regular_file) {
    make_hub();
    ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
    const std::string link = file_ + "-link";
    ASSERT_EQ(symlink("nothing", link.c_str()), 0);

    for (const auto& more : {std::vector<std::string>{}, {"--force"}}) {
        std::vector<std::string> words = {"hub", "backup", name_, file_};
        words.insert(words.end(), more.begin(), more.end());
        const auto refused = evenkeel(words);
        EXPECT_EQ(refused.exit_code, 2) << refused.errors;
        EXPECT_TRUE(has(refused.errors, "is not a regular file")) << refused.errors;
    }
    struct stat now {};
    ASSERT_EQ(lstat(file_.c_str(), &now), 0);
    EXPECT_TRUE(S_ISFIFO(now.st_mode));
    EXPECT_EQ(evenkeel({"hub", "backup", name_, link}).exit_code, 6) << "it is there";
    EXPECT_EQ(evenkeel({"hub", "backup", name_, "-"}).exit_code, 2);
    EXPECT_FALSE(exists("-"));
}

TEST_F(Backup, files_of_a_hub_do_not_replace_a_pipe_either) {
    ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
    const std::string configuration = hub_->file(name_ + ".toml");
    ASSERT_TRUE(
        io::replace_file(files_, configuration, as_bytes("data = \"" + hub_->file(name_) + "\"\n"))
            .ok());

    for (const auto& words :
         {std::vector<std::string>{"dev", "--ephemeral", "--ready-file", file_},
          {"dev", "--ephemeral", "--tls-port", "0", "--certificate-file", file_},
          {"serve", "--config", configuration, "--ready-file", file_}}) {
        const auto refused = evenkeel(words);
        EXPECT_EQ(refused.exit_code, 2) << refused.output << refused.errors;
        EXPECT_TRUE(has(refused.errors, "is not a regular file")) << refused.errors;
    }
    struct stat now {};
    ASSERT_EQ(lstat(file_.c_str(), &now), 0);
    EXPECT_TRUE(S_ISFIFO(now.st_mode));
}

TEST_F(Backup, copies_to_another_server_with_the_same_partitions) {
    make_hub();
    const std::string before = events_of(name_);
    const DevHub other;

    const auto unclear =
        evenkeel({"hub", "copy", name_, "copied", "--to-connection", other.connection()});
    const auto copied = evenkeel({"hub", "copy", name_, "copied", "--to-connection",
                                  other.connection(), "--to-url", other.url()});

    EXPECT_EQ(unclear.exit_code, 2) << "EVENKEEL_URL is that of the first one";
    EXPECT_EQ(copied.exit_code, 0) << copied.errors;
    EXPECT_TRUE(has(copied.errors, "copied event hub '" + name_ + "' to 'copied': 7 events"))
        << copied.errors;
    EXPECT_EQ(evenkeel({"hub", "show", "copied"}).exit_code, 3) << "not here";
    other.make_default();
    EXPECT_EQ(events_of("copied"), before);
    const auto again = evenkeel({"hub", "copy", "copied", "copied-2"});
    EXPECT_EQ(again.exit_code, 0) << again.errors;
    EXPECT_EQ(events_of("copied-2"), before);
}

// Until the events are many enough for a kill in the middle.
void fill(const std::string& hub) {
    ASSERT_EQ(evenkeel({"hub", "create", hub, "--partitions", "2"}).exit_code, 0);
    const std::string body(1000, 'x');
    for (const char* partition : {"0", "1"}) {
        ASSERT_EQ(
            evenkeel({"send", hub, "-p", partition, "--count", "20000", "-q", body}).exit_code, 0);
    }
}

TEST_F(Backup, does_not_copy_an_event_hub_onto_itself) {
    make_hub();
    for (const auto& more :
         {std::vector<std::string>{},
          {"--resume"},
          {"--resume", "--to-connection", hub_->connection(), "--to-url", hub_->url()}}) {
        std::vector<std::string> words = {"hub", "copy", name_, name_};
        words.insert(words.end(), more.begin(), more.end());
        unsetenv("EVENKEEL_URL");  // it would be that of both
        const auto refused = evenkeel(words);
        EXPECT_EQ(refused.exit_code, 2) << refused.errors;
        EXPECT_TRUE(has(refused.errors, "cannot be copied onto itself")) << refused.errors;
    }
}

TEST_F(Backup, that_is_killed_leaves_no_file_and_can_be_repeated) {
    fill(name_);
    Process saving({test::evenkeel_program(), "hub", "backup", name_, file_});
    while (!exists(file_ + ".partial") && !exists(file_)) {
    }

    saving.signal(SIGKILL);
    saving.wait();

    if (exists(file_)) {  // it was faster than the kill
        EXPECT_EQ(evenkeel({"hub", "restore", file_, "--dry-run"}).exit_code, 10);
    }
    EXPECT_EQ(evenkeel({"hub", "backup", name_, file_, "-q", "--force"}).exit_code, 0);
    EXPECT_EQ(evenkeel({"hub", "restore", file_, "--dry-run"}).exit_code, 10);
    EXPECT_FALSE(exists(file_ + ".partial"));
}

TEST_F(Backup, restore_that_is_killed_goes_on_without_repeats) {
    fill(name_);
    ASSERT_EQ(evenkeel({"hub", "backup", name_, file_, "-q"}).exit_code, 0);
    const std::string copy = name_ + "-2";
    Process restoring({test::evenkeel_program(), "hub", "restore", file_, "--as", copy});
    for (int i = 0; i < 300; ++i) {
        if (evenkeel({"read", copy, "-n", "1", "-f", "%s"}).output == "0") break;
    }

    restoring.signal(SIGKILL);
    restoring.wait();

    EXPECT_EQ(evenkeel({"hub", "restore", file_, "--as", copy}).exit_code, 6);
    const auto resumed = evenkeel({"hub", "restore", file_, "--as", copy, "--resume"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
    EXPECT_EQ(events_of(copy), events_of(name_));
}

TEST_F(Backup, resume_notices_events_of_others) {
    make_hub();
    ASSERT_EQ(evenkeel({"hub", "backup", name_, file_, "-q"}).exit_code, 0);
    const std::string copy = name_ + "-2";
    ASSERT_EQ(evenkeel({"hub", "create", copy, "--partitions", "3"}).exit_code, 0);
    ASSERT_EQ(evenkeel({"send", copy, "-p", "0", "foreign"}).exit_code, 0);

    const auto refused = evenkeel({"hub", "restore", file_, "--as", copy, "--resume"});

    EXPECT_EQ(refused.exit_code, 6) << refused.errors;
    EXPECT_TRUE(has(refused.errors, "is not that of the back-up")) << refused.errors;
}

TEST_F(Backup, resume_refuses_an_event_hub_with_more_events) {
    make_hub();
    ASSERT_EQ(evenkeel({"hub", "backup", name_, file_, "-q"}).exit_code, 0);
    const std::string copy = name_ + "-2";
    ASSERT_EQ(evenkeel({"hub", "restore", file_, "--as", copy}).exit_code, 0);
    ASSERT_EQ(evenkeel({"hub", "restore", file_, "--as", copy, "--resume"}).exit_code, 0);
    ASSERT_EQ(evenkeel({"send", copy, "-p", "0", "foreign"}).exit_code, 0);

    const auto restored = evenkeel({"hub", "restore", file_, "--as", copy, "--resume"});
    const auto copied = evenkeel({"hub", "copy", name_, copy, "--resume"});

    EXPECT_EQ(restored.exit_code, 6) << restored.errors;
    EXPECT_TRUE(has(restored.errors, "partition 0 of event hub '" + copy + "' has"))
        << restored.errors;
    EXPECT_EQ(copied.exit_code, 6) << copied.errors;
}

TEST_F(Backup, resume_looks_at_partitions_without_events_too) {
    ASSERT_EQ(evenkeel({"hub", "create", name_, "--partitions", "3"}).exit_code, 0);
    ASSERT_EQ(evenkeel({"send", name_, "-p", "1", "only"}).exit_code, 0);
    ASSERT_EQ(evenkeel({"hub", "backup", name_, file_, "-q"}).exit_code, 0);
    for (const char* partition : {"0", "2"}) {
        const std::string copy = name_ + "-" + partition;
        ASSERT_EQ(evenkeel({"hub", "create", copy, "--partitions", "3"}).exit_code, 0);
        ASSERT_EQ(evenkeel({"send", copy, "-p", partition, "foreign"}).exit_code, 0);

        const auto restored = evenkeel({"hub", "restore", file_, "--as", copy, "--resume"});

        EXPECT_EQ(restored.exit_code, 6) << restored.errors;
        EXPECT_TRUE(has(restored.errors, "and the source has 0")) << restored.errors;
    }
}

// As partitions that a server might list, with those that it has.
struct WrongList {
    const char* name;
    void (*change)(boost::json::array& partitions);
};

TEST_F(Backup, refuses_a_list_without_each_partition_in_order) {
    make_hub();
    const WrongList lists[] = {
        {"fewer", [](boost::json::array& all) { all.pop_back(); }},
        {"none", [](boost::json::array& all) { all.clear(); }},
        {"more", [](boost::json::array& all) { all.push_back(boost::json::value(all.back())); }},
        {"reordered", [](boost::json::array& all) { std::swap(all.front(), all.back()); }},
    };
    for (const auto& [list, change] : lists) {
        const AdminRelay relay(hub_->http_port(),
                               [change = change](const std::string& path, std::string& body) {
                                   if (!path.ends_with("/partitions")) return;
                                   auto value = boost::json::parse(body);
                                   change(value.as_object().at("partitions").as_array());
                                   body = boost::json::serialize(value);
                               });
        setenv("EVENKEEL_URL", relay.url().c_str(), 1);

        const auto saved = evenkeel({"hub", "backup", name_, file_});
        const auto copied = evenkeel({"hub", "copy", name_, name_ + "-2"});

        for (const auto& refused : {saved, copied}) {
            EXPECT_EQ(refused.exit_code, 6) << list << ": " << refused.errors;
            EXPECT_TRUE(has(refused.errors, "the event hub changed meanwhile")) << refused.errors;
        }
        EXPECT_FALSE(exists(file_) || exists(file_ + ".partial")) << list;
        hub_->make_default();
        EXPECT_EQ(evenkeel({"hub", "show", name_ + "-2"}).exit_code, 3) << list;
    }
}

TEST_F(Backup, needs_the_right_to_manage) {
    make_hub();
    ASSERT_EQ(evenkeel({"hub", "backup", name_, file_, "-q"}).exit_code, 0);
    const auto key = evenkeel({"key", "create", "reader", "--rights", "send,listen", "-o", "json"});
    ASSERT_EQ(key.exit_code, 0) << key.errors;
    const std::string mark = "\"primary_connection_string\": \"";
    const auto begin = key.output.find(mark) + mark.size();
    const std::string weak = key.output.substr(begin, key.output.find('"', begin) - begin);

    EXPECT_EQ(evenkeel({"hub", "restore", file_, "--as", name_ + "-2", "--hub", weak}).exit_code,
              4);
}

}  // namespace
}  // namespace evenkeel::cli_tests
