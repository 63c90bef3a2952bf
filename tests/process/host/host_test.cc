// Apps as their users have them, in real processes against a real hub.
#include <cstdlib>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "process/host/host_fixture.h"
#include "support/faulty_proxy.h"
#include "support/redis_server.h"

namespace evenkeel::fault {
namespace {

constexpr const char* custom_server = R"(
const http = require("http");
http.createServer((request, response) => {
    let text = "";
    request.on("data", (part) => text += part);
    request.on("end", () => {
        response.setHeader("Content-Type", "application/json");
        if (request.method !== "POST") return response.end();
        const events = JSON.parse(JSON.parse(text).Data.events);
        if (events.some((event) => event.n === 13)) response.statusCode = 500;
        response.end(JSON.stringify({Outputs: {alerts: events.map((event) => ({seen: event.n}))}}));
    });
}).listen(process.env.FUNCTIONS_CUSTOMHANDLER_PORT, "127.0.0.1");
)";

constexpr const char* python_app = R"(
import json
import logging
import azure.functions as func
app = func.FunctionApp()

@app.event_hub_message_trigger(arg_name="events", event_hub_name="eh1", connection="HUB",
                               cardinality="many")
@app.event_hub_output(arg_name="alerts", event_hub_name="alerts", connection="HUB")
def many(events: list[func.EventHubEvent], alerts: func.Out[str], context: func.Context):
    logging.info("%s got %d events", context.function_name, len(events))
    if any(event.enqueued_time.tzinfo is None for event in events): raise ValueError("local time")
    seen = [json.loads(event.get_body())["n"] for event in events]
    alerts.set([json.dumps({"seen": n}) for n in seen])
)";

constexpr const char* node_app = R"(
const { app, output } = require("@azure/functions");
app.eventHub("one", {
    connection: "HUB", eventHubName: "eh1", cardinality: "one",
    return: output.eventHub({ eventHubName: "alerts", connection: "HUB" }),
    retry: { strategy: "fixedDelay", maxRetryCount: 1, delayInterval: { milliseconds: 1 } },
    handler: async (event, context) => {
        if (event.n % 3 === 0 && context.retryContext.retryCount === 0) throw new Error("once");
        return { seen: event.n };
    },
});
)";

std::string trigger(const std::string& more) {
    return R"({"bindings": [{"type": "eventHubTrigger", "name": "events", "eventHubName": "eh1",
        "connection": "HUB", "cardinality": "many"}, {"type": "eventHub", "direction": "out",
        "name": "alerts", "eventHubName": "alerts", "connection": "HUB"}])" +
           more + "}";
}

TEST_F(FunctionHost, runs_a_command_and_repeats_nothing) {
    const std::string out = app_.path() + "/f/out";
    app_.add("host.json", "{}")
        .add("f/function.json", trigger(R"(, "evenkeel": {"command": "cat >> out"})"));
    const auto handled = [&](std::size_t events) {
        return eventually([&] {
            return access(out.c_str(), F_OK) == 0 &&
                   count(test::read_whole_file(out), "\n") >= events;
        });
    };

    send(1, 20);
    auto first = start("a");
    EXPECT_TRUE(handled(20));
    stop(*first);
    send(21, 25);
    auto second = start("b");
    EXPECT_TRUE(handled(25));
    stop(*second);

    EXPECT_EQ(count(test::read_whole_file(out), "\n"), 25u);
}

