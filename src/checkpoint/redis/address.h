// "redis://user:password@host:port/7", taken apart, and what may be shown of it. With Sentinel:
// "redis://user:password@host:port,host:port/7?sentinel=NAME", where the hosts are Sentinels; they
// know user and password too, or others: "&sentinel_user=U&sentinel_password=P".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/socket.h"

namespace evenkeel::checkpoint {

struct RedisAddress {
    bool is_tls = false;  // "rediss://"
    std::string user = {};
    std::string password = {};
    io::Endpoint endpoint;  // of the first Sentinel, if there are some
    std::vector<io::Endpoint> sentinels = {};
    std::string primary = {};  // what Sentinels call it
    std::string sentinel_user = {};
    std::string sentinel_password = {};  // empty: that of the servers
    int database = 0;
    std::string ca_file = {};  // "?ca=FILE": whom to trust; without it those whom the system trusts
    bool verify = true;        // "?insecure=1": anybody

    // "redis://host:port/7", without users, passwords and options.
    std::string shown() const;

    // `invalid_argument` never repeats users or passwords.
    static Result<RedisAddress> parse(std::string_view url);
};

}  // namespace evenkeel::checkpoint
