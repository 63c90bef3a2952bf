#include "host/handler/custom_handler.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fmt/core.h>
#include <poll.h>

#include "base/guarded.h"
#include "base/log.h"
#include "base/promise.h"
#include "base/text.h"
#include "host/handler/custom_wire.h"
#include "host/handler/guid.h"
#include "host/handler/worker_log.h"
#include "host/handler/worker_process.h"
#include "host/handler/workers.h"
#include "http/fetcher.h"

namespace evenkeel::host {
namespace {

constexpr const char* host_version = "4.1036.0";
constexpr int ready_poll_ms = 25;   // between two questions whether it is ready
constexpr int end_notice_ms = 500;  // for a process that has ended to be noticed
constexpr int connect_ms = 1000;    // to our own machine
// For a handler that takes no new connections to end what it has, and then itself.
constexpr Duration leave_max = std::chrono::seconds(30);
constexpr long connections_max = 256;
constexpr Duration no_timeout = std::chrono::hours(24 * 365);

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    return address;
}

// A port that is free now.
Result<std::uint16_t> free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    const bool is_good = socket >= 0 &&
                         bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                         getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
    if (socket >= 0) close(socket);
    if (!is_good) return Error{ErrorCode::unavailable, "there is no free port on 127.0.0.1"};
    return ntohs(address.sin_port);
}

// Servers that end in good order take no new connections first.
bool is_listening(std::uint16_t port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket < 0) return true;
    sockaddr_in address = loopback(port);
    int error = 0;
    if (connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) error = errno;
    if (error == EINPROGRESS) {
        pollfd connected{socket, POLLOUT, 0};
        socklen_t size = sizeof error;
        poll(&connected, 1, connect_ms);
        getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    close(socket);
    return error != ECONNREFUSED;
}

Result<http::ClientResponse> fetch(http::Fetcher& fetcher, http::FetchRequest request) {
    Promise<Result<http::Fetched>> answer;
    fetcher.fetch(std::move(request),
                  [&](Result<http::Fetched> fetched) { answer.set(std::move(fetched)); });
    auto fetched = answer.wait();
    if (!fetched.ok()) return fetched.error();
    return std::move(fetched->response);
}

// The running process and its port.
struct CustomWorker {
    std::unique_ptr<WorkerProcess> process;
    std::unique_ptr<http::Fetcher> calls;
    std::uint16_t port = 0;
    std::atomic<bool> was_ended_by_us = false;
    std::atomic<std::int64_t> left_at = 0;  // when it was first seen not to listen; 0: it does
    bool has_ended() const { return process->has_ended(); }
    bool was_asked_to_end() const { return process->end().was_asked; }
    void end() {
        was_ended_by_us = true;
        process->kill_now();
    }
};

class CustomHandlers final : public Handler {
public:
    CustomHandlers(const App& app, std::stop_token stop)
        : app_(app),
          stop_(std::move(stop)),
          workers_("the custom handler", [this] { return start(); }) {}
    ~CustomHandlers() override { workers_.stop(); }
    void end() override { workers_.end(); }

    Result<> begin() override { return workers_.begin(); }

    Result<Outcome> invoke(const Invocation& invocation) override {
        EK_TRY_ASSIGN(auto request,
                      wire_request(invocation, app_.options, new_guid(), SystemClock().wall()));
        invocation.not_json(request.not_json);
        EK_TRY_ASSIGN(const auto answer,
                      workers_.call<http::ClientResponse>(invocation, [&](CustomWorker& worker) {
                          return post(worker, invocation, request.body);
                      }));
        auto outcome = wire_outcome({.status = answer.status,
                                     .content_type = answer.field("Content-Type"),
                                     .body = answer.body},
                                    invocation.function, app_.options);
        if (outcome.ok() && outcome->has_decoded_base64 && !has_told_of_base64_.exchange(true)) {
            log_invocation(invocation, "warning",
                           "an output is base64 and was decoded, as Azure Functions does; "
                           "\"base64Outputs\": false in the section \"evenkeel\" of host.json "
                           "sends it as it is. This is logged once");
        }
        return outcome;
    }

    void release(const Function& function, std::uint32_t partition) override {
        workers_.release(function, partition);
    }

private:
    static Result<http::ClientResponse> post(CustomWorker& worker, const Invocation& invocation,
                                             std::string& body) {
        auto answer = fetch(
            *worker.calls,
            {.method = "POST",
             .url = fmt::format("http://127.0.0.1:{}/{}", worker.port, invocation.function.name),
             .fields = {{"Content-Type", "application/json; charset=utf-8"},
                        {"User-Agent", fmt::format("Azure-Functions-Host/{}", host_version)},
                        {"X-Azure-Functions-HostVersion", host_version},
                        {"X-Azure-Functions-InvocationId", invocation.id}},
             .body = std::move(body)});
        if (!answer.ok()) return failed(worker, answer.error());
        return answer;
    }

