// `evenkeel serve` as a child, with a folder and a configuration of its own, on free ports of
// loopback. Its log lines tell when something has happened, so that no test has to guess.
#pragma once

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "eventhubs/sas.h"
#include "io/system/files.h"
#include "support/paths.h"
#include "support/process.h"
#include "support/temporary_directory.h"

namespace evenkeel::serve {

using fault::Ended;
using fault::Process;

inline bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

inline void write_file(const std::string& path, std::string_view text) {
    io::system::SystemFiles files;
    const auto written = io::replace_file(files, path, as_bytes(text));
    EXPECT_TRUE(written.ok()) << (written.ok() ? "" : written.error().detail);
}

inline std::string read_text(const std::string& path) {
    io::system::SystemFiles files;
    const auto bytes = io::read_file(files, path, 1 << 20);
    return bytes.ok() ? std::string(as_text(*bytes)) : to_string(bytes.error());
}

// A member of a JSON object as text; empty if there is no such thing.
std::string member(std::string_view json, std::string_view name);

// A socket to a port of loopback that gives up after a while.
int connect_to(int port);

struct Answer {
    int status = 0;
    std::string body;
};

Answer http(int port, const std::string& method, const std::string& path,
            const std::string& token = {}, const std::string& body = {});

// The same with a request as it stands, and the answer until the server ends.
Answer raw_http(int port, const std::string& request);

inline const std::string root_key = "cm9vdC1rZXk";

class ServeProcess {
public:
    // A rule "root" with all rights and an event hub "eh1" of two partitions are there.
    // `extra` comes behind, `listen` into that table, `variables` into the environment.
    struct Wish {
        std::string extra = {};
        std::string listen = {};
        std::vector<std::string> variables = {};
        // With the folder of the configuration; for files that it names.
        std::function<void(const std::string&)> before_start = {};
    };
    ServeProcess() : ServeProcess(Wish{}) {}
    explicit ServeProcess(Wish wish) : wish_(std::move(wish)) {
        if (wish_.before_start) wish_.before_start(folder_.path());
        start();
    }

    void write_config(const std::string& extra) const {
        write_file(config_path(),
                   "data = 'data'\nready_file = 'ready.json'\n[listen]\namqp = '127.0.0.1:0'\n"
                   "http = '127.0.0.1:0'\n" +
                       wish_.listen +
                       "\n[log]\nformat = 'json'\n[[rule]]\nname = 'root'\nrights = 'Manage'\n"
                       "primary_key = '" +
                       root_key + "'\n[[hub]]\nname = 'eh1'\npartitions = 2\n" + extra);
    }
    void launch() {
        if (read_text(config_path()).starts_with("not_found")) write_config(wish_.extra);
        process_ = std::make_unique<Process>(command());
    }
    void start() {
        launch();
        EXPECT_NE(wait_for_line("the hub accepts clients"), "");
        const std::string ports = read_text(folder_.path() + "/ready.json");
        amqp_port = std::atoi(member(ports, "amqp_port").c_str());
        amqps_port = std::atoi(member(ports, "amqps_port").c_str());
        http_port = std::atoi(member(ports, "http_port").c_str());
        EXPECT_GT(amqp_port, 0) << ports;
    }
    std::vector<std::string> command() const {
        std::vector<std::string> words{"/usr/bin/env"};
        words.insert(words.end(), wish_.variables.begin(), wish_.variables.end());
        words.insert(words.end(), {test::evenkeel_program(), "serve", "--config", config_path()});
        return words;
    }

    // The next log line with the text in it; all before are kept in `lines`. Empty if the process
    // ended before.
    std::string wait_for_line(std::string_view text) {
        while (true) {
            std::string line = process_->read_error_line();
            if (line.empty()) return {};
            lines.push_back(line);
            if (has(line, text)) return line;
        }
    }
    // The same, or one of those that were seen already.
    std::string find_line(std::string_view text) {
        for (const auto& line : lines) {
            if (has(line, text)) return line;
        }
        return wait_for_line(text);
    }
    std::string reload() {
        process_->signal(SIGHUP);
        return wait_for_line("reloaded");
    }
    Ended stop(int signal = SIGTERM) {
        process_->signal(signal);
        while (!wait_for_line("").empty()) {
        }
        return process_->wait();
    }

    std::string connection(const std::string& rule = "root", const std::string& key = root_key,
                           const std::string& hub = "eh1") const {
        return "Endpoint=sb://127.0.0.1:" + std::to_string(amqp_port) +
               ";SharedAccessKeyName=" + rule + ";SharedAccessKey=" + key + ";EntityPath=" + hub +
               ";UseDevelopmentEmulator=true";
    }
    Answer ask(const std::string& method, const std::string& path,
               const std::string& body = {}) const {
        const std::string token = eventhubs::make_sas("sb://localhost/", "root", Secret(root_key),
                                                      SystemClock().wall() + std::chrono::hours(1));
        return http(http_port, method, path, token, body);
    }

    std::string config_path() const { return folder_.path() + "/evenkeel.toml"; }
    const std::string& folder() const { return folder_.path(); }
    Process& process() { return *process_; }

    int amqp_port = 0;
    int amqps_port = 0;
    int http_port = 0;
    std::vector<std::string> lines;

private:
    const test::TemporaryDirectory folder_;
    const Wish wish_;
    std::unique_ptr<Process> process_;
};

}  // namespace evenkeel::serve
