// A hub, an app folder and a store, for tests of the function host with real processes.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <signal.h>

#include <gtest/gtest.h>

#include "host/app_fixture.h"
#include "support/dev_server.h"
#include "support/server_process.h"

namespace evenkeel::fault {

class FunctionHost : public ::testing::Test {
protected:
    FunctionHost() {
        hub_.make_default();
        setenv("HUB", hub_.connection().c_str(), 1);
        expect_done({"hub", "create", "alerts", "--partitions", "1"});
    }
    std::string store() const { return "sqlite:" + folder_.path() + "/progress.db"; }
    static std::string evenkeel(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), test::evenkeel_program());
        const Outcome outcome = run_to_end(arguments);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
        return outcome.output;
    }
    static void expect_done(const std::vector<std::string>& arguments) {
        static_cast<void>(evenkeel(arguments));
    }
    static void send(int first, int last) {
        std::vector<std::string> arguments = {"send", "eh1", "-q"};
        for (int n = first; n <= last; ++n)
            arguments.push_back("{\"n\":" + std::to_string(n) + "}");
        expect_done(arguments);
    }
    std::unique_ptr<Process> start(const std::string& name) const {
        return std::make_unique<Process>(std::vector<std::string>{
            test::evenkeel_program(), "host", app_.path(), "--instance", name, "--store", store()});
    }
    // Ends it as a service manager does; what it said on stderr.
    static std::string stop(Process& host) {
        host.signal(SIGTERM);
        const std::string said = host.rest_of_errors();
        const Ended ended = host.wait();
        EXPECT_TRUE(ended.exited && ended.code == 0) << said;
        return said;
    }
    static std::size_t count(const std::string& text, const std::string& part) {
        std::size_t found = 0;
        for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
            ++found;
        }
        return found;
    }
    // Until the functions have written so many events; what they wrote.
    static std::string alerts(std::size_t events) {
        std::string all;
        EXPECT_TRUE(eventually([&] {
            all = evenkeel({"read", "alerts"});
            return count(all, "seen") >= events;
        })) << all;
        return all;
    }

    test::TemporaryDirectory folder_;
    DevServer hub_{folder_.path() + "/data"};
    host::AppFolder app_;
};

}  // namespace evenkeel::fault
