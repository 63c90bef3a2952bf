// Tokens of an identity provider: its keys in a file, and at a URL that is fetched.
#include <atomic>
#include <thread>

#include <netinet/in.h>

#include "base/mutex.h"
#include "door/auth/jwt_fixture.h"
#include "process/serve/serve_process.h"

namespace evenkeel::serve {
namespace {

using namespace std::chrono_literals;
using door::Provider;

const std::string jwt_table = "[jwt]\nissuers = 'https://issuer'\naudiences = 'hub'\n";

std::string bearer(const Provider& provider, const std::string& audience = "hub") {
    const auto expires = SystemClock().wall().milliseconds / 1000 + 3600;
    return "Bearer " + provider.token(R"({"iss":"https://issuer","aud":")" + audience +
                                      R"(","roles":["Azure Event Hubs Data Owner"],"exp":)" +
                                      std::to_string(expires) + "}");
}

// Answers every request on a port of loopback with the key set of now, until it ends.
class KeyServer {
public:
    explicit KeyServer(const Provider& provider) : keys_(door::key_set_of(provider)) {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(listener_, 16), 0);
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
        port = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });  // tidy: allow thread: a server for the test
    }
    ~KeyServer() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }
    void set(const Provider& provider) {
        const Lock lock(mutex_);
        keys_ = door::key_set_of(provider);
    }

    int port = 0;
    std::atomic<int> requests = 0;

private:
    void serve() {
        while (true) {
            const int client = ::accept(listener_, nullptr, nullptr);
            if (client < 0) return;
            char request[4096];
            if (::recv(client, request, sizeof request, 0) > 0) ++requests;
            std::string keys;
            {
                const Lock lock(mutex_);
                keys = keys_;
            }
            const std::string answer =
                "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(keys.size()) + "\r\n\r\n" +
                keys;
            (void)::send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
            ::close(client);
        }
    }

    int listener_ = -1;
    Mutex mutex_;
    std::string keys_ EK_GUARDED_BY(mutex_);
    std::thread thread_;  // tidy: allow thread: a server for the test
};

TEST(ServeJwt, accepts_new_keys_in_a_file_after_a_reload) {
    const Provider first(false, "first");
    const Provider second(true, "second");
    ServeProcess server({.extra = jwt_table + "key_set_file = 'keys.json'\n",
                         .before_start = [&](const std::string& folder) {
                             write_file(folder + "/keys.json", door::key_set_of(first));
                         }});

    EXPECT_EQ(http(server.http_port, "GET", "/api/v1/hubs", bearer(first)).status, 200);
    EXPECT_EQ(http(server.http_port, "GET", "/api/v1/hubs", bearer(first, "other")).status, 401);
    EXPECT_EQ(http(server.http_port, "GET", "/api/v1/hubs", bearer(second)).status, 401);
    write_file(server.folder() + "/keys.json", door::key_set_of(second));
    EXPECT_NE(server.reload(), "");
    EXPECT_EQ(http(server.http_port, "GET", "/api/v1/hubs", bearer(second)).status, 200);
    EXPECT_EQ(http(server.http_port, "GET", "/api/v1/hubs", bearer(first)).status, 401);
}

TEST(ServeJwt, fetches_keys_from_a_url_again_for_an_unknown_key) {
    const Provider first(false, "first");
    const Provider second(false, "second");
    KeyServer provider(first);
    ServeProcess server({.extra = jwt_table + "pause = '50ms'\nkey_set_url = 'http://127.0.0.1:" +
                                  std::to_string(provider.port) + "/keys'\n"});
    ASSERT_NE(server.find_line("keys were fetched"), "");

    EXPECT_EQ(http(server.http_port, "GET", "/api/v1/hubs", bearer(first)).status, 200);
    provider.set(second);
    EXPECT_EQ(http(server.http_port, "GET", "/api/v1/hubs", bearer(second)).status, 401);
    ASSERT_NE(server.wait_for_line("keys were fetched"), "");
    EXPECT_EQ(http(server.http_port, "GET", "/api/v1/hubs", bearer(second)).status, 200);
    EXPECT_EQ(provider.requests, 2);
}

TEST(ServeJwt, starts_without_the_provider_and_says_what_to_do) {
    ServeProcess server({.extra = jwt_table + "key_set_url = 'http://127.0.0.1:1/keys'\n"});
    const std::string line = server.find_line("keys could not be fetched");

    EXPECT_TRUE(has(line, "http://127.0.0.1:1/keys")) << line;
    EXPECT_TRUE(has(line, "ca_file")) << line;
    EXPECT_EQ(server.ask("GET", "/api/v1/hubs").status, 200) << "keys of our own still work";
}

}  // namespace
}  // namespace evenkeel::serve