TEST_F(FunctionHost, runs_the_apps_that_init_writes) {
    for (const std::string kind : {"exec", "cpp"}) {
        const std::string app = folder_.path() + "/" + kind;
        expect_done({"host", "init", kind, app});
        if (kind == "cpp") {
            const Outcome made =
                run_to_end({"/usr/bin/c++", "-o", app + "/show/show", app + "/show/show.cc"});
            ASSERT_EQ(made.exit_code, 0) << made.errors;
        }
        expect_done({"send", "eh1", "-q", "hello " + kind});

        Process host({test::evenkeel_program(), "host", app, "--instance", "a", "--store",
                      "sqlite:" + folder_.path() + "/" + kind + ".db"});
        std::string said;
        if (kind == "exec") {
            const std::string out = app + "/show/events.ndjson";
            EXPECT_TRUE(eventually([&] {
                return access(out.c_str(), F_OK) == 0 &&
                       has(test::read_whole_file(out), "hello exec");
            }));
        } else {
            std::string line;
            do {
                line = host.read_error_line();
                said += line + "\n";
            } while (!line.empty() && !has(line, "hello cpp"));
            EXPECT_TRUE(has(said, "hello cpp")) << said;
        }
        said += stop(host);
        EXPECT_FALSE(has(said, "error")) << said;
    }
}

// With the packages of their language, which `pip install` and `npm install` would bring.
TEST_F(FunctionHost, runs_the_python_and_node_apps_that_init_writes) {
    for (const std::string kind : {"python", "node"}) {
        const Outcome packages =
            run_to_end({test::source_path("tests/process/host/packages"), kind});
        if (packages.exit_code != 0) GTEST_SKIP() << packages.errors;
        const std::string found = packages.output.substr(0, packages.output.find('\n'));
        const std::string app = folder_.path() + "/" + kind;
        expect_done({"host", "init", kind, app});
        if (kind == "python") setenv("PYTHONPATH", found.c_str(), 1);
        if (kind == "node") {
            ASSERT_EQ(symlink((found + "/node_modules").c_str(), (app + "/node_modules").c_str()),
                      0);
        }
        expect_done({"send", "eh1", "-q", "hello " + kind});

        Process host({test::evenkeel_program(), "host", app, "--instance", "a", "--store",
                      "sqlite:" + folder_.path() + "/" + kind + ".db"});
        std::string said, line;
        do {
            line = host.read_error_line();
            said += line + "\n";
        } while (!line.empty() && !has(line, "hello " + kind));
        EXPECT_TRUE(has(said, "hello " + kind)) << said;
        said += stop(host);
        EXPECT_FALSE(has(said, "error")) << said;
    }
}

// A process for each event: one of them wants more than it may have.
TEST_F(FunctionHost, dead_letters_what_eats_the_memory) {
    const std::string out = app_.path() + "/f/out";
    app_.add("host.json", "{}")
        .add("f/handle.py", R"(
import sys
text = sys.stdin.read()
if "eat" in text: bytearray(1 << 30)
open("out", "a").write(text)
)")
        .add("f/function.json", R"({"bindings": [{"type": "eventHubTrigger", "name": "event",
            "eventHubName": "eh1", "connection": "HUB"}], "evenkeel": {"command":
            "python3 handle.py"}, "retry": {"strategy": "fixedDelay", "maxRetryCount": 1,
            "delayInterval": "00:00:00"}})");
    expect_done({"send", "eh1", "-q", "--partition", "0", "one", "eat it all", "two"});

    Process host({test::evenkeel_program(), "host", app_.path(), "--instance", "a", "--store",
                  store(), "--memory-max", "256MiB"});
    EXPECT_TRUE(eventually([&] {
        return access(out.c_str(), F_OK) == 0 && count(test::read_whole_file(out), "\n") >= 2;
    }));
    const std::string said = stop(host);

    const std::string handled = test::read_whole_file(out);
    EXPECT_EQ(count(handled, "\n"), 2u) << handled << said;
    EXPECT_FALSE(has(handled, "eat")) << handled;
    const std::string letters = evenkeel({"deadletter", "ls", "eh1", "--store", store()});
    EXPECT_TRUE(has(letters, "exit code 1")) << letters << said;
}

