#include "io/tls.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/check.h"
#include "base/freed.h"
#include "base/mutex.h"
#include "base/random.h"
#include "io/layer.h"

namespace evenkeel::io {

namespace {

using BioPointer = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using ContextPointer = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using SslPointer = std::unique_ptr<SSL, Freed<SSL_free>>;
using CertificatePointer = std::unique_ptr<X509, Freed<X509_free>>;
using KeyPointer = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using NumberPointer = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using ExtensionPointer = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>>;

// What OpenSSL has to say, oldest first, without its numbers; empties its list.
std::string reasons() {
    std::string text;
    while (const unsigned long code = ERR_get_error()) {
        const char* reason = ERR_reason_error_string(code);
        if (!text.empty()) text += ", ";
        text += reason ? reason : "error " + std::to_string(code);
    }
    return text.empty() ? "no reason given" : text;
}

class TlsLayer final : public Layer {
public:
    TlsLayer(SslPointer ssl, bool is_server) : ssl_(std::move(ssl)), is_server_(is_server) {
        from_wire_ = BIO_new(BIO_s_mem());
        to_wire_ = BIO_new(BIO_s_mem());
        BIO_set_mem_eof_return(from_wire_, -1);
        SSL_set_bio(ssl_.get(), from_wire_, to_wire_);
        SSL_set_msg_callback(ssl_.get(), &TlsLayer::saw_message);
        SSL_set_msg_callback_arg(ssl_.get(), this);
        if (is_server_) {
            SSL_set_accept_state(ssl_.get());
        } else {
            SSL_set_connect_state(ssl_.get());
            // Makes the hello. A failure, out of memory say, is one that receive() meets again.
            (void)shake_hands();
        }
    }

    bool is_ready() const override { return ready_; }
    bool has_begun() const override { return ready_; }

    Result<> receive(ByteView wire) override {
        const int size = static_cast<int>(wire.size());
        EK_CHECK(BIO_write(from_wire_, wire.data(), size) == size, "memory takes all");
        if (!ready_) return shake_hands();
        return {};
    }

    Result<> receive_end() override {
        if (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) return {};
        if (is_server_ && !ready_) {
            ended_ = true;
            return {};
        }
        return Error{ErrorCode::unavailable, ready_ ? "TLS: the stream was cut off"
                                                    : "TLS: the peer left during the handshake"};
    }

    Result<std::size_t> take(ByteSpan plain) override {
        if (ended_) return std::size_t{0};
        ERR_clear_error();
        std::size_t size = 0;
        const int result = SSL_read_ex(ssl_.get(), plain.data(), plain.size(), &size);
        bytes_taken_ += size;
        if (key_updates_ > key_updates_max + bytes_taken_ / bytes_per_key_update) {
            return Error{ErrorCode::overloaded, "TLS: too many key updates"};
        }
        if (result == 1) return size;
        switch (SSL_get_error(ssl_.get(), result)) {
            case SSL_ERROR_WANT_READ: return std::size_t{0};
            case SSL_ERROR_ZERO_RETURN: ended_ = true; return std::size_t{0};
            default: failed_ = true; return Error{ErrorCode::unavailable, "TLS: " + reasons()};
        }
    }

    bool has_ended() const override { return ended_; }

    Result<> send(ByteView plain) override {
        ERR_clear_error();
        std::size_t size = 0;
        if (SSL_write_ex(ssl_.get(), plain.data(), plain.size(), &size) == 1) return {};
        failed_ = true;
        return Error{ErrorCode::unavailable, "TLS: " + reasons()};
    }

    void send_end() override {
        finished_ = true;
        if (failed_) return;
        ERR_clear_error();
        SSL_shutdown(ssl_.get());
    }

    void take_output(std::vector<std::byte>& into) override {
        const std::size_t size = BIO_ctrl_pending(to_wire_);
        if (size == 0) return;
        into.resize(into.size() + size);
        BIO_read(to_wire_, into.data() + into.size() - size, static_cast<int>(size));
    }

