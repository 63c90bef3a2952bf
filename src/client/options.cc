#include "client/options.h"

#include "base/random.h"
#include "http/websocket.h"
#include "io/tls.h"

namespace evenkeel::client {
namespace {

// AMQP in a WebSocket in TLS, as far as the target asks for it.
Result<Wrap> wrap_for(const eventhubs::Target& target, const ClientOptions& options) {
    std::shared_ptr<const io::TlsClientContext> tls;
    if (target.tls) {
        EK_TRY_ASSIGN(tls, io::TlsClientContext::make({options.tls_ca_pem, options.tls_verify}));
    }
    if (!target.tls && !target.websocket) return Wrap();
    return Wrap([tls, websocket = target.websocket](io::Loop& loop,
                                                    std::unique_ptr<io::Socket> socket,
                                                    const io::Endpoint& endpoint) {
        if (tls) socket = io::tls_client(loop, std::move(socket), *tls, endpoint.host);
        if (!websocket) return socket;
        const std::uint16_t usual_port = tls ? 443 : 80;
        http::WebSocketTarget asked;
        asked.host = endpoint.port == usual_port ? endpoint.host : io::to_string(endpoint);
        return http::websocket_client(loop, std::move(socket), asked);
    });
}

}  // namespace

Result<ConnectionOptions> connection_options(const ClientOptions& options) {
    ConnectionOptions result;
    EK_TRY_ASSIGN(result.target, eventhubs::parse_connection_string(options.connection));
    std::string& event_hub = result.target.event_hub;
    if (event_hub.empty()) {
        event_hub = options.event_hub;
    } else if (!options.event_hub.empty() && options.event_hub != event_hub) {
        return Error{ErrorCode::invalid_argument, "the connection string is for event hub '" +
                                                      event_hub + "', not for '" +
                                                      options.event_hub + "'"};
    }
    if (event_hub.empty()) {
        return Error{ErrorCode::invalid_argument,
                     "which event hub? Name it in the connection string (EntityPath=...) or beside "
                     "it"};
    }
    EK_TRY_ASSIGN(result.wrap, wrap_for(result.target, options));
    if (options.credential && !(result.target.key.empty() && result.target.token.empty())) {
        return Error{
            ErrorCode::invalid_argument,
            "the connection string has a key or token, and there is a credential too; give "
            "one of them"};
    }
    if (options.token_life < std::chrono::seconds(10)) {
        return Error{ErrorCode::invalid_argument, "token_life is at least 10 seconds"};
    }
    result.name = options.name;
    result.retry = options.retry;
    result.token_life = options.token_life;
    result.credential = options.credential;
    result.seed = secure_number();
    return result;
}

}  // namespace evenkeel::client
