// Requests to HTTP servers elsewhere, many at a time, over connections that stay open: for what
// asks all the time, as a checkpoint store does. http/client.h is for one request now and then, and
// why there are two is in docs/adr/0012-two-http-clients.md.
//
//     fetch() on any thread ──▶ http/0: libcurl, at most `connections_max` at once ──▶ done()
//
// libcurl brings what networks of the real world need: proxies from the environment (https_proxy,
// no_proxy), the system's certificates, names with many addresses. It is loaded when the first
// fetcher is opened, so that programs which need none do not need the library
// (docs/adr/0007-libcurl-for-blob-storage.md).
// Follows no redirects.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/task.h"
#include "http/client.h"

namespace evenkeel::http {

struct FetcherOptions {
    Duration time_max = std::chrono::seconds(3);  // for one request, from its beginning to its end
    long connections_max = 8;
    std::size_t body_bytes_max = std::size_t{64} << 20;
    bool proxies = true;  // those of the environment; not for processes on this machine
};

struct FetchRequest {
    std::string method = "GET";
    std::string url;                 // whole, as it is to be sent
    std::vector<Field> fields = {};  // an empty value is sent as such
    std::string body = {};           // sent with PUT and POST, also if it is empty
};

struct Fetched {
    ClientResponse response;
    // The request may have been sent twice: over a connection that was found dead, and again.
    bool may_be_repeated = false;
};

class Fetcher {
public:
    // `unsupported` if libcurl cannot be loaded.
    static Result<std::unique_ptr<Fetcher>> open(const FetcherOptions& options);
    // Drops what is under way; its callbacks do not run any more.
    ~Fetcher();
    Fetcher(const Fetcher&) = delete;
    Fetcher& operator=(const Fetcher&) = delete;

    // Threads: any. `done` runs on the fetcher's thread, and must be short. `unavailable` and
    // `timed_out` name the host, never the path or the query.
    void fetch(FetchRequest request, Callback<void(Result<Fetched>)> done);

private:
    struct State;
    explicit Fetcher(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace evenkeel::http
