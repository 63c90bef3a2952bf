// Contexts as their users meet them, and as someone who damages their file does.
#include <fstream>
#include <sstream>

#include <sys/stat.h>

#include "process/cli/dev_hub.h"

namespace evenkeel::cli_tests {
namespace {

class ContextCommands : public CliTest {
protected:
    void SetUp() override {
        CliTest::SetUp();
        for (const char* name : {"EVENKEEL_HUB", "EVENKEEL_URL", "EVENKEEL_STORE",
                                 "EVENKEEL_CONTEXT", "EVENTHUB_CONNECTION_STRING"}) {
            unsetenv(name);
        }
        setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1);
    }
    void TearDown() override {
        unsetenv("XDG_CONFIG_HOME");
        unsetenv("EVENKEEL_CONTEXT");
    }

    std::string file() const { return folder_.path() + "/evenkeel/contexts.toml"; }
    std::string content() const {
        std::ifstream in(file());
        std::ostringstream text;
        text << in.rdbuf();
        return text.str();
    }
    void write(const std::string& text) const { std::ofstream(file()) << text; }
    unsigned mode() const {
        struct stat status {};
        EXPECT_EQ(stat(file().c_str(), &status), 0);
        return status.st_mode & 0777u;
    }
    static Outcome add(const std::string& name, std::vector<std::string> more = {}) {
        std::vector<std::string> words = {"context",          "add",   name,       "--hub",
                                          hub_->connection(), "--url", hub_->url()};
        words.insert(words.end(), more.begin(), more.end());
        return evenkeel(words);
    }

