// TLS as server and as client with its writes: io/layer_fixture.h says what is played and checked.
#define OPENSSL_SUPPRESS_DEPRECATED  // chance that can be repeated has no newer interface
#include "io/tls_fixture.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace evenkeel;
    using namespace evenkeel::io;
    if (size < 2) return 0;
    repeat_openssl_chance();
    Script script(data, size);
    const TlsSide ours = script.byte() % 2 == 0 ? TlsSide::server : TlsSide::client;
    TlsPeer peer(opposite(ours));
    FuzzRun run(script, peer, [&](Loop& loop, std::unique_ptr<Socket> inner) {
        return fuzzed_tls(loop, std::move(inner), ours);
    });
    run.run();
    return 0;
}
