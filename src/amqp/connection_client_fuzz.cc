// The engine as a client that begins sessions and attaches links, against any peer.
#include <vector>

#include "amqp/fuzz_fixture.h"

namespace evenkeel::amqp {
namespace {

// Begins and attaches as a client does, whenever the script says so.
void act(Script& script, Connection& engine, FuzzHandler& handler,
         std::vector<Session*>& sessions) {
    const std::uint8_t what = script.byte();
    if (sessions.empty() || (what % 4 == 0 && sessions.size() < 3)) {
        sessions.push_back(&engine.begin());
        return;
    }
    Session& session = *sessions[what % sessions.size()];
    if (session.is_ended() || handler.links.size() > 6) return;
    handler.links.insert(&engine.attach(session, fuzz_attach(script, true)));
}

// Forgets sessions when they end, as a client must.
class Client final : public Handler {
public:
    explicit Client(Script& script) : inner(script) {}

    FuzzHandler inner;
    std::vector<Session*> sessions;
    bool is_open = false;

    bool on_sasl(const SaslInit&) override { return true; }
    void on_open(const Open& open) override {
        is_open = true;
        inner.on_open(open);
    }
    void on_attach(Link& link) override { inner.on_attach(link); }
    void on_attached(Link& link) override { inner.on_attached(link); }
    void on_delivery(Link& link, const Delivery& delivery) override {
        inner.on_delivery(link, delivery);
    }
    void on_credit(Link& link) override { inner.on_credit(link); }
    void on_disposition(Link& link, const Disposition& disposition) override {
        inner.on_disposition(link, disposition);
    }
    void on_detach(Link& link, const std::optional<Condition>& error) override {
        inner.on_detach(link, error);
    }
    void on_end(Session& session, const std::optional<Condition>& error) override {
        inner.on_end(session, error);
        std::erase(sessions, &session);
    }
    void on_closed(const std::optional<Condition>& error) override {
        is_open = false;
        sessions.clear();
        inner.on_closed(error);
    }
};

}  // namespace
}  // namespace evenkeel::amqp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace evenkeel;
    using namespace evenkeel::amqp;
    Script script(ByteView(reinterpret_cast<const std::byte*>(data), size));
    Instant now{1'000'000'000};
    Client client(script);
    ConnectionOptions options = fuzz_options();
    options.is_server = false;
    const std::uint8_t start = script.byte() % 4;
    if (start != 1) options.mechanism = "";
    options.first_transfer_id = 0xfffffffe;
    Connection engine(options, client, now);
    client.inner.engine = &engine;
    if (start >= 2) {
        engine.receive(as_bytes(std::string_view("AMQP\0\1\0\0", 8)), now);
        Buffer body;
        encode(Open{}, body);
        engine.receive(fuzz_frame(0, body, {}, 0), now);
    }
    while (!script.at_end()) {
        if (client.is_open && script.byte() % 4 == 0) {
            act(script, engine, client.inner, client.sessions);
        } else {
            fuzz_step(script, engine, client.inner, now);
        }
    }
    check_output(engine);
    engine.lost();
    EK_CHECK(engine.is_closed() && client.inner.is_closed(), "all is reported");
    EK_CHECK(client.inner.links.empty(), "and nothing is left");
    return 0;
}
