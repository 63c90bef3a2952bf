#include "host/handler/custom_handler.h"

#include <gtest/gtest.h>

#include "host/app_fixture.h"
#include "host/handler/invocation_fixture.h"

namespace evenkeel::host {
namespace {

// Answers as its events say: "exit" and "asked" end it, "leave" stops listening, "hang" never
// answers, all else is sent back.
constexpr const char* server = R"(
import http.server, json, os, signal, socket, sys, threading
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *arguments): pass
    def do_GET(self):
        self.send_error(404)
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        events = json.loads(request["Data"]["events"])
        if "exit" in events: os._exit(1)
        if "asked" in events: os.kill(os.getpid(), signal.SIGTERM)
        if "leave" in events:
            self.server.socket.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        if "hang" in events: threading.Event().wait()
        id = self.headers["X-Azure-Functions-InvocationId"]
        body = json.dumps({"Outputs": {"alerts": [self.path, id] + events},
                           "Logs": ["handled"]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
port = int(os.environ["FUNCTIONS_CUSTOMHANDLER_PORT"])
http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
)";

class CustomApp {
public:
    CustomApp() {
        folder_.add("server.py", server);
        app_.folder = folder_.path();
        app_.settings = process_environment();
        app_.options.custom_handler =
            CustomHandler{.executable = "python3", .arguments = {"server.py"}};
    }
    Result<> start() {
        handler_ = make_custom_handler(app_);
        return handler_->begin();
    }
    Result<Outcome> invoke(const std::string& body) {
        Function function = a_function(Cardinality::many);
        function.outputs = {{.name = "alerts", .event_hub = "a", .connection = ""}};
        const GivenEvents given(function, {{.body = body}});
        return handler_->invoke(given.invocation());
    }
    // Until the handler is there again.
    Result<Outcome> invoke_again(const std::string& body) {
        while (true) {
            auto outcome = invoke(body);
            if (outcome.ok() || outcome.error().code != ErrorCode::unavailable) return outcome;
        }
    }
    App& app() { return app_; }

private:
    AppFolder folder_;
    App app_;
    std::unique_ptr<Handler> handler_;
};

TEST(CustomHandler, is_started_and_asked_as_azure_does) {
    CustomApp app;
    const auto started = app.start();
    ASSERT_TRUE(started.ok()) << started.error().detail;

    const auto outcome = app.invoke("\"hi\"");

    ASSERT_TRUE(outcome.ok()) << outcome.error().detail;
    EXPECT_EQ(outcome->outputs,
              (std::vector<BoundOutput>{
                  {"alerts", {"/many", "8c1f0a52-0000-4000-8000-000000000001", "hi"}}}));
    EXPECT_EQ(outcome->logs, (std::vector<std::string>{"handled"}));
}

TEST(CustomHandler, that_dies_fails_its_execution_and_starts_again) {
    CustomApp app;
    ASSERT_TRUE(app.start().ok());

    const auto first = app.invoke("\"exit\"");
    const auto died = app.invoke_again("\"exit\"");
    const auto again = app.invoke_again("\"hi\"");

    ASSERT_FALSE(first.ok());
    EXPECT_EQ(first.error().code, ErrorCode::unavailable) << "it may have been another one";
    ASSERT_FALSE(died.ok());
    EXPECT_EQ(died.error().code, ErrorCode::handler_failed) << died.error().detail;
    EXPECT_TRUE(again.ok()) << again.error().detail;
}

TEST(CustomHandler, that_was_asked_to_end_blames_no_event) {
    for (const std::string how : {"\"asked\"", "\"leave\""}) {
        CustomApp app;
        ASSERT_TRUE(app.start().ok());

        const auto ended = app.invoke(how);

        ASSERT_FALSE(ended.ok());
        EXPECT_EQ(ended.error().code, ErrorCode::unavailable) << ended.error().detail;
    }
}

TEST(CustomHandler, that_hangs_is_ended_after_the_timeout) {
    CustomApp app;
    app.app().options.function_timeout = std::chrono::milliseconds(500);
    ASSERT_TRUE(app.start().ok());

    const auto hung = app.invoke("\"hang\"");

    ASSERT_FALSE(hung.ok());
    EXPECT_EQ(hung.error().code, ErrorCode::timed_out) << hung.error().detail;
}

TEST(CustomHandler, that_is_not_there_or_ends_is_reported) {
    CustomApp missing;
    missing.app().options.custom_handler->executable = "./not-there";
    CustomApp ends;
    ends.app().options.custom_handler = CustomHandler{.executable = "false"};

    EXPECT_NE(missing.start().error().detail.find("not-there"), std::string::npos);
    EXPECT_NE(ends.start().error().detail.find("ended before it answered"), std::string::npos);
}

}  // namespace
}  // namespace evenkeel::host
