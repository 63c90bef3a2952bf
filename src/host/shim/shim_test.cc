// Real interpreters with apps that need no package.
#include <csignal>

#include <unistd.h>

#include <gtest/gtest.h>
#include <poll.h>

#include "host/app_fixture.h"
#include "host/handler/invocation_fixture.h"
#include "host/handler/shim_handler.h"
#include "host/shim/shims.h"
#include "io/system/worker_pool.h"

namespace evenkeel::host {
namespace {

// As much of azure-functions as the shim uses.
constexpr const char* azure_functions = R"(
import types
class FunctionRegister: pass
class Out:
    def __class_getitem__(cls, item): return cls
class Converter:
    @staticmethod
    def decode(datum, trigger_metadata): return datum.value
meta = types.SimpleNamespace(Datum=lambda value, type: types.SimpleNamespace(value=value))
def get_binding_registry(): return types.SimpleNamespace(get=lambda name: Converter)
)";

// An event says which file its execution makes, then waits for the file `go`; or it crashes, or
// raises what is no usual exception.
constexpr const char* python_function = R"(
import asyncio, os, signal, sys, threading
def main(events):
    if "crash" in events: os.kill(os.getpid(), signal.SIGSEGV)
    if "next" in events: next(iter([]))
    if "cancel" in events: raise asyncio.CancelledError()
    if "exit" in events: sys.exit(0)
    with open(events.strip('[]"'), "w") as file: file.write(str(os.getpid()))
    while not os.path.exists("go"): threading.Event().wait(0.01)
)";

constexpr const char* node_functions = R"(
const core = require("@azure/functions-core");
const fs = require("fs");
core.setProgrammingModel({
    getInvocationModel: (call) => ({
        getArguments: async () => ({ context: {}, inputs: [call.request.inputData[0].data.json] }),
        invokeFunction: async (context, inputs, callback) => callback(...inputs),
        getResponse: async () => ({ outputData: [] }),
    }),
});
core.registerFunction({ name: "many", bindings: { events: { type: "eventHubTrigger" } } },
    async (events) => {
        if (events.includes("crash")) process.abort();
        fs.writeFileSync(JSON.parse(events)[0], String(process.pid));
        while (!fs.existsSync("go")) await new Promise((done) => setTimeout(done, 10));
    });
setInterval(() => {}, 1000);  // which must not keep the process
)";

// An app of one kind, in its process.
class ShimApp {
public:
    explicit ShimApp(Kind kind) {
        app_.folder = folder_.path();
        app_.settings = process_environment();
        app_.options.function_timeout = std::chrono::minutes(1);
        app_.settings["PYTHONDONTWRITEBYTECODE"] = "1";
        folder_.add("azure/functions.py", azure_functions)
            .add("many/__init__.py", python_function)
            .add("many/function.json", R"({"bindings":
                [{"type": "eventHubTrigger", "name": "events", "direction": "in"}]})")
            .add("package.json", R"({"main": "functions.js"})")
            .add("functions.js", node_functions);
        handler_ = make_shim_handler(app_, kind);
        const auto started = handler_->begin();
        EXPECT_TRUE(started.ok()) << started.error().detail;
    }
    Result<Outcome> invoke(const std::string& event, std::uint32_t partition = 0) {
        const GivenEvents given(a_function(Cardinality::many), {{.body = '"' + event + '"'}});
        auto invocation = given.invocation();
        invocation.partition = partition;
        invocation.id += event;
        return handler_->invoke(invocation);
    }
    // Until its process runs again.
    Result<Outcome> invoke_again(const std::string& event, std::uint32_t partition = 0) {
        while (true) {
            auto outcome = invoke(event, partition);
            if (outcome.ok() || outcome.error().code != ErrorCode::unavailable) return outcome;
        }
    }
    // Once the execution has begun: the id of its process.
    int process_of(const std::string& event) {
        io::system::SystemFiles files;
        while (true) {
            const auto text = io::read_file(files, folder_.path() + "/" + event, 100);
            if (text.ok() && !text->empty()) {
                return std::stoi(
                    std::string(reinterpret_cast<const char*>(text->data()), text->size()));
            }
            poll(nullptr, 0, 1);  // tidy: allow sleep: between two looks
        }
    }
    void go() { folder_.add("go", ""); }

private:
    AppFolder folder_;
    App app_;
    std::unique_ptr<Handler> handler_;
};

class Shim : public testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Languages, Shim, testing::Values(Kind::python, Kind::node),
                         [](const testing::TestParamInfo<Kind>& info) {
                             return info.param == Kind::python ? "python" : "node";
                         });

TEST_P(Shim, finishes_its_executions_after_a_signal_to_the_service) {
    ShimApp app(GetParam());
    io::system::WorkerPool others("others", 1);
    Result<Outcome> outcome = Outcome{};
    others.post([&] { outcome = app.invoke("slow"); });
    const int process = app.process_of("slow");

    for (const int number : {SIGTERM, SIGINT, SIGHUP}) kill(process, number);
    app.go();
    others.finish();

    EXPECT_TRUE(outcome.ok()) << outcome.error().detail;
}
TEST(PythonShim, answers_with_the_failure_whatever_is_raised) {
    ShimApp app(Kind::python);

    for (const auto& [event, name] :
         {std::pair("next", "StopIteration"), std::pair("cancel", "CancelledError"),
          std::pair("exit", "SystemExit")}) {
        const auto outcome = app.invoke(event);

        EXPECT_EQ(outcome.error().code, ErrorCode::handler_failed) << event;
        EXPECT_NE(outcome.error().detail.find(name), std::string::npos) << outcome.error().detail;
    }
}

TEST_P(Shim, blames_a_crash_only_on_who_crashes_alone) {
    ShimApp app(GetParam());
    io::system::WorkerPool others("others", 2);
    Result<Outcome> first = Outcome{}, second = Outcome{};
    others.post([&] { first = app.invoke("a", 1); });
    others.post([&] { second = app.invoke("b", 2); });
    static_cast<void>(app.process_of("a") + app.process_of("b"));

    const auto crashed = app.invoke("crash");
    others.finish();
    app.go();

    EXPECT_EQ(crashed.error().code, ErrorCode::unavailable) << crashed.error().detail;
    EXPECT_EQ(first.error().code, ErrorCode::unavailable) << first.error().detail;
    EXPECT_EQ(second.error().code, ErrorCode::unavailable) << second.error().detail;
    EXPECT_EQ(app.invoke_again("crash").error().code, ErrorCode::handler_failed);
    EXPECT_TRUE(app.invoke_again("a", 1).ok());
    EXPECT_TRUE(app.invoke_again("b", 2).ok());
}

}  // namespace
}  // namespace evenkeel::host
