#include "host/handler/command_handler.h"

#include <gtest/gtest.h>

#include "host/app_fixture.h"
#include "host/handler/invocation_fixture.h"

namespace evenkeel::host {
namespace {

std::string just_the_body(const std::string&, std::uint32_t, const Event& event) {
    return std::string(event.text());
}

class CommandFunction {
public:
    explicit CommandFunction(const std::string& command, bool answers_lines = false)
        : given_(function_of(command, answers_lines), {{.body = "a"}, {.body = "b"}}) {
        folder_.add("many/readme", "");
        app_.folder = folder_.path();
        app_.settings = process_environment();
        app_.settings["GREETING"] = "hello";
        app_.settings["EVENTHUB_CONNECTION_STRING"] = "of the app";
        app_.settings["EVENKEEL_STORE"] = "of the host";
        handler_ = make_command_handler(app_, just_the_body, std::chrono::seconds(5));
    }
    Result<Outcome> invoke() {
        auto invocation = given_.invocation();
        invocation.done = [&](const Event& event) { done.push_back(event.sequence_number); };
        return handler_->invoke(invocation);
    }
    std::string written() {
        io::system::SystemFiles files;
        const auto bytes = io::read_file(files, folder_.path() + "/many/out", 1 << 20);
        if (!bytes.ok()) return "nothing";
        return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
    }
    HostOptions& options() { return app_.options; }
    void release() { handler_->release(given_.function(), 3); }

    std::vector<std::int64_t> done;

private:
    static Function function_of(const std::string& command, bool answers_lines) {
        Function function = a_function(Cardinality::many);
        function.kind = Kind::command;
        function.folder = "many";
        function.command = command;
        function.answers_lines = answers_lines;
        return function;
    }
    AppFolder folder_;
    App app_;
    GivenEvents given_;
    std::unique_ptr<Handler> handler_;
};

TEST(CommandHandler, runs_in_the_folder_with_the_settings_of_the_app) {
    CommandFunction function("cat > out; echo $GREETING >> out");

    const auto outcome = function.invoke();

    ASSERT_TRUE(outcome.ok()) << outcome.error().detail;
    EXPECT_EQ(function.written(), "a\nb\nhello\n");
}

TEST(CommandHandler, gets_no_credentials_of_the_host) {
    CommandFunction function("echo \"$EVENTHUB_CONNECTION_STRING,$EVENKEEL_STORE\" > out");

    ASSERT_TRUE(function.invoke().ok());

    EXPECT_EQ(function.written(), "of the app,\n");
}

TEST(CommandHandler, fails_by_the_exit_code) {
    CommandFunction function("cat > /dev/null; exit 4");

    const auto outcome = function.invoke();

    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, ErrorCode::handler_failed);
    EXPECT_NE(outcome.error().detail.find("4"), std::string::npos);
}

TEST(CommandHandler, tells_which_events_were_answered) {
    CommandFunction function("read x; echo ok; read x; echo error no", true);

    const auto outcome = function.invoke();

    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(function.done, (std::vector<std::int64_t>{0}));
}

TEST(CommandHandler, keeps_a_process_that_answers_lines) {
    CommandFunction function("echo started >> out; while read x; do echo ok; done", true);

    ASSERT_TRUE(function.invoke().ok());
    ASSERT_TRUE(function.invoke().ok());
    function.release();

    EXPECT_EQ(function.written(), "started\n");
}

TEST(CommandHandler, is_not_to_blame_the_event_if_it_cannot_run) {
    CommandFunction function("./not-there");

    const auto outcome = function.invoke();

    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, ErrorCode::unavailable);
}

TEST(CommandHandler, ends_a_command_that_runs_too_long) {
    CommandFunction function("sleep 1000");
    function.options().function_timeout = std::chrono::milliseconds(100);

    const auto outcome = function.invoke();

    ASSERT_FALSE(outcome.ok());
    EXPECT_EQ(outcome.error().code, ErrorCode::timed_out);
}

}  // namespace
}  // namespace evenkeel::host