TEST_F(FunctionHost, dead_letters_what_a_custom_handler_refuses) {
    app_.add("host.json", R"({"customHandler": {"description": {"defaultExecutablePath": "node",
                             "arguments": ["server.js"]}}})")
        .add("server.js", custom_server)
        .add("f/function.json", trigger(R"(, "retry": {"strategy": "fixedDelay", "maxRetryCount": 1,
                                    "delayInterval": "00:00:00"})"));

    send(1, 20);
    auto host = start("a");
    const std::string seen = alerts(19);
    stop(*host);

    EXPECT_EQ(count(seen, "seen"), 19u) << seen;
    EXPECT_FALSE(has(seen, "\"seen\":13}")) << seen;
    EXPECT_TRUE(has(evenkeel({"deadletter", "ls", "eh1", "--store",
                              "sqlite:" + folder_.path() + "/progress.db"}),
                    "status 500"));
}

// A single event is text in text, and its handler parses it twice.
TEST_F(FunctionHost, gives_a_custom_handler_one_event_at_a_time) {
    app_.add("host.json", R"({"customHandler": {"description": {"defaultExecutablePath": "node",
                             "arguments": ["server.js"]}}})")
        .add("server.js", R"(
require("http").createServer((request, response) => {
    let text = "";
    request.on("data", (part) => text += part);
    request.on("end", () => {
        response.setHeader("Content-Type", "application/json");
        if (request.method !== "POST") return response.end();
        const { Data, Metadata } = JSON.parse(text);
        const event = JSON.parse(JSON.parse(Data.event));
        const n = JSON.parse(Metadata.SequenceNumber);
        response.end(JSON.stringify({Outputs: {alerts: {seen: event.n, from: request.url, n}}}));
    });
}).listen(process.env.FUNCTIONS_CUSTOMHANDLER_PORT, "127.0.0.1");
)")
        .add("f/function.json", R"({"bindings": [{"type": "eventHubTrigger", "name": "event",
            "eventHubName": "eh1", "connection": "HUB", "cardinality": "one"}, {"type": "eventHub",
            "direction": "out", "name": "alerts", "eventHubName": "alerts",
            "connection": "HUB"}]})");
    expect_done({"send", "eh1", "-q", "--partition", "0", R"({"n":1})", R"({"n":2})"});

    auto host = start("a");
    const std::string seen = alerts(2);
    stop(*host);

    EXPECT_TRUE(has(seen, R"({"seen":1,"from":"/f","n":0})")) << seen;
    EXPECT_TRUE(has(seen, R"({"seen":2,"from":"/f","n":1})")) << seen;
}

TEST_F(FunctionHost, goes_on_after_its_store_was_away) {
    std::string why;
    const auto redis = test::RedisServer::start(why);
    if (!redis) GTEST_SKIP() << why;
    test::FaultyProxy proxy(redis->port());
    const std::string out = app_.path() + "/f/out";
    app_.add("host.json", "{}")
        .add("f/function.json", trigger(R"(, "evenkeel": {"command": "cat >> out"})"));
    const auto has_handled = [&](int last) {
        return eventually([&] {
            if (access(out.c_str(), F_OK) != 0) return false;
            const std::string text = test::read_whole_file(out);
            for (int n = 1; n <= last; ++n) {
                if (!has(text, R"({\"n\":)" + std::to_string(n) + "}")) return false;
            }
            return true;
        });
    };
    const std::string address = "redis://127.0.0.1:" + std::to_string(proxy.port());

    send(1, 5);
    Process host({test::evenkeel_program(), "host", app_.path(), "--instance", "a", "--store",
                  address, "--profile", "fast"});
    EXPECT_TRUE(has_handled(5));
    proxy.refuse(true);
    send(6, 10);
    std::string line;
    do {
        line = host.read_error_line();
        ASSERT_FALSE(line.empty()) << "the host has ended";
    } while (!has(line, "function=f"));
    proxy.refuse(false);
    EXPECT_TRUE(has_handled(10));
    stop(host);

    EXPECT_TRUE(
        has(evenkeel({"scale", "eh1", "--store", redis->url(), "-o", "json"}), "\"unread\":0"));
}