    const test::TemporaryDirectory folder_;
};

TEST_F(ContextCommands, are_added_used_listed_and_removed) {
    const auto added = add("local");
    EXPECT_EQ(added.exit_code, 0) << added.errors;
    EXPECT_TRUE(has(added.errors, "evenkeel context use local")) << added.errors;
    EXPECT_EQ(mode(), 0600u);
    EXPECT_EQ(evenkeel({"hub", "ls", "-o", "name", "--context", "local"}).output, "eh1\n");
    EXPECT_EQ(evenkeel({"--context=local", "hub", "ls", "-o", "name"}).output, "eh1\n");
    setenv("EVENKEEL_CONTEXT", "local", 1);
    EXPECT_EQ(evenkeel({"hub", "ls", "-o", "name"}).output, "eh1\n");
    unsetenv("EVENKEEL_CONTEXT");

    EXPECT_EQ(evenkeel({"context", "use", "local"}).exit_code, 0);
    EXPECT_EQ(evenkeel({"hub", "ls", "-o", "name"}).output, "eh1\n");
    EXPECT_EQ(evenkeel({"send", "eh1", "by context"}).exit_code, 0);
    EXPECT_TRUE(has(evenkeel({"read", "eh1"}).output, "by context\n"));
    EXPECT_EQ(evenkeel({"context", "ls", "-o", "name"}).output, "local\n");
    EXPECT_TRUE(has(evenkeel({"context", "show"}).output, "name\tlocal\n"));

    EXPECT_EQ(evenkeel({"context", "rm", "local"}).exit_code, 2) << "it asks";
    EXPECT_EQ(evenkeel({"context", "rm", "local", "--yes"}).exit_code, 0);
    EXPECT_EQ(evenkeel({"context", "ls", "-o", "name"}).output, "");
    EXPECT_EQ(evenkeel({"context", "show"}).exit_code, 3);
}

TEST_F(ContextCommands, come_after_options_and_variables) {
    ASSERT_EQ(evenkeel({"context", "add", "gone", "--hub",
                        "Endpoint=sb://localhost:1;UseDevelopmentEmulator=true", "--use"})
                  .exit_code,
              0);
    EXPECT_EQ(evenkeel({"read", "eh1"}).exit_code, 5) << "the context counts";
    EXPECT_EQ(evenkeel({"read", "eh1", "--hub", hub_->connection()}).exit_code, 0);
    setenv("EVENKEEL_HUB", hub_->connection().c_str(), 1);
    EXPECT_EQ(evenkeel({"read", "eh1"}).exit_code, 0);
    EXPECT_EQ(evenkeel({"read", "eh1", "--context", "gone"}).exit_code, 5)
        << "an option comes before a variable";
    EXPECT_TRUE(has(evenkeel({"context", "use", "gone"}).errors, "EVENKEEL_HUB is set"));
    const auto both = evenkeel({"read", "eh1", "--context", "gone", "--hub", hub_->connection()});
    EXPECT_EQ(both.exit_code, 2);
    EXPECT_TRUE(has(both.errors, "--context and --hub")) << both.errors;
    unsetenv("EVENKEEL_HUB");

    EXPECT_EQ(evenkeel({"context", "use", "--none"}).exit_code, 0);
    EXPECT_FALSE(has(evenkeel({"context", "ls"}).output, "yes"));
    const auto unknown = evenkeel({"read", "eh1", "--context", "nobody"});
    EXPECT_EQ(unknown.exit_code, 3);
    EXPECT_TRUE(has(unknown.errors, "there is no context 'nobody'")) << unknown.errors;
    setenv("EVENKEEL_CONTEXT", "nobody", 1);
    EXPECT_EQ(evenkeel({"read", "eh1"}).exit_code, 3);
    EXPECT_EQ(evenkeel({"read", "--help"}).exit_code, 0) << "help needs none";
}

TEST_F(ContextCommands, keep_the_store_with_an_absolute_path) {
    ASSERT_EQ(add("local", {"--store", "sqlite:progress.db", "--use"}).exit_code, 0);
    EXPECT_TRUE(has(content(), "store = \"sqlite:/")) << content();

    ASSERT_EQ(
        add("local", {"--store", "sqlite:" + folder_.path() + "/p.db", "--replace"}).exit_code, 0);
    const auto status = evenkeel({"checkpoint", "ls", "eh1"});
    EXPECT_TRUE(has(status.errors, folder_.path() + "/p.db")) << status.errors;
}

TEST_F(ContextCommands, take_a_secret_from_standard_input) {
    fault::Process process(
        {test::evenkeel_program(), "context", "add", "piped", "--hub", "-", "--store", "-"});
    process.write_input(hub_->connection() + "\nredis://:s3cr@host\n");
    process.close_input();
    EXPECT_EQ(process.rest_of_output(), "");
    EXPECT_EQ(process.wait().code, 0);
    EXPECT_TRUE(has(content(), "SAS_KEY_VALUE"));
    EXPECT_TRUE(has(content(), "redis://:s3cr@host"));
    EXPECT_EQ(evenkeel({"context", "add", "empty", "--hub", "-"}).exit_code, 2);
}

TEST_F(ContextCommands, never_show_a_secret) {
    const std::vector<std::pair<std::string, std::string>> stores = {
        {"a", "postgresql://me:s3cr@host/db"},
        {"b", "redis://:s3/cr@host"},
        {"c", "azblob:AccountName=a;AccountKey=s3cr==;Container=c"},
        {"d", "postgresql://host/db?user=me&password=s3cr"},
        {"e", "azblob:https://a.blob.core.windows.net/c?sv=1&SIG=s3cr&se=2"},
    };
    for (const auto& [name, store] : stores) {
        ASSERT_EQ(evenkeel({"context", "add", name, "--store", store, "--hub",
                            "amqps://app:s3cr@h:5671/hub", "--use"})
                      .exit_code,
                  0)
            << store;
        for (const auto& command :
             std::vector<std::vector<std::string>>{{"context", "ls"},
                                                   {"context", "ls", "-o", "json"},
                                                   {"context", "show"},
                                                   {"context", "show", name, "-o", "json"},
                                                   {"context", "add", name, "--store", store},
                                                   {"context", "rm", name, "--dry-run"}}) {
            const auto outcome = evenkeel(command);
            EXPECT_FALSE(has(outcome.output + outcome.errors, "s3"))
                << outcome.output << outcome.errors;
        }
    }
    EXPECT_TRUE(has(evenkeel({"context", "show", "a"}).output, "postgresql://me:***@host/db"));
}

TEST_F(ContextCommands, repair_a_file_that_others_can_read) {
    ASSERT_EQ(add("local", {"--use"}).exit_code, 0);
    ASSERT_EQ(chmod(file().c_str(), 0644), 0);

    const auto listed = evenkeel({"hub", "ls", "-o", "name"});

    EXPECT_EQ(listed.output, "eh1\n");
    EXPECT_TRUE(has(listed.errors, "other users could access")) << listed.errors;
    EXPECT_TRUE(has(listed.errors, "mode 644")) << listed.errors;
    EXPECT_EQ(mode(), 0600u);
    EXPECT_EQ(evenkeel({"hub", "ls"}).errors, "") << "once";
}

TEST_F(ContextCommands, report_a_damaged_file_and_leave_it_alone) {
    ASSERT_EQ(add("one").exit_code, 0);
    ASSERT_EQ(add("two", {"--use"}).exit_code, 0);
    const std::string whole = content();
    const std::string half = whole.substr(0, whole.rfind("SAS_KEY") + 5);
    write(half);

    for (const auto& command : std::vector<std::vector<std::string>>{
             {"hub", "ls"},
             {"context", "ls"},
             {"context", "use", "one"},
             {"context", "rm", "one", "--yes"},
             {"context", "add", "three", "--store", "redis://h"}}) {
        const auto outcome = evenkeel(command);
        EXPECT_EQ(outcome.exit_code, 1) << outcome.errors;
        EXPECT_TRUE(has(outcome.errors, "contexts.toml:")) << outcome.errors;
        EXPECT_FALSE(has(outcome.errors, "SAS_K")) << outcome.errors;
        EXPECT_EQ(content(), half) << "nothing was lost";
    }
    EXPECT_EQ(evenkeel({"hub", "ls", "--hub", hub_->connection(), "--url", hub_->url()}).exit_code,
              0)
        << "a hub that is named needs no context";
    EXPECT_EQ(evenkeel({"hub", "ls", "--help"}).exit_code, 0);
    write(whole);
    EXPECT_EQ(evenkeel({"hub", "ls", "-o", "name"}).output, "eh1\n");
}

TEST_F(ContextCommands, refuse_what_cannot_be_used_later) {
    for (const auto& command : std::vector<std::vector<std::string>>{
             {"context", "add", "x"},
             {"context", "add", "../x", "--store", "redis://h"},
             {"context", "add", "x", "--hub", "nonsense"},
             {"context", "add", "x", "--hub", hub_->connection(), "--url", "nonsense"},
             {"context", "add", "x", "--store", "nonsense"},
             {"context", "use"},
             {"context", "use", "x", "--none"}}) {
        EXPECT_EQ(evenkeel(command).exit_code, 2) << command.back();
    }
    EXPECT_NE(add("x", {"--ca", "/no/such.pem"}).exit_code, 0);
    EXPECT_EQ(evenkeel({"context", "use", "nobody"}).exit_code, 3);
    ASSERT_EQ(add("x").exit_code, 0);
    EXPECT_EQ(add("x").exit_code, 6);
    EXPECT_EQ(add("x", {"--replace"}).exit_code, 0);
}

TEST_F(ContextCommands, none_is_lost_when_two_processes_change_them) {
    std::string script = "set -e\n";
    for (int i = 0; i < 8; ++i) {
        script += "'" + test::evenkeel_program() + "' context add c" + std::to_string(i) +
                  " --store redis://h" + std::to_string(i) + " 2>/dev/null &\n";
    }
    ASSERT_EQ(fault::run_to_end({"/bin/bash", "-c", script + "wait\n"}).exit_code, 0);

    EXPECT_EQ(evenkeel({"context", "ls", "-o", "name"}).output, "c0\nc1\nc2\nc3\nc4\nc5\nc6\nc7\n");
}

TEST_F(ContextCommands, are_completed) {
    ASSERT_EQ(add("prod").exit_code, 0);
    ASSERT_EQ(add("test").exit_code, 0);

    EXPECT_EQ(evenkeel({"__complete", "context", "use", ""}).output,
              "prod\tcontext\ntest\tcontext\n");
    EXPECT_EQ(evenkeel({"__complete", "hub", "ls", "--context", "p"}).output, "prod\tcontext\n");
    write("damaged");
    EXPECT_EQ(evenkeel({"__complete", "context", "use", ""}).output, "");
}

}  // namespace
}  // namespace evenkeel::cli_tests
