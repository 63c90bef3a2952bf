// `read -o json | send --ndjson`: what was read comes back, whatever it holds. And what `send` says
// about where it stored events.
#include <boost/json.hpp>

#include "base/base64.h"
#include "base/bytes.h"
#include "base/random.h"
#include "io/system/files.h"
#include "process/cli/dev_hub.h"

namespace evenkeel::cli_tests {
namespace {

namespace json = boost::json;
using Texts = std::vector<std::string>;

class RoundTrip : public CliTest {
protected:
    // Two event hubs of three partitions, new for each test.
    void SetUp() override {
        CliTest::SetUp();
        const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
        from_ = name.substr(0, 30) + "-from";
        to_ = name.substr(0, 30) + "-to";
        for (const auto& hub : {from_, to_}) {
            ASSERT_EQ(evenkeel({"hub", "create", hub, "--partitions", "3"}).exit_code, 0);
        }
    }
    std::string write(const std::string& name, std::string_view text) {
        io::system::SystemFiles files;
        EXPECT_TRUE(io::replace_file(files, hub_->file(name), as_bytes(text)).ok());
        return hub_->file(name);
    }
    // By the shell, as a user would.
    Outcome copy(const std::string& options = {}) {
        const std::string program = test::evenkeel_program();
        return fault::run_to_end({"/bin/sh", "-c",
                                  program + " read " + from_ + " -o json | " + program + " send " +
                                      to_ + " --ndjson -q " + options});
    }
    // What is said of each event, but for where and when it was stored; in a fixed order.
    Texts events_of(const std::string& hub, bool with_partition) {
        const Outcome read = evenkeel({"read", hub, "-o", "json"});
        EXPECT_EQ(read.exit_code, 0) << read.errors;
        Texts events;
        for (std::size_t begin = 0; begin < read.output.size();) {
            const auto end = read.output.find('\n', begin);
            auto value = json::parse(read.output.substr(begin, end - begin)).as_object();
            for (const char* name : {"event_hub", "sequence_number", "offset", "enqueued_at"}) {
                value.erase(name);
            }
            if (!with_partition) value.erase("partition");
            events.push_back(json::serialize(value));
            begin = end + 1;
        }
        std::sort(events.begin(), events.end());
        return events;
    }

