// Messages name the cause of a failure and what to do about it, not something else.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "process/cli/process_fixture.h"

namespace evenkeel::cli_tests {
namespace {

using Words = std::vector<std::string>;

std::string text_of(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void write_text(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
}

class Messages : public ProcessTest {
protected:
    static Outcome dev(const Words& more) {
        Words words = {"dev", "--port", "0", "--http-port", "0"};
        words.insert(words.end(), more.begin(), more.end());
        return evenkeel(words);
    }

    const test::TemporaryDirectory folder_;
};

TEST_F(Messages, a_dev_hub_that_does_not_start_names_its_own_cause) {
    const std::string data = folder_.path() + "/data";

    const auto port =
        evenkeel({"dev", "--data", data, "--http-port", "0", "--port", hub_->amqp_port()});
    EXPECT_EQ(port.exit_code, 6) << port.errors;
    EXPECT_TRUE(has(port.errors, "Address already in use")) << port.errors;
    EXPECT_TRUE(has(port.errors, "try: choose other ports")) << port.errors;

    const auto folder = dev({"--data", "/dev/null/data"});
    EXPECT_NE(folder.exit_code, 0);
    EXPECT_TRUE(has(folder.errors, "--data")) << folder.errors;
    EXPECT_FALSE(has(folder.errors, "port")) << folder.errors;

    const auto name = dev({"--data", data, "--hub", "bad name"});
    EXPECT_EQ(name.exit_code, 2) << name.errors;
    EXPECT_TRUE(has(name.errors, "try: evenkeel dev --help")) << name.errors;

    const auto taken = dev({"--data", hub_->file("data")});
    EXPECT_EQ(taken.exit_code, 6) << taken.errors;
    EXPECT_TRUE(has(taken.errors, "try: stop the other process")) << taken.errors;
}

TEST_F(Messages, dev_says_that_an_event_hub_keeps_its_partitions) {
    const std::string data = folder_.path() + "/kept";
    const auto first_words = [&](const std::string& wish) {
        Process process({test::evenkeel_program(), "dev", "--port", "0", "--http-port", "0",
                         "--data", data, "--hub", wish});
        std::string said;
        char c = 0;
        while (!has(said, "Ctrl-C stops.") && process.read_output(&c, 1)) said += c;
        process.signal(SIGTERM);
        process.wait();
        return said;
    };

    EXPECT_TRUE(has(first_words("second:3"), "second (3 partitions)"));
    const std::string more = first_words("second:8");
    EXPECT_TRUE(has(more, "it existed and keeps its 3 partitions, not 8")) << more;
    EXPECT_TRUE(has(more, "'evenkeel hub alter second --partitions 8' adds some")) << more;
    EXPECT_TRUE(has(first_words("second:1"), "partitions cannot be removed"));
    EXPECT_FALSE(has(first_words("second"), "keeps")) << "no number was asked for";
    EXPECT_FALSE(has(first_words("second:3"), "keeps"));
}

TEST_F(Messages, a_store_that_refuses_is_not_a_hub_that_does) {
    create(1);

    const auto outcome =
        evenkeel({"status", name_, "--store", "postgresql://me:TOPSECRET@127.0.0.1:1/x"});

    EXPECT_EQ(outcome.exit_code, 5) << outcome.errors;
    EXPECT_TRUE(has(outcome.errors, "try: is the checkpoint store")) << outcome.errors;
    EXPECT_FALSE(has(outcome.errors, "is a hub running")) << outcome.errors;
    EXPECT_FALSE(has(outcome.errors, "TOPSECRET")) << outcome.errors;
}

TEST_F(Messages, an_event_that_is_too_large_is_not_larger_than_itself) {
    create(1);
    const std::string file = folder_.path() + "/large";
    write_text(file, std::string(std::size_t{1} << 20, 'x'));

    const auto outcome = evenkeel({"send", name_, "--file", file, "--format", "file"});

    EXPECT_EQ(outcome.exit_code, 2) << outcome.errors;
    EXPECT_TRUE(has(outcome.errors, "with a body of 1,048,576 bytes does not fit"))
        << outcome.errors;
    EXPECT_TRUE(has(outcome.errors, "with key, properties and framing")) << outcome.errors;
}

TEST_F(Messages, a_missing_key_of_the_configuration_has_no_line) {
    const std::string file = folder_.path() + "/evenkeel.toml";
    write_text(file, "data = \"data\"\n[listen]\namqps = \"127.0.0.1:0\"\n");

    const auto outcome = evenkeel({"serve", "--check", "--config", file});

    EXPECT_TRUE(has(outcome.errors, "evenkeel.toml: tls.certificate_file: is missing"))
        << outcome.errors;
    EXPECT_FALSE(has(outcome.errors, ":0:")) << outcome.errors;
}

TEST_F(Messages, an_imported_file_creates_its_store) {
    create(2);
    const std::string file = folder_.path() + "/positions";
    const std::string store = "sqlite:" + folder_.path() + "/new.db";
    write_text(file, "{\"partition\": 1, \"sequence\": 41}\n");

    const Words import = {"checkpoint", "import", name_, "--store", store, "--file", file};
    Words dry = import;
    dry.emplace_back("--dry-run");
    EXPECT_EQ(evenkeel(dry).exit_code, 10);
    EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/new.db"));

    const auto imported = evenkeel(import);
    EXPECT_EQ(imported.exit_code, 0) << imported.errors;
    const auto listed = evenkeel({"checkpoint", "ls", name_, "--store", store});
    EXPECT_TRUE(has(listed.output, "\n1\t41\t")) << listed.output;
    const auto exported = evenkeel({"checkpoint", "export", name_, "--store", store});
    write_text(file, exported.output);
    EXPECT_EQ(evenkeel(import).exit_code, 0) << "what was exported can be imported";
}

TEST_F(Messages, one_attempt_is_one_attempt) {
    create(1);
    send({"a", "b", "c"});
    const std::string log = folder_.path() + "/log";

    Process process(this->process({"--attempts", "1", "--poison", "skip", "--from", "start",
                                   "--exec", "wc -l >> " + log + "; exit 1"}));
    EXPECT_TRUE(eventually([&] { return is_done(); }));
    process.signal(SIGTERM);
    process.wait();

    EXPECT_EQ(text_of(log), "1\n1\n1\n") << "one call for each event";
}

TEST_F(Messages, status_without_a_store_writes_no_file) {
    create(1);
    const auto outcome = fault::run_to_end(
        {"/bin/sh", "-c", "cd '" + folder_.path() + "' && exec \"$0\" status \"$1\"",
         test::evenkeel_program(), name_});

    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(Messages, a_dry_run_works_while_processors_run) {
    create(1);
    send({"a", "b", "c"});
    ASSERT_EQ(evenkeel({"group", "create", name_, "other"}).exit_code, 0);
    Process process(this->process({"--quiet"}));
    ASSERT_TRUE(eventually([&] { return is_done(); }));

    const auto outcome =
        evenkeel({"checkpoint", "set", name_, "--store", store_, "--to", "-1h", "--dry-run"});

    EXPECT_EQ(outcome.exit_code, 10) << outcome.errors;
    EXPECT_TRUE(has(outcome.output, "partition 0: 2 -> -1 (3 events again)")) << outcome.output;
    process.signal(SIGTERM);
    process.wait();
}

TEST_F(Messages, a_reader_beside_a_processor_is_sent_to_another_group) {
    create(1);
    send({"a"});
    Process process(this->process({"--quiet"}));
    ASSERT_TRUE(eventually([&] { return is_done(); }));

    const auto outcome = evenkeel({"read", name_, "--count", "1"});

    EXPECT_EQ(outcome.exit_code, 4) << outcome.errors;
    EXPECT_TRUE(has(outcome.errors, "--group NAME")) << outcome.errors;
    process.signal(SIGTERM);
    process.wait();
}

TEST_F(Messages, a_missing_configuration_is_not_a_missing_right) {
    const auto outcome = evenkeel({"conn", "--config", folder_.path() + "/none.toml"});

    EXPECT_EQ(outcome.exit_code, 3) << outcome.errors;
    EXPECT_TRUE(has(outcome.errors, "--config names")) << outcome.errors;
    EXPECT_FALSE(has(outcome.errors, "root")) << outcome.errors;
}

TEST_F(Messages, a_key_is_read_with_the_configuration) {
    const std::string file = folder_.path() + "/evenkeel.toml";
    const std::string data = folder_.path() + "/data";
    ASSERT_TRUE(std::filesystem::create_directory(data));
    const std::string server = "data = '" + data + "'\n[listen]\namqp = '127.0.0.1:45671'\n";
    write_text(file, server);
    const auto none = evenkeel({"conn", "--config", file});
    write_text(file, server +
                         "[[rule]]\nname = 'root'\nrights = 'Manage'\n"
                         "primary_key = 'c2VjcmV0'\n");

    const auto found = evenkeel({"conn", "--config", file});
    const auto unknown = evenkeel({"conn", "--config", file, "--key", "none"});

    EXPECT_EQ(none.exit_code, 3) << none.errors;
    EXPECT_TRUE(has(none.errors, "the first start of 'evenkeel serve' creates one")) << none.errors;
    EXPECT_EQ(found.exit_code, 0) << found.errors;
    EXPECT_TRUE(has(found.output, "sb://localhost:45671")) << found.output;
    EXPECT_TRUE(has(found.output, "SharedAccessKeyName=root;SharedAccessKey=c2VjcmV0"))
        << found.output;
    EXPECT_EQ(unknown.exit_code, 3) << unknown.errors;
}

TEST_F(Messages, a_store_out_of_reach_is_not_the_hub) {
    create(1);

    const auto outcome = evenkeel({"process", name_, "--store", "redis://127.0.0.1:1"});

    EXPECT_EQ(outcome.exit_code, 5) << outcome.errors;
    EXPECT_TRUE(has(outcome.errors, "is the checkpoint store redis://127.0.0.1:1 running?"))
        << outcome.errors;
    const auto no_kind = evenkeel({"process", name_, "--store", "foo"});
    EXPECT_TRUE(has(no_kind.errors, "does not begin with its kind and ':'")) << no_kind.errors;
}

TEST_F(Messages, the_examples_of_the_admin_interface_run) {
    std::string text = text_of(test::source_path("docs/admin-api.md"));
    const auto begin = text.find("```sh\n") + 6;
    std::string script = text.substr(begin, text.find("```", begin) - begin);
    const std::string usual = "http://localhost:8080";
    std::size_t count = 0;
    for (auto at = script.find(usual); at != std::string::npos; at = script.find(usual)) {
        script.replace(at, usual.size(), hub_->url());
        ++count;
    }

    const auto outcome = fault::run_to_end({"/bin/bash", "-euo", "pipefail", "-c", script});

    EXPECT_GE(count, 10u);
    EXPECT_EQ(outcome.exit_code, 0) << script << outcome.output << outcome.errors;
    EXPECT_TRUE(has(outcome.output, "\"partitions\":8")) << outcome.output;
}

}  // namespace
}  // namespace evenkeel::cli_tests
