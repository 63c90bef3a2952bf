// The far end of a fuzzed TLS connection: OpenSSL on memory, which shakes hands honestly and then
// does as the script says.
#pragma once

#include <memory>
#include <vector>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

#include "base/check.h"
#include "base/freed.h"
#include "base/random.h"
#include "io/layer_fixture.h"
#include "io/tls.h"

namespace evenkeel::io {

enum class TlsSide : unsigned char { server, client };

inline TlsSide opposite(TlsSide side) {
    return side == TlsSide::server ? TlsSide::client : TlsSide::server;
}

// One key and certificate for all runs.
inline const TlsIdentity& fuzz_identity() {
    static const TlsIdentity identity = *make_self_signed({"hub"});
    return identity;
}

struct FuzzContexts {
    std::unique_ptr<const TlsServerContext> server = *TlsServerContext::make(fuzz_identity());
    std::unique_ptr<const TlsClientContext> client =
        *TlsClientContext::make({.ca_pem = fuzz_identity().certificate_pem});
};
inline const FuzzContexts& fuzz_contexts() {
    static const FuzzContexts contexts;
    return contexts;
}

// TLS around `inner`, as the program under test has it.
inline std::unique_ptr<Socket> fuzzed_tls(Loop& loop, std::unique_ptr<Socket> inner, TlsSide side) {
    const FuzzContexts& contexts = fuzz_contexts();
    return side == TlsSide::server ? tls_server(loop, std::move(inner), *contexts.server)
                                   : tls_client(loop, std::move(inner), *contexts.client, "hub");
}

// What OpenSSL draws by chance is the same in each run, so that what a fuzzer finds can be
// repeated.
inline void repeat_openssl_chance() {
    (void)fuzz_contexts();  // draws too, but only in the first run
    static Random chance(1);
    chance = Random(1);
    static const RAND_METHOD method = [] {
        RAND_METHOD made{};
        made.bytes = [](unsigned char* to, int size) {
            chance.fill({reinterpret_cast<std::byte*>(to), static_cast<std::size_t>(size)});
            return 1;
        };
        made.pseudorand = made.bytes;
        made.status = [] { return 1; };
        return made;
    }();
    EK_CHECK(RAND_set_rand_method(&method) == 1, "OpenSSL takes its chance from us");
}

class TlsPeer : public FuzzPeer {
public:
    // The side that it plays itself.
    explicit TlsPeer(TlsSide side) : ssl_(SSL_new(context(side))) {
        from_wire_ = BIO_new(BIO_s_mem());
        to_wire_ = BIO_new(BIO_s_mem());
        BIO_set_mem_eof_return(from_wire_, -1);
        SSL_set_bio(ssl_.get(), from_wire_, to_wire_);
        side == TlsSide::server ? SSL_set_accept_state(ssl_.get())
                                : SSL_set_connect_state(ssl_.get());
        if (side == TlsSide::client) advance();
    }

    void receive(ByteView wire) override {
        BIO_write(from_wire_, wire.data(), static_cast<int>(wire.size()));
        advance();
    }

    void step(Script& script) override {
        switch (script.byte() % 8) {
            case 0: return send(script.byte());
            case 1: return send(std::size_t{1024} * script.byte());
            case 2: return key_update(script.byte());
            case 3: return shut_down();
            case 4: return record(23, script.bytes(script.byte()));  // does not decrypt
            case 5: return record(script.byte(), script.bytes(script.byte()));
            case 6: return record(21, script.bytes(2));
            default: return spoil(script);
        }
    }

protected:
    virtual void plain(ByteView bytes) { understood(bytes); }
    virtual void send(std::size_t size) {
        if (send_plain(fuzz_bytes(sent_, size))) sent_ += size;
    }

    bool is_ready() const { return SSL_is_init_finished(ssl_.get()) == 1; }
    // True if it could be sent.
    bool send_plain(ByteView bytes) {
        if (!is_ready() || ended_ || bytes.empty()) return false;
        ERR_clear_error();
        std::size_t sent = 0;
        const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &sent);
        take_wire();
        return result == 1;
    }
    void shut_down() {
        if (!is_ready() || ended_) return;
        ended_ = true;
        ERR_clear_error();
        SSL_shutdown(ssl_.get());
        take_wire();
    }

private:
    static SSL_CTX* context(TlsSide side) {
        static const auto server = make_context(TLS_server_method(), true);
        static const auto client = make_context(TLS_client_method(), false);
        return side == TlsSide::server ? server.get() : client.get();
    }
    using ContextPointer = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
    static ContextPointer make_context(const SSL_METHOD* method, bool with_identity) {
        ContextPointer made(SSL_CTX_new(method));
        if (!with_identity) return made;
        const TlsIdentity& identity = fuzz_identity();
        const auto reading = [](const std::string& text) {
            return std::unique_ptr<BIO, Freed<BIO_free_all>>(
                BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
        };
        const std::unique_ptr<X509, Freed<X509_free>> certificate(
            PEM_read_bio_X509(reading(identity.certificate_pem).get(), nullptr, nullptr, nullptr));
        const std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>> key(
            PEM_read_bio_PrivateKey(reading(identity.key_pem).get(), nullptr, nullptr, nullptr));
        EK_CHECK(SSL_CTX_use_certificate(made.get(), certificate.get()) == 1 &&
                     SSL_CTX_use_PrivateKey(made.get(), key.get()) == 1,
                 "our own identity");
        return made;
    }

    void advance() {
        ERR_clear_error();
        if (!is_ready()) SSL_do_handshake(ssl_.get());
        std::vector<std::byte> bytes(4096);
        while (is_ready()) {
            ERR_clear_error();
            std::size_t size = 0;
            const int result = SSL_read_ex(ssl_.get(), bytes.data(), bytes.size(), &size);
            if (result != 1) {
                const int error = SSL_get_error(ssl_.get(), result);
                if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_ZERO_RETURN) honest_ = false;
                break;
            }
            plain(ByteView(bytes).first(size));
        }
        take_wire();
    }
    void key_update(std::uint8_t how) {
        if (!is_ready() || ended_ || SSL_version(ssl_.get()) != TLS1_3_VERSION) return;
        // Many of them are more than an honest peer sends.
        const int count = how % 4 == 3 ? how : 1;
        for (int i = 0; i < count; ++i) {
            honest_ = honest_ && ++key_updates_ <= 8;
            SSL_key_update(ssl_.get(),
                           how % 2 == 0 ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED);
            SSL_do_handshake(ssl_.get());
        }
        take_wire();
    }
    // A record of that kind that was not encrypted with our keys.
    void record(std::uint8_t kind, ByteView content) {
        honest_ = false;
        const std::byte head[] = {static_cast<std::byte>(kind), std::byte{3}, std::byte{3},
                                  std::byte{0}, static_cast<std::byte>(content.size())};
        emit(head);
        emit(content);
    }
    void take_wire() {
        std::vector<std::byte> wire(BIO_ctrl_pending(to_wire_));
        if (wire.empty()) return;
        BIO_read(to_wire_, wire.data(), static_cast<int>(wire.size()));
        emit(wire);
    }

    const std::unique_ptr<SSL, Freed<SSL_free>> ssl_;
    BIO* from_wire_ = nullptr;  // both are the ssl's
    BIO* to_wire_ = nullptr;
    int key_updates_ = 0;
    bool ended_ = false;
};

}  // namespace evenkeel::io
