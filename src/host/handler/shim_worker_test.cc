#include "host/handler/shim_worker.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "host/app_fixture.h"
#include "io/system/worker_pool.h"

namespace evenkeel::host {
namespace {

// In place of python3: a shell script that speaks the protocol of the shim.
class ScriptedApp {
public:
    explicit ScriptedApp(const std::string& script) {
        folder_.add("python", "#!/bin/sh\n" + script);
        settings_ = process_environment();
        settings_["languageWorkers__python__defaultExecutablePath"] = "./python";
        chmod((folder_.path() + "/python").c_str(), 0755);
    }
    Result<std::shared_ptr<ShimWorker>> start() {
        return ShimWorker::start(Kind::python, folder_.path(), settings_);
    }

private:
    AppFolder folder_;
    Environment settings_;
};

TEST(ShimWorker, asks_and_answers_by_the_id) {
    ScriptedApp app(R"(echo '{"evenkeel":1}' >&3; read a; echo garbage; echo garbage >&3
        echo '{"id":"other","ok":true}' >&3; echo '{"log":"x","level":"INFO","id":"7"}' >&3
        echo '{"id":"7","ok":true}' >&3; read b)");
    const auto worker = app.start();
    ASSERT_TRUE(worker.ok()) << worker.error().detail;

    const auto answer = (*worker)->ask("7", "{}\n", std::nullopt);

    ASSERT_TRUE(answer.ok()) << answer.error().detail;
    EXPECT_EQ(*answer, R"({"id":"7","ok":true})");
}

TEST(ShimWorker, that_dies_fails_what_it_held) {
    ScriptedApp app(R"(echo '{"evenkeel":1}' >&3; read a; exit 3)");
    const auto worker = app.start();
    ASSERT_TRUE(worker.ok()) << worker.error().detail;

    const auto died = (*worker)->ask("7", "{}\n", std::nullopt);
    const auto after = (*worker)->ask("8", "{}\n", std::nullopt);

    EXPECT_EQ(died.error().code, ErrorCode::handler_failed);
    EXPECT_NE(died.error().detail.find("exit code 3"), std::string::npos);
    EXPECT_EQ(after.error().code, ErrorCode::unavailable);
}

TEST(ShimWorker, that_hangs_is_killed_after_the_timeout) {
    ScriptedApp app(R"(echo '{"evenkeel":1}' >&3; while true; do read a || sleep 1; done)");
    const auto worker = app.start();
    ASSERT_TRUE(worker.ok()) << worker.error().detail;

    const auto hung = (*worker)->ask("7", "{}\n", std::chrono::milliseconds(100));

    EXPECT_EQ(hung.error().code, ErrorCode::timed_out);
}

TEST(ShimWorker, that_is_ended_answers_that_it_was_not_the_event) {
    ScriptedApp app(R"(echo '{"evenkeel":1}' >&3; while true; do read a || sleep 1; done)");
    const auto worker = app.start();
    ASSERT_TRUE(worker.ok()) << worker.error().detail;
    Promise<Result<std::string>> answer;
    io::system::WorkerPool pool("ask", 1);
    pool.post([&] { answer.set((*worker)->ask("7", "{}\n", std::nullopt)); });

    (*worker)->end();

    const auto ended = answer.wait();
    ASSERT_FALSE(ended.ok());
    EXPECT_EQ(ended.error().code, ErrorCode::unavailable) << ended.error().detail;
}

TEST(ShimWorker, that_does_not_load_says_how_it_ended) {
    ScriptedApp app("exit 5");

    EXPECT_NE(app.start().error().detail.find("exit code 5"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::host
