// Which names a server is known by, and whose pages may use it.
//
// A page that a browser shows may send requests anywhere, also to addresses that only this machine
// reaches. Two things give it away: its own name in Host, if it made that name point here (DNS
// rebinding), and its origin in Origin.
//
//   Host     421 unless it is a loopback name, an IP address, or one of `names`. An address cannot
//            be made to point elsewhere. A request of HTTP/1.0 without Host is no browser's.
//   Origin   403 for upgrades and for methods that change something, unless it has the host and
//            port of Host, or is one of `origins`. Clients that are no browsers send none.
// Threads: a value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace evenkeel::http {

struct SiteOptions {
    std::vector<std::string> names = {};    // without ports; "*.example.org" for one more label
    std::vector<std::string> origins = {};  // "https://console.example.org:8443"
};

class Site {
public:
    explicit Site(SiteOptions options = {}) : options_(std::move(options)) {}

    // The answer if the request is refused.
    std::optional<Response> refuse(const Request& request) const;

private:
    bool is_known(std::string_view host) const;
    bool is_foreign(const Request& request) const;

    SiteOptions options_;
};

// True for what may stand in SiteOptions::origins: scheme and host, perhaps a port, no more.
bool is_origin(std::string_view text);
// True for what may stand in SiteOptions::names.
bool is_host_name(std::string_view text);

}  // namespace evenkeel::http
