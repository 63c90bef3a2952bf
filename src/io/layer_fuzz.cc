// TLS as server and as client with its writes: io/layer_fixture.h says what is played and checked.
#define OPENSSL_SUPPRESS_DEPRECATED  // chance that can be repeated has no newer interface
#include "io/tls_fixture.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace evenkeel;
    using namespace evenkeel::io;
    if (size < 2) return 0;
    static const auto server = *TlsServerContext::make(fuzz_identity());
    static const auto client = *TlsClientContext::make({.ca_pem = fuzz_identity().certificate_pem});
    repeat_openssl_chance();
    Script script(data, size);
    const bool as_server = script.byte() % 2 == 0;
    TlsPeer peer(as_server ? TlsSide::client : TlsSide::server);
    FuzzRun run(script, peer, [&](Loop& loop, std::unique_ptr<Socket> inner) {
        return as_server ? tls_server(loop, std::move(inner), *server)
                         : tls_client(loop, std::move(inner), *client, "hub");
    });
    run.run();
    return 0;
}
