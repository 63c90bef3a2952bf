#include "http/fetcher.h"

#include <atomic>
#include <memory>

#include <gtest/gtest.h>

#include "base/promise.h"
#include "http/server.h"
#include "io/system/loop.h"
#include "io/system/network.h"

namespace evenkeel::http {
namespace {

using namespace std::chrono_literals;

// Answers each request with what it was, and how many connections there are.
class Echo {
public:
    Echo() {
        auto listener = network_->listen({"127.0.0.1", 0});
        EK_CHECK(listener.ok(), "a free port");
        port_ = (*listener)->local().port;
        server_->serve(std::move(*listener));
        loop_.start();
    }
    ~Echo() {
        io::system::run_and_wait(loop_, [this] {
            held_.clear();
            server_.reset();
            network_.reset();
        });
        loop_.stop();
    }
    std::string url(const std::string& path) const {
        return "http://127.0.0.1:" + std::to_string(port_) + path;
    }
    int most_at_once() const { return most_at_once_; }

private:
    void handle(const Request& request, Callback<void(Response)> done) {
        most_at_once_ =
            std::max(most_at_once_.load(), static_cast<int>(server_->connection_count()));
        if (request.path == "/silent") return held_.push_back(std::move(done));
        Response response{200,
                          request.method + " " + request.path + "?" + request.query + "\n",
                          "text/plain",
                          {}};
        for (const Field& field : request.fields) {
            response.body += field.name + ":" + field.value + "\n";
        }
        response.body += request.body;
        if (request.path == "/long") response.body = std::string(100'000, 'x');
        response.fields = {{"X-Empty", ""}, {"ETag", "\"1\""}};
        done(std::move(response));
    }

    io::system::LoopThread loop_{"echo"};
    std::unique_ptr<io::system::SystemNetwork> network_ =
        std::make_unique<io::system::SystemNetwork>(loop_);
    std::vector<Callback<void(Response)>> held_;
    std::unique_ptr<Server> server_ = std::make_unique<Server>(
        loop_, ServerOptions(),
        [this](const Request& request, Callback<void(Response)> done) {
            handle(request, std::move(done));
        },
        nullptr);
    std::uint16_t port_ = 0;
    std::atomic<int> most_at_once_ = 0;
};

std::unique_ptr<Fetcher> a_fetcher(FetcherOptions options = {.time_max = 30s}) {
    auto fetcher = Fetcher::open(options);
    EXPECT_TRUE(fetcher.ok()) << to_string(fetcher.error());
    return std::move(*fetcher);
}

Result<Fetched> ask(Fetcher& fetcher, FetchRequest request) {
    Promise<Result<Fetched>> promise;
    fetcher.fetch(std::move(request), [&](Result<Fetched> got) { promise.set(std::move(got)); });
    return promise.wait();
}

TEST(Fetcher, sends_only_the_fields_it_is_given) {
    const Echo echo;
    const auto fetcher = a_fetcher();

    const auto got = ask(*fetcher, {.method = "PUT",
                                    .url = echo.url("/a/../b%24/$c?d=%2F"),
                                    .fields = {{"x-ms-meta-ownerid", ""}, {"If-Match", "\"1\""}}});

    ASSERT_TRUE(got.ok()) << to_string(got.error());
    EXPECT_EQ(got->response.status, 200);
    EXPECT_EQ(got->response.field("etag"), "\"1\"");
    const std::string& seen = got->response.body;
    EXPECT_TRUE(seen.starts_with("PUT /a/../b%24/$c?d=%2F\n")) << seen;
    EXPECT_NE(seen.find("\nx-ms-meta-ownerid:\n"), std::string::npos) << seen;
    EXPECT_NE(seen.find("\nIf-Match:\"1\"\n"), std::string::npos) << seen;
    EXPECT_NE(seen.find("\nContent-Length:0\n"), std::string::npos) << seen;
    EXPECT_EQ(seen.find("Content-Type"), std::string::npos) << seen;
    EXPECT_EQ(seen.find("Expect"), std::string::npos) << seen;
}

TEST(Fetcher, sends_bodies_and_asks_for_heads_only) {
    const Echo echo;
    const auto fetcher = a_fetcher();
    const std::string body("a\0b\r\n", 5);

    const auto put = ask(*fetcher, {.method = "PUT", .url = echo.url("/x"), .body = body});
    const auto head = ask(*fetcher, {.method = "HEAD", .url = echo.url("/x")});
    const auto removal = ask(*fetcher, {.method = "DELETE", .url = echo.url("/x")});

    ASSERT_TRUE(put.ok() && head.ok() && removal.ok());
    EXPECT_TRUE(put->response.body.ends_with(body));
    EXPECT_EQ(head->response.body, "");
    EXPECT_EQ(head->response.field("ETag"), "\"1\"");
    EXPECT_TRUE(removal->response.body.starts_with("DELETE /x"));
}

TEST(Fetcher, keeps_its_connections_and_no_more_than_it_may) {
    const Echo echo;
    const auto fetcher = a_fetcher({.time_max = 30s, .connections_max = 3});
    std::atomic<int> left = 200;
    Promise<bool> all;

    for (int i = 0; i < 200; ++i) {
        fetcher->fetch({.url = echo.url("/x")}, [&](const Result<Fetched>& got) {
            EXPECT_TRUE(got.ok());
            if (--left == 0) all.set(true);
        });
    }
    all.wait();

    EXPECT_LE(echo.most_at_once(), 3);
    EXPECT_TRUE(ask(*fetcher, {.url = echo.url("/x")}).ok());
    EXPECT_FALSE(ask(*fetcher, {.url = echo.url("/x")})->may_be_repeated) << "on an old connection";
}

TEST(Fetcher, tells_what_went_wrong_without_path_and_query) {
    const Echo echo;
    const auto hasty = a_fetcher({.time_max = 100ms});
    const auto small = a_fetcher({.time_max = 30s, .body_bytes_max = 1000});

    const auto silent = ask(*hasty, {.url = echo.url("/silent?sig=secret")});
    const auto nobody = ask(*small, {.url = "http://127.0.0.1:1/x?sig=secret"});
    const auto too_long = ask(*small, {.url = echo.url("/long?sig=secret")});
    const auto no_address = ask(*small, {.url = "gopher://x/?sig=secret"});

    EXPECT_EQ(silent.error().code, ErrorCode::timed_out);
    EXPECT_EQ(nobody.error().code, ErrorCode::unavailable);
    EXPECT_EQ(too_long.error().code, ErrorCode::corrupt);
    EXPECT_EQ(no_address.error().code, ErrorCode::invalid_argument);
    for (const auto* got : {&silent, &nobody, &too_long, &no_address}) {
        EXPECT_EQ(got->error().detail.find("secret"), std::string::npos) << got->error().detail;
    }
    EXPECT_TRUE(nobody.error().detail.starts_with("http://127.0.0.1:1: ")) << nobody.error().detail;
}

TEST(Fetcher, that_is_gone_calls_nobody) {
    const Echo echo;
    for (int i = 0; i < 20; ++i) {
        std::atomic<bool> is_gone = false;
        auto fetcher = a_fetcher();
        for (int j = 0; j < 20; ++j) {
            fetcher->fetch({.url = echo.url(j % 2 == 0 ? "/silent" : "/x")},
                           [&](const Result<Fetched>&) { EXPECT_FALSE(is_gone); });
        }
        fetcher.reset();
        is_gone = true;
    }
}

}  // namespace
}  // namespace evenkeel::http