    bool is_finished() const override { return finished_; }

private:
    Result<> shake_hands() {
        ERR_clear_error();
        const int result = SSL_do_handshake(ssl_.get());
        if (result == 1) {
            ready_ = true;
            return {};
        }
        if (SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_READ) return {};
        failed_ = true;
        std::string why = reasons();
        const long verified = SSL_get_verify_result(ssl_.get());
        if (verified != X509_V_OK)
            why += std::string(": ") + X509_verify_cert_error_string(verified);
        return Error{ErrorCode::invalid_argument, "TLS handshake: " + why};
    }

    static void saw_message(int written, int, int content_type, const void* bytes, std::size_t size,
                            SSL*, void* layer) {
        if (written || content_type != SSL3_RT_HANDSHAKE || size == 0) return;
        if (*static_cast<const unsigned char*>(bytes) != SSL3_MT_KEY_UPDATE) return;
        ++static_cast<TlsLayer*>(layer)->key_updates_;
    }

    // A new key is due after some 2^24 records; who wants many more only makes work.
    static constexpr std::uint64_t key_updates_max = 16;
    static constexpr std::uint64_t bytes_per_key_update = 1 << 20;

    const SslPointer ssl_;
    const bool is_server_;
    BIO* from_wire_ = nullptr;  // both are the ssl's
    BIO* to_wire_ = nullptr;
    bool ready_ = false;
    bool ended_ = false;     // by the peer
    bool finished_ = false;  // by us
    bool failed_ = false;    // OpenSSL must not be asked for a shutdown then
    std::uint64_t bytes_taken_ = 0;
    std::uint64_t key_updates_ = 0;
};

ContextPointer a_context(const SSL_METHOD* method) {
    ContextPointer context(SSL_CTX_new(method));
    EK_CHECK(context, "OpenSSL makes a context");
    SSL_CTX* const raw = context.get();
    SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
    // For 1.2; those of 1.3 are all good.
    SSL_CTX_set_cipher_list(raw, "ECDHE+AESGCM:ECDHE+CHACHA20");
    SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
                                 SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_num_tickets(raw, 0);
    SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
    // An idle connection gives its buffers back.
    SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS);
    return context;
}

BioPointer reading(const std::string& text) {
    return BioPointer(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

CertificatePointer read_certificate(BIO& from) {
    return CertificatePointer(PEM_read_bio_X509(&from, nullptr, nullptr, nullptr));
}

constexpr std::uint64_t pem_bytes_max = 1 << 20;

// Asks nobody for the password of a key; it fails to parse instead.
int no_password(char*, int, int, void*) {
    return -1;
}

Result<ContextPointer> server_context(const TlsIdentity& identity) {
    const auto bad = [](const std::string& what) {
        return Error{ErrorCode::invalid_argument, what + ": " + reasons()};
    };
    ERR_clear_error();
    ContextPointer context = a_context(TLS_server_method());
    const BioPointer chain = reading(identity.certificate_pem);
    const CertificatePointer leaf = read_certificate(*chain);
    if (!leaf || SSL_CTX_use_certificate(context.get(), leaf.get()) != 1) {
        return bad("TLS certificate");
    }
    while (CertificatePointer next = read_certificate(*chain)) {
        if (SSL_CTX_add1_chain_cert(context.get(), next.get()) != 1) return bad("TLS certificate");
    }
    ERR_clear_error();  // the end of the chain
    const BioPointer key_text = reading(identity.key_pem);
    const KeyPointer key(PEM_read_bio_PrivateKey(key_text.get(), nullptr, &no_password, nullptr));
    if (!key) return bad("TLS key");
    if (SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1) {
        return bad("TLS key does not belong to the certificate");
    }
    return context;
}

Result<> trust(SSL_CTX& context, const std::string& ca_pem) {
    ERR_clear_error();
    if (ca_pem.empty()) {
        if (SSL_CTX_set_default_verify_paths(&context) == 1) return {};
        return Error{ErrorCode::unavailable, "certificates that the system trusts: " + reasons()};
    }
    const BioPointer text = reading(ca_pem);
    std::size_t count = 0;
    while (const CertificatePointer next = read_certificate(*text)) {
        X509_STORE_add_cert(SSL_CTX_get_cert_store(&context), next.get());
        ++count;
    }
    if (count == 0) {
        return Error{ErrorCode::invalid_argument, "CA certificates: " + reasons()};
    }
    ERR_clear_error();
    return {};
}

class TlsListener final : public Listener {
public:
    TlsListener(Loop& loop, std::unique_ptr<Listener> inner, const TlsServerContext& context)
        : loop_(loop), inner_(std::move(inner)), context_(context) {}

    void accept(Callback<void(Result<std::unique_ptr<Socket>>)> done) override {
        inner_->accept([this, done = std::move(done)](auto accepted) mutable {
            if (accepted) accepted = tls_server(loop_, std::move(*accepted), context_);
            done(std::move(accepted));
        });
    }
    Endpoint local() const override { return inner_->local(); }

private:
    Loop& loop_;
    const std::unique_ptr<Listener> inner_;
    const TlsServerContext& context_;
};

// As OpenSSL wants them, where a comma would begin another one.
Result<std::string> alternative_names(const std::vector<std::string>& hosts) {
    constexpr std::string_view letters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_*:";
    std::string names;
    for (const auto& host : hosts) {
        const bool address = is_address(host);
        const bool colon = host.find(':') != std::string::npos;
        if (host.empty() || host.find_first_not_of(letters) != std::string::npos ||
            (colon && !address)) {
            return Error{ErrorCode::invalid_argument, "certificate for '" + host + "'"};
        }
        names += (names.empty() ? "" : ",") + std::string(address ? "IP:" : "DNS:") + host;
    }
    if (names.empty()) return Error{ErrorCode::invalid_argument, "certificate for nobody"};
    return names;
}

void add_extension(X509& certificate, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, &certificate, &certificate, nullptr, nullptr, 0);
    const ExtensionPointer extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
    EK_CHECK(extension && X509_add_ext(&certificate, extension.get(), -1) == 1,
             "our own certificate is well made");
}

std::string pem_text(Callback<int(BIO*)> write) {
    const BioPointer text(BIO_new(BIO_s_mem()));
    EK_CHECK(write(text.get()) == 1, "memory takes all");
    char* data = nullptr;
    const long size = BIO_get_mem_data(text.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

}  // namespace

struct TlsServerContext::State {
    mutable Mutex mutex;
    ContextPointer context EK_GUARDED_BY(mutex);
};

struct TlsClientContext::State {
    ContextPointer context;
    bool verify = true;
};

TlsServerContext::TlsServerContext(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsServerContext::~TlsServerContext() = default;
TlsClientContext::TlsClientContext(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsClientContext::~TlsClientContext() = default;

Result<std::unique_ptr<TlsServerContext>> TlsServerContext::make(const TlsIdentity& identity) {
    auto made = std::unique_ptr<TlsServerContext>(new TlsServerContext(std::make_unique<State>()));
    EK_TRY(made->replace(identity));
    return made;
}

Result<> TlsServerContext::replace(const TlsIdentity& identity) {
    EK_TRY_ASSIGN(auto context, server_context(identity));
    const Lock lock(state_->mutex);
    state_->context = std::move(context);
    return {};
}

Result<std::unique_ptr<TlsClientContext>> TlsClientContext::make(const TlsClientOptions& options) {
    auto state = std::make_unique<State>();
    state->context = a_context(TLS_client_method());
    state->verify = options.verify;
    if (options.verify) EK_TRY(trust(*state->context, options.ca_pem));
    return std::unique_ptr<TlsClientContext>(new TlsClientContext(std::move(state)));
}

std::unique_ptr<Socket> tls_server(Loop& loop, std::unique_ptr<Socket> inner,
                                   const TlsServerContext& context) {
    SslPointer ssl;
    {
        const Lock lock(context.state_->mutex);
        ssl.reset(SSL_new(context.state_->context.get()));
    }
    EK_CHECK(ssl, "OpenSSL makes a connection");
    return layered(loop, std::move(inner), std::make_unique<TlsLayer>(std::move(ssl), true));
}

std::unique_ptr<Socket> tls_client(Loop& loop, std::unique_ptr<Socket> inner,
                                   const TlsClientContext& context, const std::string& host) {
    SslPointer ssl(SSL_new(context.state_->context.get()));
    EK_CHECK(ssl, "OpenSSL makes a connection");
    const bool by_address = is_address(host);
    if (!by_address) SSL_set_tlsext_host_name(ssl.get(), host.c_str());
    if (context.state_->verify) {
        SSL_set_verify(ssl.get(), SSL_VERIFY_PEER, nullptr);
        if (by_address) {
            X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl.get()), host.c_str());
        } else {
            SSL_set_hostflags(ssl.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
            SSL_set1_host(ssl.get(), host.c_str());
        }
    }
    return layered(loop, std::move(inner), std::make_unique<TlsLayer>(std::move(ssl), false));
}

std::unique_ptr<Listener> tls_listener(Loop& loop, std::unique_ptr<Listener> inner,
                                       const TlsServerContext& context) {
    return std::make_unique<TlsListener>(loop, std::move(inner), context);
}

Result<TlsIdentity> read_identity(FileSystem& files, const std::string& certificate_file,
                                  const std::string& key_file) {
    TlsIdentity identity;
    EK_TRY_ASSIGN(const auto certificate, read_file(files, certificate_file, pem_bytes_max));
    EK_TRY_ASSIGN(const auto key, read_file(files, key_file, pem_bytes_max));
    identity.certificate_pem = as_text(certificate);
    identity.key_pem = as_text(key);
    return identity;
}

std::vector<std::string> names_of(const TlsIdentity& identity) {
    std::vector<std::string> names;
    const BioPointer chain = reading(identity.certificate_pem);
    const CertificatePointer leaf = read_certificate(*chain);
    if (!leaf) return names;
    const std::unique_ptr<GENERAL_NAMES, Freed<GENERAL_NAMES_free>> alternatives(
        static_cast<GENERAL_NAMES*>(
            X509_get_ext_d2i(leaf.get(), NID_subject_alt_name, nullptr, nullptr)));
    for (int i = 0; alternatives && i < sk_GENERAL_NAME_num(alternatives.get()); ++i) {
        const GENERAL_NAME* const name = sk_GENERAL_NAME_value(alternatives.get(), i);
        if (name->type != GEN_DNS) continue;
        const auto* const text =
            reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName));
        names.emplace_back(text, static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
    }
    return names;
}

Result<TlsIdentity> make_self_signed(const std::vector<std::string>& hosts) {
    EK_TRY_ASSIGN(const std::string alternatives, alternative_names(hosts));
    const KeyPointer key(EVP_EC_gen("P-256"));
    const CertificatePointer certificate(X509_new());
    EK_CHECK(key && certificate, "OpenSSL makes a key");
    X509* const raw = certificate.get();
    X509_set_version(raw, X509_VERSION_3);
    std::array<std::byte, 16> serial{};
    secure_bytes(serial);
    serial[0] = serial[0] & std::byte{0x7f};
    const NumberPointer number(
        BN_bin2bn(reinterpret_cast<const unsigned char*>(serial.data()), serial.size(), nullptr));
    BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(raw));
    constexpr long day = 24 * 3600;
    X509_gmtime_adj(X509_getm_notBefore(raw), -day);  // for clocks that are behind
    X509_gmtime_adj(X509_getm_notAfter(raw), 730 * day);
    X509_NAME* const name = X509_get_subject_name(raw);
    X509_NAME_add_entry_by_txt(name, "O", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>("Evenkeel, self-signed"), -1,
                               -1, 0);
    X509_set_issuer_name(raw, name);
    X509_set_pubkey(raw, key.get());
    // No CA: some clients refuse one as the certificate of a server.
    add_extension(*raw, NID_basic_constraints, "critical,CA:FALSE");
    add_extension(*raw, NID_key_usage, "critical,digitalSignature");
    add_extension(*raw, NID_ext_key_usage, "serverAuth");
    add_extension(*raw, NID_subject_key_identifier, "hash");
    add_extension(*raw, NID_authority_key_identifier, "keyid:always");
    add_extension(*raw, NID_subject_alt_name, alternatives);
    EK_CHECK(X509_sign(raw, key.get(), EVP_sha256()) > 0, "OpenSSL signs");
    TlsIdentity identity;
    identity.certificate_pem = pem_text([&](BIO* to) { return PEM_write_bio_X509(to, raw); });
    identity.key_pem = pem_text([&](BIO* to) {
        return PEM_write_bio_PKCS8PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    return identity;
}

}  // namespace evenkeel::io
