// `evenkeel dev`: a hub for work on this machine, with the emulator's connection string.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/exit_code.h"

namespace evenkeel::cli {

struct DevOptions {
    std::string data = ".evenkeel";
    std::string address = "127.0.0.1";
    std::uint16_t port = 5672;
    std::uint16_t http_port = 8080;           // health, admin, AMQP over WebSocket
    std::optional<std::uint16_t> tls_port;    // AMQP over TLS, with a certificate of its own making
    std::optional<std::uint16_t> https_port;  // the same as http_port, over TLS
    std::string certificate_file;             // where clients find the certificate to trust
    std::string config;                       // the emulator's Config.json; empty: none
    std::optional<std::uint16_t> health_port;  // one more for HTTP; with `config` it is 5300
    std::vector<std::string> event_hubs;       // name or name:partitions; eh1:2 if none is given
    std::vector<std::string> host_names;       // by which it is called, beside loopback
    std::vector<std::string> watch_stores;     // whose groups the dashboard shows
    std::string ready_file;                    // the real ports, as JSON, once it is ready
    bool ephemeral = false;                    // data in a temporary folder, deleted on exit
    bool accept_any_token = false;
};

ExitCode dev(const DevOptions& options);

}  // namespace evenkeel::cli
