// What commands say and how they end when something is wrong; and never with a secret in it.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/cli/dev_hub.h"

namespace evenkeel::cli_tests {
namespace {

class CliErrors : public CliTest {};

// Whatever it is, it fails with this code, tells why on stderr, and shows no key.
Outcome fails(std::vector<std::string> arguments, int code) {
    std::string line;
    for (const auto& word : arguments) line += word + " ";
    auto outcome = evenkeel(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, code) << line << outcome.errors;
    EXPECT_EQ(outcome.output, "") << line;
    EXPECT_TRUE(outcome.errors.starts_with("error: ")) << line << outcome.errors;
    EXPECT_FALSE(has(outcome.errors, "TOPSECRET")) << line << outcome.errors;
    return outcome;
}

TEST_F(CliErrors, report_a_refused_connection_with_a_hint) {
    const std::string nobody =
        "Endpoint=sb://localhost:1;SharedAccessKeyName=a;SharedAccessKey=TOPSECRET;"
        "UseDevelopmentEmulator=true";
    const SystemClock clock;
    const Instant before = clock.now();

    for (const auto* verb : {"send", "read"}) {
        const auto outcome = fails({verb, "eh1", "--hub", nobody}, 5);
        EXPECT_TRUE(has(outcome.errors, "Connection refused")) << outcome.errors;
        EXPECT_TRUE(has(outcome.errors, "try: is a hub running at localhost:1?")) << outcome.errors;
    }
    const auto admin = fails({"hub", "ls", "--url", "http://localhost:1"}, 5);
    EXPECT_TRUE(has(admin.errors, "--url")) << admin.errors;
    fails({"conn", "eh1", "--key", "x", "--url", "http://localhost:1"}, 5);
    EXPECT_LT(clock.now() - before, Duration(std::chrono::seconds(20)))
        << "four commands, 5 s each";
}

TEST_F(CliErrors, distinguish_a_wrong_key_from_a_wrong_name) {
    const std::string wrong = hub_->connection("TOPSECRET");
    fails({"send", "eh1", "x", "--hub", wrong}, 4);
    fails({"read", "eh1", "--hub", wrong}, 4);
    fails({"hub", "ls", "--hub", wrong}, 4);
    fails({"hub", "rm", "eh1", "--yes", "--hub", wrong}, 4);
    for (const auto* verb : {"read", "status"}) {
        const auto refused = fails({verb, "eh1", "--hub", wrong}, 4);
        EXPECT_TRUE(has(refused.errors, "the key, or the name of the key, is wrong"))
            << refused.errors;
        EXPECT_FALSE(has(refused.errors, "evenkeel key ls")) << "more rights would not help";
        const auto unknown = fails({verb, "nope"}, 3);
        EXPECT_TRUE(has(unknown.errors, "not_found: event hub 'nope' does not exist\n"))
            << unknown.errors;
    }
    for (const auto& words : {std::vector<std::string>{"send", "nope", "x"},
                              {"read", "nope"},
                              {"hub", "show", "nope"},
                              {"hub", "alter", "nope", "--partitions", "3"},
                              {"hub", "purge", "nope", "--yes"},
                              {"hub", "rm", "nope", "--yes"},
                              {"read", "eh1", "--group", "nope"},
                              {"read", "eh1", "-p", "9"},
                              {"key", "show", "nope"}}) {
        const auto outcome = fails(words, 3);
        EXPECT_TRUE(has(outcome.errors, "  try: ")) << outcome.errors;
    }
}

TEST_F(CliErrors, explain_invalid_arguments) {
    fails({"hub", "create", "eh1"}, 6);
    EXPECT_EQ(evenkeel({"hub", "create", "eh1", "--if-not-exists"}).exit_code, 0);
    fails({"hub", "create", "a b/../c"}, 2);
    fails({"hub", "create", "x", "--retention", "soon"}, 2);
    fails({"hub", "create", "x", "--partition-bytes-max", "big"}, 2);
    fails({"hub", "create", "x", "--partitions", "0"}, 2);
    fails({"hub", "alter", "eh1"}, 2);
    fails({"hub", "alter", "eh1", "--partitions", "1"}, 2);
    fails({"hub", "show"}, 2);
    fails({"hub"}, 2);
    fails({"hub", "ls", "-o", "xml"}, 2);
    fails({"hub", "ls", "--timeout", "5"}, 2);
    fails({"hub", "ls", "--ca", "/no/such/file"}, 2);
    fails({"hub", "ls", "--url", "localhost:8080"}, 2);
    fails({"send", "eh1", "x", "-P", "novalue"}, 2);
    fails({"send", "eh1", "x", "--key", "k", "--partition", "0"}, 2);
}

TEST_F(CliErrors, never_show_a_key) {
    const std::string text = "Endpoint=sb://h;SharedAccessKeyName=a;SharedAccessKey=TOPSECRET";
    fails({"hub", "ls", "--conection", text}, 2);
    fails({"hub", "ls", text}, 2);
    fails({"hub", "show", text}, 3);
    fails({"hub", "ls", "--url", text}, 2);
    fails({"hub", "ls", "--hub", "Endpoint=h;SharedAccessKey=TOPSECRET"}, 2);
    fails({"hub", "ls", "--hub", "amqp://a:TOPSECRET@localhost:0"}, 2);
    fails({"read", "eh1", "--from", text}, 2);
    fails({"send", "eh1", "--rate", text}, 2);
    fails({"check", "--hub", text, "--rights", text}, 2);
}

TEST_F(CliErrors, give_up_on_a_hub_that_does_not_answer) {
    // The system completes connections for whoever listens, even if nobody accepts them.
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(listen(listener, 8), 0);
    ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
    const std::string port = std::to_string(ntohs(address.sin_port));

    fails({"read", "eh1", "--hub", "amqp://a:TOPSECRET@localhost:" + port, "--timeout", "1s"}, 5);
    fails({"hub", "ls", "--url", "http://localhost:" + port, "--timeout", "1s"}, 5);
    close(listener);
}

TEST_F(CliErrors, report_a_server_that_is_not_a_hub) {
    const auto amqp = fails({"hub", "ls", "--url", "http://localhost:" + hub_->amqp_port()}, 5);
    EXPECT_TRUE(has(amqp.errors, "not HTTP")) << amqp.errors;
    const std::string port = hub_->url().substr(hub_->url().rfind(':') + 1);
    fails({"read", "eh1", "--hub", "amqp://a:TOPSECRET@localhost:" + port}, 5);
    fails({"hub", "ls", "--url", hub_->url() + "/elsewhere"}, 3);
}

}  // namespace
}  // namespace evenkeel::cli_tests
