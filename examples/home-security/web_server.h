// A small HTTP server for a page and its data. One thread serves everybody, so a handler must be
// quick. Requests are bounded in size, number and time; what is no HTTP is answered with 400.
//
// A web site that a resident visits may point its own name at our address, and its scripts could
// then read our answers. So Host must be "localhost", an IP address, or the name that we are told;
// everything else is answered with 421.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <evenkeel/error.h>

namespace homes {

struct WebAnswer {
    unsigned status = 200;
    std::string type = "text/plain; charset=utf-8";
    std::string body = {};
};

// Gets the path of a GET, without its query.
using WebHandler = std::function<WebAnswer(const std::string& path)>;

class WebServer {
public:
    // Port 0: any that is free. `name`: of this machine, as browsers know it; may be empty.
    // `unavailable` if the address cannot be used.
    static evenkeel::Result<std::unique_ptr<WebServer>> open(const std::string& address,
                                                             std::uint16_t port, std::string name,
                                                             WebHandler handler);
    virtual ~WebServer() = default;
    virtual std::uint16_t port() const = 0;
    // Until SIGINT or SIGTERM, which end the process with exit code 0.
    virtual void run() = 0;
};

}  // namespace homes
