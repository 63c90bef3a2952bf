// Calls over the network that wait for their answer, for commands that ask a few things and end.
//
// Errors of the way there are `unavailable` and `timed_out`, whatever went wrong: an unknown host
// name, a refused connection, a certificate that is not trusted.
// Threads: any but its own.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "client/connection.h"
#include "eventhubs/greeting.h"
#include "http/client.h"

namespace evenkeel::cli {

class Dialer {
public:
    // `ca_pem` says whom to trust by TLS; empty: those whom the system trusts.
    explicit Dialer(std::string ca_pem);
    ~Dialer();
    Dialer(const Dialer&) = delete;
    Dialer& operator=(const Dialer&) = delete;

    // Connects, and hangs up.
    Result<> reach(const io::Endpoint& endpoint, Duration timeout);
    // Opens an AMQP connection without a token, and closes it: what the hub says of itself.
    Result<eventhubs::Greeting> greet(const client::ConnectionOptions& options, Duration timeout);
    Result<http::ClientResponse> ask(const http::Url& url, const http::ClientRequest& request,
                                     Duration timeout);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace evenkeel::cli
