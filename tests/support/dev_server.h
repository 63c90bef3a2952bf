// `evenkeel dev` on a data folder that outlives it, on ports of its own.
#pragma once

#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>

#include <signal.h>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "support/paths.h"
#include "support/process.h"

namespace evenkeel::fault {

inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Asks again and again; false if it takes too long.
inline bool eventually(const std::function<bool()>& condition) {
    const SystemClock clock;
    const Instant end = clock.now() + std::chrono::minutes(2);
    while (!condition()) {
        if (clock.now() > end) return false;
    }
    return true;
}

class DevServer {
public:
    explicit DevServer(const std::string& data)
        : process_({test::evenkeel_program(), "dev", "--data", data, "--port", "0", "--http-port",
                    "0", "--tls-port", "0", "--certificate-file", data + ".pem"}) {
        char c = 0;
        while (!has(said_, "Ctrl-C stops.") && process_.read_output(&c, 1)) said_ += c;
        EXPECT_TRUE(has(said_, "Ctrl-C stops.")) << said_ << process_.rest_of_errors();
    }
    ~DevServer() {
        process_.signal(SIGTERM);
        process_.wait();
    }

    std::string connection(const std::string& host = "localhost") const {
        return "Endpoint=sb://" + host + ":" + port_after("amqp://localhost:") +
               ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;"
               "UseDevelopmentEmulator=true";
    }
    // Commands that are started from now on talk to this one.
    void make_default(const std::string& host = "localhost") const {
        setenv("EVENKEEL_HUB", connection(host).c_str(), 1);
        setenv("EVENKEEL_URL", ("http://localhost:" + port_after("http://localhost:")).c_str(), 1);
    }

private:
    std::string port_after(const std::string& mark) const {
        const auto begin = said_.find(mark) + mark.size();
        return said_.substr(begin, said_.find_first_not_of("0123456789", begin) - begin);
    }

    Process process_;
    std::string said_;
};

}  // namespace evenkeel::fault
