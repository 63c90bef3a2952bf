#include "host/handler/cloud_handler.h"

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/guarded.h"
#include "base/promise.h"
#include "host/handler/cloud_wire.h"
#include "http/fetcher.h"

namespace evenkeel::host {
namespace {

constexpr long connections_max = 256;
constexpr Duration no_timeout = std::chrono::hours(24 * 365);

class CloudHandlers final : public Handler {
public:
    explicit CloudHandlers(const App& app) : app_(app) {}

    Result<> begin() override {
        if (calls_.with([](const auto& calls) { return calls != nullptr; })) return {};
        const auto timeout = app_.options.function_timeout;
        EK_TRY_ASSIGN(std::shared_ptr<http::Fetcher> opened,
                      http::Fetcher::open({.time_max = timeout ? Duration(*timeout) : no_timeout,
                                           .connections_max = connections_max}));
        // Another thread may have been faster: the one that is not needed goes outside of the lock.
        calls_.with([&](auto& calls) {
            if (!calls) std::swap(calls, opened);
        });
        return {};
    }

    Result<Outcome> invoke(const Invocation& invocation) override {
        const auto calls = calls_.with([](const auto& opened) { return opened; });
        if (!calls) return Error{ErrorCode::unavailable, "requests cannot be sent yet"};
        const std::string& url = invocation.function.url;
        if (is_left_alone(url)) {
            return Error{ErrorCode::unavailable, "the receiver has asked for time (Retry-After)"};
        }
        CloudRequest request = cloud_request(invocation);
        // Shared with its request, which may go on after end().
        const auto answer = std::make_shared<Answer>();
        const bool has_ended = pending_.with([&](Pending& pending) {
            if (!pending.has_ended) pending.answers.insert(answer);
            return pending.has_ended;
        });
        if (has_ended) return ended();
        calls->fetch({.method = "POST",
                      .url = url,
                      .fields = std::move(request.fields),
                      .body = std::move(request.body)},
                     [answer](Result<http::Fetched> fetched) { answer->set(std::move(fetched)); });
        auto fetched = answer->wait();
        pending_.with([&](Pending& pending) { pending.answers.erase(answer); });
        if (!fetched.ok()) {
            // Away is not the event's fault; too slow may be.
            if (fetched.error().code == ErrorCode::timed_out) {
                return Error{ErrorCode::timed_out,
                             "the receiver did not answer within functionTimeout"};
            }
            return Error{ErrorCode::unavailable,
                         fmt::format("the receiver is away: {}", fetched.error().detail)};
        }
        http::ClientResponse& response = fetched->response;
        if (const auto pause = retry_after(response.status, response.field("Retry-After"))) {
            const Instant end = SystemClock().now() + *pause;
            left_alone_.with([&](auto& all) { all.insert_or_assign(url, end); });
        }
        return cloud_outcome(fetched->response.status, std::move(fetched->response.body),
                             invocation.function);
    }

    // The receiver is not ours to end: what it holds is not waited for any more.
    void end() override {
        const auto all = pending_.with([](Pending& pending) {
            pending.has_ended = true;
            return std::exchange(pending.answers, {});
        });
        for (const auto& answer : all) answer->set(ended());
    }

private:
    using Answer = Promise<Result<http::Fetched>>;
    struct Pending {
        std::set<std::shared_ptr<Answer>> answers;
        bool has_ended = false;
    };
    // One receiver may serve several functions and partitions.
    bool is_left_alone(const std::string& url) const {
        const Instant now = SystemClock().now();
        return left_alone_.with([&](const auto& all) {
            const auto found = all.find(url);
            return found != all.end() && now < found->second;
        });
    }
    static Error ended() {
        return {ErrorCode::unavailable, "the receiver did not answer before the host stopped"};
    }

    const App& app_;
    Guarded<Pending> pending_;
    Guarded<std::map<std::string, Instant>> left_alone_;  // until then, by URL
    Guarded<std::shared_ptr<http::Fetcher>> calls_;
};

}  // namespace

std::unique_ptr<Handler> make_cloud_handler(const App& app) {
    return std::make_unique<CloudHandlers>(app);
}

}  // namespace evenkeel::host
