// The procedure of docs/backup.md, with real processes: back-up, loss, restore.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <signal.h>

#include <gtest/gtest.h>

#include "support/dev_server.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temporary_directory.h"

namespace evenkeel::fault {
namespace {

namespace fs = std::filesystem;

class Backup : public testing::Test {
protected:
    static constexpr const char* name = "homes";

    Outcome evenkeel(std::vector<std::string> words) {
        words.insert(words.begin(), test::evenkeel_program());
        return run_to_end(words);
    }
    void send(int from, int to) {
        std::ofstream lines(path("lines"));
        for (int i = from; i < to; ++i) lines << i << "\n";
        lines.close();
        const auto sent = evenkeel({"send", name, "-q", "--file", path("lines")});
        ASSERT_EQ(sent.exit_code, 0) << sent.errors;
    }
    std::vector<std::string> process() {
        return {test::evenkeel_program(),
                "process",
                name,
                "--store",
                store(),
                "--profile",
                "fast",
                "--exec",
                "cat >> '" + path("handled") + "'",
                "--checkpoint-every",
                "50"};
    }
    // Runs a processor until all is handled and stored.
    void process_all() {
        Process running(process());
        EXPECT_TRUE(eventually([&] {
            const auto told = evenkeel({"status", name, "--store", store(), "-o", "json"});
            return has(told.output, "\"lag_events\": 0") && !has(told.output, "\"position\": -1");
        }));
        running.signal(SIGINT);
        running.wait();
    }
    int handled() {
        std::ifstream lines(path("handled"));
        int count = 0;
        for (std::string line; std::getline(lines, line);) ++count;
        return count;
    }
    void copy(const std::string& from, const std::string& to) {
        fs::remove_all(path(to));
        fs::copy(path(from), path(to), fs::copy_options::recursive);
    }
    std::string path(const std::string& file) const { return folder_.path() + "/" + file; }
    std::string store() const { return "sqlite:" + path("progress.db"); }

    // 60 events handled, then the copies; 140 more handled; then the hub is restored and gets 200.
    void lose_and_restore_the_hub() {
        {
            DevServer server(path("data"));
            server.make_default();
            ASSERT_EQ(evenkeel({"hub", "create", name, "--partitions", "1"}).exit_code, 0);
            send(0, 60);
            process_all();
            copy("progress.db", "backup.db");
        }
        copy("data", "backup");
        {
            DevServer server(path("data"));
            server.make_default();
            send(60, 200);
            process_all();
        }
        ASSERT_EQ(handled(), 200);
        copy("backup", "data");
        fs::remove(path("handled"));
    }

    test::TemporaryDirectory folder_;
};

TEST_F(Backup, of_the_hub_alone_is_noticed_and_nothing_is_skipped) {
    lose_and_restore_the_hub();
    DevServer server(path("data"));
    server.make_default();
    send(1000, 1200);

    {
        Process running(process());
        std::string told;
        char c = 0;
        while (!has(told, "--force") && running.read_errors(&c, 1)) told += c;
        EXPECT_TRUE(has(told, "event 199 is not the one that was handled")) << told;
        EXPECT_TRUE(has(told, "evenkeel checkpoint set homes")) << told;
        running.signal(SIGINT);
        running.wait();
    }
    EXPECT_FALSE(fs::exists(path("handled")));

    const auto set = evenkeel({"checkpoint", "set", name, "--store", store(), "--to", "seq:60"});
    EXPECT_EQ(set.exit_code, 0) << set.errors;
    process_all();
    EXPECT_EQ(handled(), 200);
}

TEST_F(Backup, of_hub_and_store_goes_on_where_the_copies_were_made) {
    lose_and_restore_the_hub();
    fs::remove(path("progress.db-wal"));
    fs::remove(path("progress.db-shm"));
    copy("backup.db", "progress.db");
    DevServer server(path("data"));
    server.make_default();
    send(1000, 1200);

    process_all();

    EXPECT_EQ(handled(), 200);
}

}  // namespace
}  // namespace evenkeel::fault
