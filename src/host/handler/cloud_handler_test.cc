#include "host/handler/cloud_handler.h"

#include <gtest/gtest.h>

#include "base/promise.h"
#include "host/handler/invocation_fixture.h"
#include "host/handler/worker_process.h"
#include "io/system/worker_pool.h"

namespace evenkeel::host {
namespace {

// Answers with the id of the event, with 500 to "fail", never to "hang", and with 503 to "busy".
constexpr const char* receiver = R"(
import http.server
import threading
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if body == "hang":
            print("hangs", flush=True)
            threading.Event().wait()
        answer = self.headers["ce-id"].encode()
        self.send_response({"fail": 500, "busy": 503}.get(body, 200))
        if body == "busy": self.send_header("Retry-After", "120")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
server.daemon_threads = True
print(server.server_port, flush=True)
server.serve_forever()
)";

class Received {
public:
    Received() {
        WorkerProcess::Options options;
        options.command = {"python3", "-c", receiver};
        options.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
        options.on_line = [this](Stream stream, std::string_view line) {
            if (stream != Stream::output) return;
            if (line == "hangs") return hangs_.set(true);
            port_.set(std::string(line));
        };
        auto started = WorkerProcess::start(std::move(options));
        EXPECT_TRUE(started.ok()) << started.error().detail;
        process_ = std::move(*started);
        function_.url = "http://127.0.0.1:" + port_.wait() + "/";
        function_.outputs.push_back({.name = "alerts", .event_hub = "alerts", .connection = ""});
    }
    Result<Outcome> invoke(std::string_view body) {
        const auto handler = make_cloud_handler(app_);
        EK_TRY(handler->begin());
        return invoke(*handler, body);
    }
    Result<Outcome> invoke(Handler& by, std::string_view body) const {
        EventData event;
        event.body = body;
        const GivenEvents given(function_, {event});
        return by.invoke(given.invocation());
    }
    // Until a request has arrived that is never answered.
    void wait_until_it_hangs() { static_cast<void>(hangs_.copy()); }
    void end() { process_.reset(); }
    App& app() { return app_; }

private:
    Promise<std::string> port_;
    Promise<bool> hangs_;
    std::unique_ptr<WorkerProcess> process_;
    Function function_ = a_function(Cardinality::one);
    App app_;
};

TEST(CloudHandler, posts_events_and_takes_answers_as_outputs) {
    Received receiving;

    const auto outcome = receiving.invoke("hello");

    ASSERT_TRUE(outcome.ok()) << outcome.error().detail;
    EXPECT_EQ(outcome->outputs, (std::vector<BoundOutput>{{"alerts", {"homes/3/0"}}}));
}

TEST(CloudHandler, tells_failures_from_a_receiver_that_is_away) {
    Received receiving;

    EXPECT_EQ(receiving.invoke("fail").error().code, ErrorCode::handler_failed);
    receiving.end();
    EXPECT_EQ(receiving.invoke("hello").error().code, ErrorCode::unavailable);
}

TEST(CloudHandler, leaves_a_receiver_alone_as_long_as_it_says) {
    Received receiving;
    const auto handler = make_cloud_handler(receiving.app());
    ASSERT_TRUE(handler->begin().ok());

    const auto busy = receiving.invoke(*handler, "busy");
    const auto next = receiving.invoke(*handler, "hello");

    EXPECT_EQ(busy.error().code, ErrorCode::unavailable) << busy.error().detail;
    EXPECT_EQ(next.error().code, ErrorCode::unavailable) << "it was not asked";
    EXPECT_NE(next.error().detail.find("Retry-After"), std::string::npos) << next.error().detail;
}

TEST(CloudHandler, does_not_wait_longer_than_the_timeout) {
    Received receiving;
    receiving.app().options.function_timeout = std::chrono::milliseconds(500);

    EXPECT_EQ(receiving.invoke("hang").error().code, ErrorCode::timed_out);
}

TEST(CloudHandler, does_not_wait_for_answers_once_it_is_ended) {
    Received receiving;
    receiving.app().options.function_timeout = std::chrono::minutes(1);
    const auto handler = make_cloud_handler(receiving.app());
    ASSERT_TRUE(handler->begin().ok());
    io::system::WorkerPool others("others", 1);
    Result<Outcome> held = Outcome{};
    others.post([&] { held = receiving.invoke(*handler, "hang"); });
    receiving.wait_until_it_hangs();

    handler->end();
    others.finish();

    EXPECT_EQ(held.error().code, ErrorCode::unavailable) << held.error().detail;
    EXPECT_EQ(receiving.invoke(*handler, "hello").error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace evenkeel::host