// A service manager signals all processes of the service, and the handler ends first.
TEST_F(FunctionHost, loses_nothing_if_its_handler_gets_the_signal_too) {
    app_.add("host.json", R"({"customHandler": {"description": {"defaultExecutablePath": "node",
                             "arguments": ["server.js"]}}, "evenkeel": {"checkpoints":
                             "functions"}})")
        .add("server.js", R"(
const fs = require("fs");
require("http").createServer((request, response) => {
    request.resume();
    request.on("end", () => {
        response.setHeader("Content-Type", "application/json");
        if (request.method !== "POST") return response.end();
        if (fs.existsSync("pid")) return response.end('{"Outputs": {"alerts": ["seen it"]}}');
        fs.writeFileSync("pid", process.pid + "\n");
    });
}).listen(process.env.FUNCTIONS_CUSTOMHANDLER_PORT, "127.0.0.1");
)")
        .add("f/function.json", trigger(""));
    const std::string file = app_.path() + "/pid";

    send(1, 1);
    auto first = start("a");
    ASSERT_TRUE(eventually(
        [&] { return access(file.c_str(), F_OK) == 0 && has(test::read_whole_file(file), "\n"); }));
    kill(std::stoi(test::read_whole_file(file)), SIGTERM);
    stop(*first);
    auto second = start("b");

    EXPECT_EQ(count(alerts(1), "seen"), 1u);
    stop(*second);
}

TEST_F(FunctionHost, runs_the_others_while_the_hub_of_one_is_missing) {
    const auto function = [](const std::string& hub) {
        return R"({"bindings": [{"type": "eventHubTrigger", "name": "events", "connection": "HUB",
            "cardinality": "many", "eventHubName": ")" +
               hub + R"("}], "evenkeel": {"command": "cat >> out"}})";
    };
    const auto has_handled = [&](const std::string& name, const std::string& body) {
        const std::string out = app_.path() + "/" + name + "/out";
        return eventually([&] {
            return access(out.c_str(), F_OK) == 0 && has(test::read_whole_file(out), body);
        });
    };
    app_.add("host.json", "{}")
        .add("a/function.json", function("later"))
        .add("b/function.json", function("eh1"));
    send(1, 1);

    auto host = start("a");
    EXPECT_TRUE(has_handled("b", "eh1"));
    expect_done({"hub", "create", "later", "--partitions", "1"});
    expect_done({"send", "later", "-q", "at last"});
    EXPECT_TRUE(has_handled("a", "at last")) << "it is started again";
    const std::string said = stop(*host);

    EXPECT_TRUE(has(said, "the function does not run")) << said;
    EXPECT_TRUE(has(said, "the function runs")) << said;
}

// Takes connections, and never says a word.
class SilentServer {
public:
    SilentServer() {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(listen(socket_, 100), 0);
        getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
    }
    ~SilentServer() { close(socket_); }
    SilentServer(const SilentServer&) = delete;
    SilentServer& operator=(const SilentServer&) = delete;
    std::string connection() const {
        return "Endpoint=sb://127.0.0.1:" + std::to_string(port_) +
               ";SharedAccessKeyName=n;SharedAccessKey=a2V5;UseDevelopmentEmulator=true";
    }

private:
    const int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int port_ = 0;
};

// With 0 instances to begin with, the controller starts one only once it has decided. Each hub that
// is silent costs a minute, which nobody waits for.
TEST_F(FunctionHost, runs_the_others_while_hubs_do_not_answer) {
    const SilentServer silent;
    const auto function = [](const std::string& hub) {
        return R"({"bindings": [{"type": "eventHubTrigger", "name": "events", "eventHubName":
            "eh1", "cardinality": "many", "connection": ")" +
               hub + R"("}], "evenkeel": {"command": "cat >> out"}})";
    };
    app_.add("host.json", "{}")
        .add("local.settings.json", R"({"Values": {"SILENT": ")" + silent.connection() + R"("}})")
        .add("a/function.json", function("SILENT"))
        .add("b/function.json", function("SILENT"))
        .add("c/function.json", function("SILENT"))
        .add("d/function.json", function("HUB"));
    const std::string out = app_.path() + "/d/out";
    send(1, 1);

    Process host({test::evenkeel_program(), "host", app_.path(), "--instances", "0..2", "--store",
                  store(), "--status-file", folder_.path() + "/status.json"});
    EXPECT_TRUE(eventually(
        [&] { return access(out.c_str(), F_OK) == 0 && has(test::read_whole_file(out), "eh1"); }));

    host.signal(SIGKILL);
    host.wait();
}

