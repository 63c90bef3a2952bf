#include "http/client.h"

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "http/server.h"
#include "io/sim/network.h"
#include "io/sim/scheduler.h"
#include "support/seed.h"

namespace evenkeel::http {
namespace {

using namespace std::chrono_literals;

TEST(HttpUrl, is_read_with_its_port_and_path) {
    const auto plain = url_of("http://hub.example");
    const auto full = url_of("https://[::1]:8443/behind/a/proxy/");

    ASSERT_TRUE(plain.ok());
    EXPECT_EQ(plain->endpoint, (io::Endpoint{"hub.example", 80}));
    EXPECT_FALSE(plain->tls);
    EXPECT_EQ(plain->path, "");
    ASSERT_TRUE(full.ok());
    EXPECT_EQ(full->endpoint, (io::Endpoint{"::1", 8443}));
    EXPECT_TRUE(full->tls);
    EXPECT_EQ(to_string(*full), "https://[::1]:8443/behind/a/proxy");
}

TEST(HttpUrl, is_refused_if_it_is_none) {
    for (const auto* const text :
         {"", "localhost:8080", "ftp://host", "http://", "http://:80", "http://host:0",
          "http://host:65536", "http://host:80x", "http://user:key@host", "http://host/?query",
          "http://[::1", "http://a b", "http://host/\r\nX: y"}) {
        EXPECT_EQ(url_of(text).error().code, ErrorCode::invalid_argument) << text;
    }
}

TEST(HttpRequest, cannot_smuggle_a_line_into_its_head) {
    const Url url = url_of("http://host:1").value();

    EXPECT_FALSE(to_wire({.path = "/a\r\nX: y"}, url).ok());
    EXPECT_FALSE(to_wire({.fields = {{"A", "b\nC: d"}}}, url).ok());
    EXPECT_EQ(to_wire({.method = "POST", .path = "/a", .body = "{\r\n}"}, url).value(),
              "POST /a HTTP/1.0\r\nHost: host:1\r\nContent-Length: 4\r\n\r\n{\r\n}");
}

TEST(HttpResponse, is_complete_when_its_length_is_there_or_the_stream_ends) {
    const std::string measured = "HTTP/1.1 201 Created\r\ncontent-length: 3\r\n\r\nabc";
    const std::string open = "HTTP/1.0 200 OK\r\n\r\nabc";

    for (std::size_t size = 0; size < measured.size(); ++size) {
        const auto part = response_of(measured.substr(0, size), false);
        ASSERT_TRUE(part.ok());
        EXPECT_FALSE(part->has_value()) << size;
        EXPECT_EQ(response_of(measured.substr(0, size), true).error().code, ErrorCode::unavailable);
    }
    EXPECT_EQ((*response_of(measured, false))->body, "abc");
    EXPECT_EQ((*response_of(measured, false))->status, 201);
    EXPECT_FALSE(response_of(open, false)->has_value());
    EXPECT_EQ((*response_of(open, true))->body, "abc");
    EXPECT_TRUE(response_of("HTTP/1.1 204 No Content\r\n\r\n", false)->has_value());
    EXPECT_EQ((*response_of("HTTP/1.1 100 Continue\r\n\r\n" + measured, false))->status, 201);
}

TEST(HttpResponse, is_refused_if_it_is_none) {
    for (const std::string text :
         {"AMQP\3\1\0\0", "HTTP/2 200\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 999 x\r\n\r\n",
          "HTTP/1.1 200 OK\r\nbad field\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"}) {
        const auto response = response_of(text, false);
        ASSERT_FALSE(response.ok()) << text;
        EXPECT_EQ(response.error().code, ErrorCode::corrupt) << text;
    }
    EXPECT_FALSE(response_of("HTTP/1.1 200 OK\r\n" + std::string(20'000, 'x'), false).ok());
}

TEST(HttpDate, is_read_from_its_field) {
    EXPECT_EQ(parse_date("Mon, 02 Mar 2026 09:14:00 GMT")->milliseconds, 1772442840000);
    EXPECT_FALSE(parse_date("yesterday"));
}

class ExchangeTest : public testing::Test {
protected:
    ExchangeTest() {
        server_.emplace(
            loop_, ServerOptions{},
            [this](const Request& request, Callback<void(Response)> answer) {
                if (silent_) {
                    held_ = std::move(answer);
                } else {
                    answer({.status = 201, .body = request.method + " " + request.body});
                }
            },
            [](const std::string&, const std::string&, std::unique_ptr<io::Socket>) {});
        auto listener = network_.host("server", loop_).listen({"server", 0});
        url_.endpoint = (*listener)->local();
        server_->serve(std::move(*listener));
    }

    Result<ClientResponse> ask(const ClientRequest& request) {
        std::optional<Result<ClientResponse>> response;
        std::unique_ptr<Exchange> exchange;
        network_.host("client", client_loop_).connect(url_.endpoint, 30s, [&](auto socket) {
            exchange = std::make_unique<Exchange>(
                client_loop_, std::move(*socket), to_wire(request, url_).value(), 5s,
                [&](Result<ClientResponse> answer) { response.emplace(std::move(answer)); });
        });
        EXPECT_TRUE(scheduler_.run_until([&] { return response.has_value(); }, 1min));
        return response ? std::move(*response)
                        : Error{ErrorCode::cancelled, "the exchange was never over"};
    }

    io::sim::Scheduler scheduler_{test::test_seed()};
    io::sim::SimLoop loop_{scheduler_, "server"};
    io::sim::SimLoop client_loop_{scheduler_, "client"};
    io::sim::SimNetwork network_{scheduler_};
    std::optional<Server> server_;
    Url url_;
    bool silent_ = false;
    Callback<void(Response)> held_;
};

TEST_F(ExchangeTest, gets_the_servers_answer) {
    const auto response = ask({.method = "POST", .path = "/x", .body = "hello"});

    ASSERT_TRUE(response.ok()) << response.error().detail;
    EXPECT_EQ(response->status, 201);
    EXPECT_EQ(response->body, "POST hello");
    EXPECT_EQ(response->field("content-type"), "application/json");
    EXPECT_TRUE(parse_date(response->field("Date")));
}

TEST_F(ExchangeTest, gets_an_answer_of_many_reads) {
    const std::string large(500'000, 'x');

    const auto response = ask({.method = "POST", .body = large});

    ASSERT_TRUE(response.ok()) << response.error().detail;
    EXPECT_EQ(response->body, "POST " + large);
}

TEST_F(ExchangeTest, gives_up_on_a_server_that_does_not_answer) {
    silent_ = true;

    EXPECT_EQ(ask({}).error().code, ErrorCode::timed_out);
}

}  // namespace
}  // namespace evenkeel::http
