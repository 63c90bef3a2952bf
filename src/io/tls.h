// TLS 1.2 and 1.3 over any Socket: the same contract, but that bytes are private and the peer is
// who it says. OpenSSL works on memory; the wire is the inner socket's (io/layer.h).
//
//     auto listener = tls_listener(loop, *network.listen(endpoint), context);
//     auto socket = tls_client(loop, std::move(connected), context, "hub.example.org");
//
// finish() and close() say close_notify; a stream that ends without one ends with `unavailable`,
// for something may be missing. A server reads 0 from a client that leaves before the handshake is
// over. Handshakes that fail give `invalid_argument`: plain bytes, no common version, a certificate
// that is not trusted. Renegotiation is refused, key updates are bounded, there is no resumption
// (so that no ticket lies unread when a client closes, which would reset the connection).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/file.h"
#include "io/loop.h"
#include "io/socket.h"

namespace evenkeel::io {

// Certificate chain, leaf first, and its key.
struct TlsIdentity {
    std::string certificate_pem;
    std::string key_pem;
};

// Blocks; errors as in io/file.h.
Result<TlsIdentity> read_identity(FileSystem& files, const std::string& certificate_file,
                                  const std::string& key_file);

// A new P-256 key, and a certificate for the names and addresses that it signs itself, for tests
// and for `evenkeel dev`; valid for two years. Clients trust it by having it in their CA file.
// invalid_argument for what is neither name nor address.
Result<TlsIdentity> make_self_signed(const std::vector<std::string>& hosts = {"localhost",
                                                                              "127.0.0.1", "::1"});

// The DNS names that the certificate is for, as it has them: "hub.example.org", "*.example.org".
// None if it does not parse.
std::vector<std::string> names_of(const TlsIdentity& identity);

// Threads: any.
class TlsServerContext {
public:
    // invalid_argument if certificate and key do not parse or do not belong together.
    static Result<std::unique_ptr<TlsServerContext>> make(const TlsIdentity& identity);
    ~TlsServerContext();
    // For connections from now on; those that are there go on. The old one stays on an error.
    Result<> replace(const TlsIdentity& identity);

private:
    friend std::unique_ptr<Socket> tls_server(Loop&, std::unique_ptr<Socket>,
                                              const TlsServerContext&);
    struct State;
    explicit TlsServerContext(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

struct TlsClientOptions {
    std::string ca_pem = {};  // whom to trust; empty: those whom the system trusts
    bool verify = true;       // false: anybody, which protects only from those who just listen
};

// Threads: any.
class TlsClientContext {
public:
    static Result<std::unique_ptr<TlsClientContext>> make(const TlsClientOptions& options);
    ~TlsClientContext();

private:
    friend std::unique_ptr<Socket> tls_client(Loop&, std::unique_ptr<Socket>,
                                              const TlsClientContext&, const std::string&);
    struct State;
    explicit TlsClientContext(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

// `loop` is the inner socket's. The context may go before the socket.
std::unique_ptr<Socket> tls_server(Loop& loop, std::unique_ptr<Socket> inner,
                                   const TlsServerContext& context);
// `host` is the name or address that the peer's certificate must be for.
std::unique_ptr<Socket> tls_client(Loop& loop, std::unique_ptr<Socket> inner,
                                   const TlsClientContext& context, const std::string& host);
// Accepts what `inner` accepts, as tls_server(). `context` outlives the listener.
std::unique_ptr<Listener> tls_listener(Loop& loop, std::unique_ptr<Listener> inner,
                                       const TlsServerContext& context);

}  // namespace evenkeel::io
