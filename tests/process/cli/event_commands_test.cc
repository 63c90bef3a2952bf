// send and read against a hub: what goes in comes out, in the shape that was asked for.
#include <signal.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "io/system/files.h"
#include "process/cli/dev_hub.h"
#include "support/paths.h"

namespace evenkeel::cli_tests {
namespace {

class EventCommands : public CliTest {
protected:
    // An event hub of one partition, new for each test.
    void SetUp() override {
        CliTest::SetUp();
        name_ = testing::UnitTest::GetInstance()->current_test_info()->name();
        name_.resize(std::min<std::size_t>(name_.size(), 40));
        while (name_.ends_with('_')) name_.pop_back();
        ASSERT_EQ(evenkeel({"hub", "create", name_, "--partitions", "1"}).exit_code, 0);
    }
    std::string write(const std::string& name, std::string_view text) {
        io::system::SystemFiles files;
        EXPECT_TRUE(io::replace_file(files, hub_->file(name), as_bytes(text)).ok());
        return hub_->file(name);
    }
    Outcome read(std::vector<std::string> more) {
        more.insert(more.begin(), {"read", name_});
        return evenkeel(std::move(more));
    }

    std::string name_;
};

TEST_F(EventCommands, send_repeats_its_arguments) {
    const auto sent = evenkeel({"send", "-P", "room=hall", name_, "a", "b", "--count", "5"});

    EXPECT_EQ(sent.exit_code, 0) << sent.errors;
    EXPECT_EQ(sent.output, "");
    EXPECT_TRUE(has(sent.errors, "sent 5 events  5 B  ")) << sent.errors;
    EXPECT_EQ(read({}).output, "a\nb\na\nb\na\n");
    EXPECT_EQ(read({"-n", "1", "-f", "%h"}).output, "room=\"hall\"");
    EXPECT_EQ(evenkeel({"send", name_, "x", "-q"}).errors, "");
}

TEST_F(EventCommands, send_a_body_in_brackets_as_one_event) {
    const std::vector<std::string> bodies = {"[1,2]", "[]", "[[3],[4]]",
                                             "[a]",   "x]", "{\"a\":[1]}"};
    std::vector<std::string> command = {"send", name_, "-P", "list=[1,2]", "--"};
    command.insert(command.end(), bodies.begin(), bodies.end());

    const auto sent = evenkeel(command);

    EXPECT_EQ(sent.exit_code, 0) << sent.errors;
    EXPECT_TRUE(has(sent.errors, "sent 6 events")) << sent.errors;
    EXPECT_EQ(read({}).output, "[1,2]\n[]\n[[3],[4]]\n[a]\nx]\n{\"a\":[1]}\n");
    EXPECT_EQ(read({"-n", "1", "-f", "%h"}).output, "list=\"[1,2]\"");
}

TEST_F(EventCommands, send_each_line_as_it_arrives) {
    Process sending({test::evenkeel_program(), "send", name_});
    Process reading({test::evenkeel_program(), "read", name_, "--follow"});
    char line[6];
    ASSERT_TRUE(sending.write_input("first\n"));
    ASSERT_TRUE(reading.read_output(line, 6)) << "a line does not wait for the next one";
    EXPECT_EQ(std::string(line, 6), "first\n");
    ASSERT_TRUE(sending.write_input("again\r\nno end"));
    ASSERT_TRUE(reading.read_output(line, 6));
    EXPECT_EQ(std::string(line, 6), "again\n");

    sending.close_input();

    EXPECT_EQ(sending.wait().code, 0);
    ASSERT_TRUE(reading.read_output(line, 6));
    EXPECT_EQ(std::string(line, 6), "no end");
    reading.signal(SIGINT);
    EXPECT_EQ(reading.wait().code, 130);
}

TEST_F(EventCommands, send_stops_on_ctrl_c_while_it_waits_for_input) {
    Process sending({test::evenkeel_program(), "send", name_});
    Process reading({test::evenkeel_program(), "read", name_, "--follow"});
    char line[2];
    ASSERT_TRUE(sending.write_input("a\n"));
    ASSERT_TRUE(reading.read_output(line, 2));

    sending.signal(SIGINT);

    EXPECT_EQ(sending.wait().code, 130);
    reading.signal(SIGTERM);
    reading.wait();
}

TEST_F(EventCommands, send_json_lines_by_the_key_in_a_field) {
    const auto file = write("a.ndjson", "{\"id\":\"c-1\"}\n{\"id\":7}\n");
    const auto sent =
        evenkeel({"send", name_, "--file", file, "--format", "ndjson", "--key-field", "id"});
    EXPECT_EQ(sent.exit_code, 0) << sent.errors;
    EXPECT_EQ(read({"-f", "%k %c %v\\n"}).output,
              "7 application/json {\"id\":7}\nc-1 application/json {\"id\":\"c-1\"}\n");

    const auto bad = write("b.ndjson", "{\"id\":\"c-2\"}\nnot json\n{\"id\":\"c-3\"}\n");
    const auto partly = evenkeel({"send", name_, "--file", bad, "--ndjson", "--key-field", "id"});
    EXPECT_EQ(partly.exit_code, 7) << "one was sent";
    EXPECT_TRUE(has(partly.errors, "event 2: it is not JSON")) << partly.errors;
    EXPECT_EQ(evenkeel({"send", name_, "{}", "--key-field", "id"}).exit_code, 2);
}

TEST_F(EventCommands, send_whole_files_and_read_their_bytes) {
    const auto file = write("bytes", std::string_view("\xff\x00\n", 3));

    EXPECT_EQ(
        evenkeel({"send", name_, "--file", file, "--format", "file", "--content-type", "image/x"})
            .exit_code,
        0);

    EXPECT_EQ(read({"-f", "%V %v{hex} %v{base64} %c\\n"}).output, "3 ff000a /wAK image/x\n");
    EXPECT_TRUE(has(read({"-o", "json"}).output, "\"body_base64\":\"/wAK\"}\n"));
    EXPECT_EQ(evenkeel({"send", name_, "--file", "/no/such/file"}).exit_code, 3);
    const auto folder = evenkeel({"send", name_, "--file", "/"});
    EXPECT_EQ(folder.exit_code, 2) << folder.errors;
    EXPECT_TRUE(has(folder.errors, "'/' is a folder")) << folder.errors;
    EXPECT_FALSE(has(folder.errors, "is a hub running")) << folder.errors;
}

TEST_F(EventCommands, send_at_a_rate) {
    const SystemClock clock;
    const Instant before = clock.now();
    EXPECT_EQ(evenkeel({"send", name_, "x", "--count", "5", "--rate", "1200/m"}).exit_code, 0);
    EXPECT_GE(clock.now() - before, Duration(std::chrono::milliseconds(200)));
    EXPECT_EQ(evenkeel({"send", name_, "x", "--rate", "fast"}).exit_code, 2);
}

TEST_F(EventCommands, read_from_every_kind_of_position) {
    ASSERT_EQ(evenkeel({"send", name_, "1", "2", "3", "4"}).exit_code, 0);
    const std::string offset = read({"-f", "%o", "--from", "seq:2", "-n", "1"}).output;

    EXPECT_EQ(read({"--from", "start", "-e"}).output, "1\n2\n3\n4\n");
    EXPECT_EQ(read({"--from", "seq:2"}).output, "3\n4\n");
    EXPECT_EQ(read({"--from", "offset:" + offset}).output, "3\n4\n");
    EXPECT_EQ(read({"--from", "-1"}).output, "4\n");
    EXPECT_EQ(read({"--from", "-15m"}).output, "1\n2\n3\n4\n");
    EXPECT_EQ(read({"--from", "2020-01-01T00:00Z", "-n", "2"}).output, "1\n2\n");
    EXPECT_EQ(read({"--from", "end"}).output, "");
    EXPECT_EQ(read({"--from", "2100-01-01"}).output, "") << "it does not wait for that";
    EXPECT_EQ(read({"--from", "yesterday"}).exit_code, 2);
    EXPECT_EQ(read({"-f", "%z"}).exit_code, 2);
    EXPECT_EQ(read({"-p", "0", "-f", "%t/%p %s\\n", "-n", "1"}).output, name_ + "/0 0\n");
}

TEST_F(EventCommands, read_up_to_a_position) {
    ASSERT_EQ(evenkeel({"send", name_, "1", "2", "3", "4"}).exit_code, 0);
    EXPECT_EQ(read({"--to", "seq:2"}).output, "1\n2\n");
    EXPECT_EQ(read({"--from", "seq:1", "--to", "-1"}).output, "2\n3\n");
    EXPECT_EQ(read({"--to", "start"}).output, "");
    EXPECT_EQ(read({"--to", "end"}).output, "1\n2\n3\n4\n");
    EXPECT_EQ(read({"--to", "2020-01-01"}).output, "");
    EXPECT_EQ(read({"--to", "soon"}).exit_code, 2);
    EXPECT_EQ(read({"--to", "end", "--follow"}).exit_code, 2);
}

TEST_F(EventCommands, read_events_that_match_a_filter) {
    ASSERT_EQ(evenkeel({"send", name_, "-P", "kind=order", R"({"total": 99})", "none",
                        R"({"total": 129.9})", R"({"total": 412})"})
                  .exit_code,
              0);
    EXPECT_EQ(read({"--filter", "body.total > 100", "-f", "%s "}).output, "2 3 ");
    EXPECT_EQ(read({"--filter", "body.total > 100", "-n", "1", "-f", "%s "}).output, "2 ");
    EXPECT_EQ(read({"--filter", "properties.kind == 'order' and seq < 2", "-f", "%s "}).output,
              "0 1 ");
    const auto shown = on_terminal("read " + name_ + " --filter 'body.total > 100'");
    EXPECT_TRUE(has(shown.output, "2 shown, 4 looked at, ")) << shown.output;
    EXPECT_TRUE(has(shown.output, "; 1 without a JSON body")) << shown.output;
    const auto wrong = read({"--filter", "total > 100"});
    EXPECT_EQ(wrong.exit_code, 2);
    EXPECT_TRUE(has(wrong.errors,
                    "invalid filter 'total > 100': an event has no "
                    "'total'"))
        << wrong.errors;
}

TEST_F(EventCommands, read_shows_more_on_a_terminal) {
    ASSERT_EQ(evenkeel({"send", name_, "hello", "--key", "k"}).exit_code, 0);

    const auto shown = on_terminal("read " + name_);

    EXPECT_TRUE(has(shown.output, name_ + "/0 seq 0  20")) << shown.output;
    EXPECT_TRUE(has(shown.output, "key=k  5 B")) << shown.output;
    EXPECT_TRUE(has(shown.output, "1 shown, ")) << shown.output;
    EXPECT_EQ(read({}).output, "hello\n");
    const auto json = read({"-o", "json"}).output;
    EXPECT_TRUE(has(json, "{\"event_hub\":\"" + name_ + "\",\"partition\":0,")) << json;
    EXPECT_TRUE(has(json, "\"partition_key\":\"k\",\"body\":\"hello\"}\n")) << json;
}

TEST_F(EventCommands, speak_tls_with_a_certificate_that_is_trusted) {
    const std::string connection =
        "Endpoint=sb://localhost:" + hub_->amqps_port() +
        ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE";

    const auto sent =
        evenkeel({"send", name_, "x", "--hub", connection, "--ca", hub_->certificate()});
    const auto refused = evenkeel({"send", name_, "x", "--hub", connection});

    EXPECT_EQ(sent.exit_code, 0) << sent.errors;
    EXPECT_EQ(refused.exit_code, 5);
    EXPECT_TRUE(has(refused.errors, "try: --ca")) << refused.errors;
}

}  // namespace
}  // namespace evenkeel::cli_tests
