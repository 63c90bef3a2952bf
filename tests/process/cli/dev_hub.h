// A running `evenkeel dev` on ports of its own, and commands against it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/paths.h"
#include "support/process.h"
#include "support/temporary_directory.h"

namespace evenkeel::cli_tests {

using fault::Outcome;
using fault::Process;

inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

class DevHub {
public:
    explicit DevHub(std::vector<std::string> more = {})
        : process_(command(folder_.path(), std::move(more))) {
        // What it says when it is ready.
        char c = 0;
        while (!has(said_, "Ctrl-C stops.") && process_.read_output(&c, 1)) said_ += c;
        EXPECT_TRUE(has(said_, "Ctrl-C stops.")) << said_ << process_.rest_of_errors();
    }
    ~DevHub() {
        process_.signal(SIGTERM);
        process_.wait();
    }

    std::string amqp_port() const { return port_after("amqp://localhost:"); }
    std::string amqps_port() const { return port_after("amqps://localhost:"); }
    std::string url() const { return "http://localhost:" + port_after("http://localhost:"); }
    std::uint16_t http_port() const {
        return static_cast<std::uint16_t>(std::stoi(port_after("http://localhost:")));
    }
    std::string certificate() const { return folder_.path() + "/certificate.pem"; }
    std::string file(const std::string& name) const { return folder_.path() + "/" + name; }
    std::string connection(const std::string& key = "SAS_KEY_VALUE") const {
        return "Endpoint=sb://localhost:" + amqp_port() +
               ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=" + key +
               ";UseDevelopmentEmulator=true";
    }

    // What follows runs against this one.
    void make_default() const {
        for (const char* name : {"EVENTHUB_CONNECTION_STRING", "EVENKEEL_CA", "NO_COLOR"}) {
            unsetenv(name);
        }
        setenv("EVENKEEL_HUB", connection().c_str(), 1);
        setenv("EVENKEEL_URL", url().c_str(), 1);
    }

private:
    static std::vector<std::string> command(const std::string& folder,
                                            std::vector<std::string> more) {
        std::vector<std::string> words = {test::evenkeel_program(),
                                          "dev",
                                          "--data",
                                          folder + "/data",
                                          "--port",
                                          "0",
                                          "--http-port",
                                          "0",
                                          "--tls-port",
                                          "0",
                                          "--certificate-file",
                                          folder + "/certificate.pem"};
        words.insert(words.end(), more.begin(), more.end());
        return words;
    }
    std::string port_after(const std::string& mark) const {
        const auto begin = said_.find(mark) + mark.size();
        return said_.substr(begin, said_.find_first_not_of("0123456789", begin) - begin);
    }

    test::TemporaryDirectory folder_;
    Process process_;
    std::string said_;
};

inline Outcome evenkeel(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), test::evenkeel_program());
    return fault::run_to_end(arguments);
}

// The same on a terminal, with `typed` as what is typed; stdout and stderr come together.
inline Outcome on_terminal(const std::string& arguments, std::string_view typed = {}) {
    Process process(
        {"/usr/bin/script", "-qec", test::evenkeel_program() + " " + arguments, "/dev/null"});
    process.write_input(typed);
    Outcome outcome;
    outcome.output = process.rest_of_output();
    outcome.exit_code = process.wait().code;
    return outcome;
}

class CliTest : public testing::Test {
protected:
    static void SetUpTestSuite() {
        hub_ = std::make_unique<DevHub>();
        hub_->make_default();
    }
    static void TearDownTestSuite() { hub_.reset(); }
    void SetUp() override { hub_->make_default(); }

    inline static std::unique_ptr<DevHub> hub_;
};

}  // namespace evenkeel::cli_tests