    std::string from_;
    std::string to_;
};

// Every type of property, every AMQP property, bodies of every kind.
std::string hostile_lines() {
    Random random(12);
    std::string noise(700'000, '\0');
    random.fill(std::as_writable_bytes(std::span(noise)));
    std::string lines =
        R"({"body":"plain"})"
        "\n"
        R"({"body":"","partition_key":"k1"})"
        "\n"
        R"({"body":"\u0000\u001b[31m\r\n\t\"\\\u007f","partition_key":"k2 \u20ac","properties":)"
        R"({"esc\u001b[0m":"\u0007","n\n":null}})"
        "\n"
        R"({"body_base64":"/wABgMD+","content_type":"a/b","content_encoding":"gzip",)"
        R"("message_id":18446744073709551615,)"
        R"("correlation_id":"6ba7b810-9dad-11d1-80b4-00c04fd430c8",)"
        R"("correlation_id_type":"uuid","subject":"s","to":"t","reply_to":"r",)"
        R"("user_id_base64":"/w==",)"
        R"("group_id":"g","group_sequence":4294967295,"reply_to_group_id":"x",)"
        R"("absolute_expiry_time":"2026-03-01T10:00:00.123Z","creation_time":-1})"
        "\n"
        R"({"body":"types","properties":{"null":null,"bool":true,"ubyte":255,"ushort":65535,)"
        R"("uint":4294967295,"ulong":18446744073709551615,"byte":-128,"short":-32768,)"
        R"("int":-2147483648,"long":-9223372036854775808,"float":0.1,"double":0.1,"whole":2,)"
        R"("nan":"nan","inf":"-inf","char":"\u00e9","timestamp":"2026-03-01T10:00:00Z",)"
        R"("uuid":"6ba7b810-9dad-11d1-80b4-00c04fd430c8","binary":"/wAB","string":"s",)"
        R"("symbol":"y",)"
        R"("decimal32":"dAAAAAE=","list":"wAMCQUI=","map":"wQUCoQFhQQ=="},"property_types":)"
        R"({"ubyte":"ubyte","ushort":"ushort","uint":"uint","ulong":"ulong","byte":"byte",)"
        R"("short":"short","int":"int","float":"float","whole":"double","nan":"double",)"
        R"("inf":"double","char":"char","timestamp":"timestamp","uuid":"uuid","binary":"binary",)"
        R"("symbol":"symbol","decimal32":"amqp","list":"amqp","map":"amqp"}})"
        "\n";
    using namespace std::string_literals;
    for (const std::string& shape : {
             "\0\x53\x77\xa1\x05hello"s,                                // a value
             "\0\x53\x76\xc0\x05\x02\xa1\1a\x41"s,                      // a sequence
             "\0\x53\x75\xa0\1a\0\x53\x75\xa0\1b"s,                     // two data sections
             "\0\x53\x75\xa0\1a\0\x53\x78\xc1\x07\x02\xa3\1f\xa1\1g"s,  // a footer
             "\0\x53\x72\xc1\x0c\x02\xa3\x07x-opt-a\x54\x07\0\x53\x75\xa0\1a"s,  // an annotation
         }) {
        lines += R"({"amqp_base64":")" + base64_encoded(as_bytes(shape)) + "\"}\n";
    }
    lines += R"({"body_base64":")" + base64_encoded(as_bytes(noise)) + "\"}\n";
    return lines;
}

TEST_F(RoundTrip, gives_back_every_type_and_any_bytes) {
    const std::string lines = hostile_lines();
    const auto count = static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
    const auto sent =
        evenkeel({"send", from_, "--format", "events", "--file", write("events", lines)});
    ASSERT_EQ(sent.exit_code, 0) << sent.errors;
    const Texts before = events_of(from_, false);
    ASSERT_EQ(before.size(), count);

    const auto copied = copy();

    EXPECT_EQ(copied.exit_code, 0) << copied.errors;
    EXPECT_EQ(events_of(to_, false), before);
}

TEST_F(RoundTrip, keeps_partitions_if_it_is_told_to) {
    for (const char* partition : {"0", "1", "2"}) {
        ASSERT_EQ(evenkeel({"send", from_, "-p", partition, "a", "b", partition}).exit_code, 0);
    }
    ASSERT_EQ(evenkeel({"send", from_, "--key", "k", "keyed"}).exit_code, 0);

    EXPECT_EQ(copy("--keep-partition").exit_code, 0);

    EXPECT_EQ(events_of(to_, true), events_of(from_, true));
}

TEST_F(RoundTrip, refuses_lines_without_a_partition_to_keep) {
    const auto file = write("hand", "{\"partition\":2,\"body\":\"x\"}\n");
    const auto send_with = [&](const std::string& format) {
        return evenkeel(
            {"send", to_, "--file", file, "--keep-partition", "-q", "--format", format});
    };

    const auto line = send_with("ndjson");
    const auto text = send_with("lines");
    const auto event = send_with("events");

    EXPECT_EQ(line.exit_code, 2) << line.errors;
    EXPECT_TRUE(has(line.errors, "--format events")) << line.errors;
    EXPECT_EQ(text.exit_code, 2) << text.errors;
    EXPECT_EQ(event.exit_code, 0) << event.errors;
    EXPECT_EQ(evenkeel({"read", to_, "-f", "%p %v\\n"}).output, "2 x\n");
}

TEST_F(RoundTrip, sends_other_json_lines_as_bodies) {
    const auto file = write("lines", "{\"body\":\"x\",\"properties\":{}}\n[1]\n");
    ASSERT_EQ(evenkeel({"send", to_, "-p", "0", "--file", file, "--ndjson"}).exit_code, 0);
    EXPECT_EQ(evenkeel({"read", to_, "-f", "%c %v\\n"}).output,
              "application/json {\"body\":\"x\",\"properties\":{}}\napplication/json [1]\n");
}

TEST_F(RoundTrip, options_win_over_what_a_line_says) {
    const auto file = write("one", R"({"body":"x","partition_key":"a","content_type":"b",)"
                                   R"("properties":{"n":1,"m":2}})"
                                   "\n");
    ASSERT_EQ(evenkeel({"send", to_, "--file", file, "--format", "events", "--key", "k",
                        "--content-type", "c", "-P", "n:int=5"})
                  .exit_code,
              0);
    EXPECT_EQ(evenkeel({"read", to_, "-f", "%k %c %h %v\\n"}).output, "k c n=5,m=2 x\n");
}

TEST_F(RoundTrip, names_the_line_that_is_wrong) {
    const auto file = write("bad",
                            "{\"body\":\"good\"}\n"
                            "{\"body\":\"x\",\"properties\":{\"n\":\"five\"},"
                            "\"property_types\":{\"n\":\"int\"}}\n");
    const auto sent = evenkeel({"send", to_, "--file", file, "--format", "events"});
    EXPECT_EQ(sent.exit_code, 7) << "one was sent";
    EXPECT_TRUE(has(sent.errors, "event 2: property 'n' is not of type int")) << sent.errors;
    const auto odd = evenkeel({"send", to_, "--format", "events", R"({"bdy":"x"})"});
    EXPECT_EQ(odd.exit_code, 2);
    EXPECT_TRUE(has(odd.errors, "event 1: 'bdy' is not a member of an event")) << odd.errors;
}

TEST_F(RoundTrip, send_tells_partition_and_sequence_numbers) {
    const auto first = evenkeel({"send", to_, "-p", "1", "a", "b", "c"});
    EXPECT_TRUE(has(first.errors, "0 failed  partition 1 seq 0-2\n")) << first.errors;
    const auto one = evenkeel({"send", to_, "-p", "1", "d"});
    EXPECT_TRUE(has(one.errors, "  partition 1 seq 3\n")) << one.errors;
    EXPECT_EQ(one.output, "");

    const auto listed = evenkeel({"send", to_, "-p", "1", "-o", "json", "-q", "e", "f"});

    const std::string offset =
        evenkeel({"read", to_, "-p", "1", "--from", "seq:5", "-f", "%o"}).output;
    EXPECT_EQ(listed.output,
              "{\"event\":1,\"event_hub\":\"" + to_ +
                  "\",\"partition\":1,\"sequence_number\":4}\n"
                  "{\"event\":2,\"event_hub\":\"" +
                  to_ + "\",\"partition\":1,\"sequence_number\":5,\"offset\":" + offset + "}\n");
}

TEST_F(RoundTrip, send_refuses_bad_properties_before_it_sends) {
    const auto sent = evenkeel({"send", to_, "x", "-P", "ok=1", "-P", "n:int=five"});
    EXPECT_EQ(sent.exit_code, 2);
    EXPECT_TRUE(has(sent.errors, "property 'n' is not of type int")) << sent.errors;
    EXPECT_EQ(evenkeel({"send", to_, "x", "-P", "n:integer=5"}).exit_code, 2);
    EXPECT_EQ(evenkeel({"send", to_, "x", "-P", "n"}).exit_code, 2);
    EXPECT_EQ(evenkeel({"read", to_}).output, "");
}

}  // namespace
}  // namespace evenkeel::cli_tests