TEST_F(FunctionHost, runs_the_others_while_a_handler_cannot_be_started) {
    const std::string out = app_.path() + "/d/out";
    app_.add("host.json", R"({"customHandler": {"description": {"defaultExecutablePath":
                              "./missing"}}})")
        .add("c/function.json", trigger(""))
        .add("d/function.json", trigger(R"(, "evenkeel": {"command": "cat >> out"})"));
    send(1, 1);

    auto host = start("a");
    EXPECT_TRUE(eventually(
        [&] { return access(out.c_str(), F_OK) == 0 && has(test::read_whole_file(out), "eh1"); }));
    const std::string said = stop(*host);

    EXPECT_TRUE(has(said, "missing")) << said;
}

// The handler is the child of a shell, which the kernel does not end with the host.
TEST_F(FunctionHost, leaves_no_handler_behind_when_it_is_killed) {
    app_.add("host.json", R"({"customHandler": {"description": {"defaultExecutablePath": "sh",
                              "arguments": ["-c", "node server.js; true"]}}})")
        .add("server.js", R"(
require("http").createServer((request, response) => response.end())
    .listen(process.env.FUNCTIONS_CUSTOMHANDLER_PORT, "127.0.0.1",
            () => require("fs").writeFileSync("pid", process.pid + "\n"));
)")
        .add("f/function.json", trigger(""));
    const std::string file = app_.path() + "/pid";
    auto host = start("a");
    ASSERT_TRUE(eventually(
        [&] { return access(file.c_str(), F_OK) == 0 && has(test::read_whole_file(file), "\n"); }));
    const int handler = std::stoi(test::read_whole_file(file));
    ASSERT_EQ(kill(handler, 0), 0);

    host->signal(SIGKILL);
    host->wait();

    EXPECT_TRUE(eventually([&] { return kill(handler, 0) != 0; }));
}

TEST_F(FunctionHost, stops_though_an_execution_hangs) {
    app_.add("host.json", R"({"functionTimeout": "00:01:30", "customHandler": {"description":
                              {"defaultExecutablePath": "node", "arguments": ["server.js"]}}})")
        .add("server.js", R"(
const http = require("http");
http.createServer((request, response) => {
    if (request.method !== "POST") return response.end();
    console.log("hangs");
}).listen(process.env.FUNCTIONS_CUSTOMHANDLER_PORT, "127.0.0.1");
)")
        .add("f/function.json", trigger(""));
    send(1, 1);
    Process host({test::evenkeel_program(), "host", app_.path(), "--instance", "a", "--store",
                  store(), "--drain-max", "1s"});
    std::string line;
    do {
        line = host.read_error_line();
        ASSERT_FALSE(line.empty()) << "the host has ended";
    } while (!has(line, "hangs"));
    const Instant asked = SystemClock().now();

    host.signal(SIGTERM);
    const std::string said = host.rest_of_errors();
    const Ended ended = host.wait();

    EXPECT_TRUE(ended.exited) << said;
    EXPECT_LT(SystemClock().now() - asked, std::chrono::minutes(1)) << said;
}

// A service that takes CloudEvents, answers each with one, and writes down what it got.
constexpr const char* cloud_receiver = R"(
import http.server
import json
import sys
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with open(sys.argv[1], "a") as calls: calls.write("%s\n" % body["n"])
        answer = json.dumps({"seen": body["n"], "id": self.headers["ce-id"]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
)";

// Writes calls to the file.
class CloudReceiver {
public:
    explicit CloudReceiver(const std::string& calls)
        : process_({"/usr/bin/env", "python3", "-c", cloud_receiver, calls}) {
        char c = 0;
        while (process_.read_output(&c, 1) && c != '\n') port_ += c;
    }
    // A function that it runs, and whose answers go to the event hub.
    std::string function(const std::string& output_hub) const {
        return R"({"bindings": [{"type": "eventHubTrigger", "name": "event",
            "eventHubName": "eh1", "connection": "HUB"}, {"type": "eventHub", "direction": "out",
            "name": "alerts", "eventHubName": ")" +
               output_hub + R"(", "connection": "HUB"}],
            "evenkeel": {"url": "http://127.0.0.1:)" +
               port_ + R"(/events"}})";
    }