    // A handler that takes too long is ended, as Azure Functions does: it may never answer again.
    static Error failed(CustomWorker& worker, const Error& error) {
        if (error.code == ErrorCode::timed_out) {
            worker.was_ended_by_us = true;
            worker.process->kill_now();
            return {ErrorCode::timed_out,
                    "the handler did not answer within functionTimeout, and is started again"};
        }
        if (worker.was_ended_by_us) {
            return {ErrorCode::unavailable, "the handler is started again, for another event"};
        }
        for (int waited = 0; !worker.has_ended() && waited < end_notice_ms;
             waited += ready_poll_ms) {
            poll(nullptr, 0, ready_poll_ms);
        }
        if (worker.has_ended()) {
            return {ErrorCode::handler_failed,
                    fmt::format("the handler ended: {}", worker.process->end().how)};
        }
        if (!is_listening(worker.port)) {
            end_if_left(worker);
            return {ErrorCode::unavailable, "the handler takes no new connections"};
        }
        return {ErrorCode::handler_failed,
                fmt::format("the handler ended the connection: {}", error.detail)};
    }

    // It ends what it has begun, and then itself; or it never would, and nothing could run.
    static void end_if_left(CustomWorker& worker) {
        const std::int64_t now = SystemClock().now().nanoseconds;
        std::int64_t since = 0;
        if (worker.left_at.compare_exchange_strong(since, now)) return;
        if (Duration(now - since) > leave_max) worker.end();
    }

    WorkerProcess::Options process_options(std::uint16_t port) const {
        const CustomHandler& custom = *app_.options.custom_handler;
        WorkerProcess::Options options;
        options.folder = app_.folder;
        std::string program = custom.executable;
        const std::string folder = custom.working_directory.empty()
                                       ? app_.folder
                                       : app_.folder + "/" + custom.working_directory;
        if (!program.starts_with('/') && access((folder + "/" + program).c_str(), F_OK) == 0) {
            program = folder + "/" + program;
        }
        options.command.push_back(std::move(program));
        options.command.insert(options.command.end(), custom.arguments.begin(),
                               custom.arguments.end());
        options.environment = worker_environment(app_.settings);
        const std::string id = new_guid();
        for (const char* name : {"FUNCTIONS_CUSTOMHANDLER_PORT", "FUNCTIONS_HTTPWORKER_PORT"}) {
            options.environment[name] = fmt::format("{}", port);
        }
        for (const char* name : {"FUNCTIONS_CUSTOMHANDLER_WORKER_ID", "FUNCTIONS_HTTPWORKER_ID"}) {
            options.environment[name] = id;
        }
        options.environment["FUNCTIONS_APP_ROOT_PATH"] = app_.folder;
        options.memory_max = app_.options.memory_max;
        options.on_line = [](Stream stream, std::string_view line) {
            log_worker_line("the custom handler", stream, line);
        };
        return options;
    }

    Result<std::shared_ptr<CustomWorker>> start() {
        EK_TRY_ASSIGN(const std::uint16_t port, free_port());
        auto worker = std::make_shared<CustomWorker>();
        worker->port = port;
        const Duration timeout =
            app_.options.function_timeout ? Duration(*app_.options.function_timeout) : no_timeout;
        EK_TRY_ASSIGN(worker->calls, http::Fetcher::open({.time_max = timeout,
                                                          .connections_max = connections_max,
                                                          .proxies = false}));
        EK_TRY_ASSIGN(worker->process, WorkerProcess::start(process_options(port)));
        EK_TRY(wait_until_ready(*worker));
        return worker;
    }

    // Any answer will do, also 404.
    Result<> wait_until_ready(const CustomWorker& worker) const {
        const Duration time = app_.options.custom_handler->initialization_timeout;
        EK_TRY_ASSIGN(const auto probes,
                      http::Fetcher::open({.time_max = std::chrono::seconds(5), .proxies = false}));
        const Instant end = SystemClock().now() + time;
        while (SystemClock().now() < end) {
            if (worker.process->has_ended()) {
                return Error{ErrorCode::unavailable, "it ended before it answered"};
            }
            if (stop_.stop_requested()) {
                return Error{ErrorCode::cancelled, "the host stops"};
            }
            const auto answer =
                fetch(*probes, {.url = fmt::format("http://127.0.0.1:{}/", worker.port)});
            if (answer.ok()) return {};
            poll(nullptr, 0, ready_poll_ms);
        }
        return Error{ErrorCode::timed_out,
                     fmt::format("it did not answer on the port in FUNCTIONS_CUSTOMHANDLER_PORT "
                                 "within {} s",
                                 time / std::chrono::seconds(1))};
    }

    const App& app_;
    const std::stop_token stop_;
    std::atomic<bool> has_told_of_base64_ = false;
    Workers<CustomWorker> workers_;
};

}  // namespace

std::unique_ptr<Handler> make_custom_handler(const App& app, std::stop_token stop) {
    return std::make_unique<CustomHandlers>(app, std::move(stop));
}

}  // namespace evenkeel::host