private:
    Process process_;
    std::string port_;
};

TEST_F(FunctionHost, executes_once_though_its_output_hub_is_missing) {
    const std::string calls = folder_.path() + "/calls";
    const CloudReceiver receiver(calls);
    app_.add("host.json", "{}").add("f/function.json", receiver.function("later"));

    send(1, 1);
    auto host = start("a");
    for (int failed = 0; failed < 3;) {
        const std::string line = host->read_error_line();
        ASSERT_FALSE(line.empty()) << "the host has ended";
        if (has(line, "event hub 'later'")) ++failed;
    }
    expect_done({"hub", "create", "later", "--partitions", "1"});
    std::string sent;
    EXPECT_TRUE(eventually([&] {
        sent = evenkeel({"read", "later"});
        return has(sent, "seen");
    }));
    stop(*host);

    EXPECT_EQ(count(sent, "seen"), 1u) << sent;
    EXPECT_EQ(test::read_whole_file(calls), "1\n") << "one execution";
}

TEST_F(FunctionHost, posts_cloud_events_to_an_address) {
    const CloudReceiver receiver(folder_.path() + "/calls");
    app_.add("host.json", "{}").add("f/function.json", receiver.function("alerts"));

    send(1, 10);
    auto host = start("a");
    const std::string seen = alerts(10);
    stop(*host);

    EXPECT_EQ(count(seen, "seen"), 10u) << seen;
    EXPECT_TRUE(has(seen, "eh1/0/0")) << seen;
}

TEST_F(FunctionHost, runs_a_python_app_as_it_is) {
    const Outcome packages =
        run_to_end({test::source_path("tests/process/host/packages"), "python"});
    if (packages.exit_code != 0) GTEST_SKIP() << "azure-functions: " << packages.errors;
    setenv("PYTHONPATH", packages.output.substr(0, packages.output.find('\n')).c_str(), 1);
    app_.add("host.json", "{}")
        .add("function_app.py", python_app)
        .add("broken/__init__.py", "import not_there\n")
        .add("broken/function.json", trigger(""));

    send(1, 20);
    auto host = start("a");
    const std::string seen = alerts(20);
    const std::string said = stop(*host);

    EXPECT_EQ(count(seen, "seen"), 20u) << seen;
    EXPECT_TRUE(has(said, "many got ")) << said;
    EXPECT_TRUE(has(said, "function 'broken' cannot be loaded")) << said;
    EXPECT_TRUE(has(said, "ModuleNotFoundError")) << said;
}

TEST_F(FunctionHost, runs_a_node_app_as_it_is) {
    const Outcome packages = run_to_end({test::source_path("tests/process/host/packages"), "node"});
    if (packages.exit_code != 0) GTEST_SKIP() << "@azure/functions: " << packages.errors;
    const std::string modules = packages.output.substr(0, packages.output.find('\n'));
    app_.add("host.json", "{}")
        .add("package.json", R"({"main": "src/*.js"})")
        .add("src/functions.js", node_app)
        .add("src/broken.js", "this is no JavaScript");
    ASSERT_EQ(symlink((modules + "/node_modules").c_str(), (app_.path() + "/node_modules").c_str()),
              0);

    send(1, 20);
    auto host = start("a");
    const std::string seen = alerts(20);
    const std::string said = stop(*host);

    EXPECT_EQ(count(seen, "seen"), 20u) << seen;
    EXPECT_TRUE(has(said, "src/broken.js cannot be loaded")) << said;
}

}  // namespace
}  // namespace evenkeel::fault
