#include "io/tls.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "io/layered_fixture.h"
#include "io/sim/disk.h"
#include "support/seed.h"

namespace evenkeel::io {
namespace {

using namespace std::chrono_literals;

struct TlsWraps final : Wraps {
    explicit TlsWraps(const TlsIdentity& identity = *make_self_signed({"server", "127.0.0.1"}))
        : server(*TlsServerContext::make(identity)),
          client(*TlsClientContext::make({.ca_pem = identity.certificate_pem})) {}
    void accept(Loop& loop, std::unique_ptr<Socket> socket,
                Callback<void(Result<std::unique_ptr<Socket>>)> done) override {
        done(tls_server(loop, std::move(socket), *server));
    }
    void connect(Loop& loop, std::unique_ptr<Socket> socket, const std::string& host,
                 Callback<void(Result<std::unique_ptr<Socket>>)> done) override {
        done(tls_client(loop, std::move(socket), *client, host));
    }
    std::unique_ptr<TlsServerContext> server;
    std::unique_ptr<TlsClientContext> client;
};

std::unique_ptr<NetworkWorld> a_system_world() {
    return std::make_unique<LayeredSystemWorld>(std::make_unique<TlsWraps>());
}
std::unique_ptr<NetworkWorld> a_simulated_world() {
    return std::make_unique<LayeredSimWorld>(test::test_seed(), std::make_unique<TlsWraps>());
}

INSTANTIATE_TEST_SUITE_P(TlsSystem, NetworkContract, testing::Values(&a_system_world));
INSTANTIATE_TEST_SUITE_P(TlsSimulated, NetworkContract, testing::Values(&a_simulated_world));

// Two plain ends in a simulated world, for one test to put TLS on.
class TlsTest : public testing::Test {
protected:
    TlsTest() {
        listener_ = *world_.plain_server().listen({"server", 0});
        connect();
    }
    ~TlsTest() override {
        server_.reset();
        client_.reset();
        plain_server_.reset();
        plain_client_.reset();
        listener_.reset();
    }

    // Two new plain ends, for serve() and call().
    void connect() {
        server_.reset();
        client_.reset();
        plain_server_.reset();
        plain_client_.reset();
        listener_->accept([this](auto socket) { plain_server_ = std::move(*socket); });
        world_.plain_client().connect(listener_->local(), 30s,
                                      [this](auto socket) { plain_client_ = std::move(*socket); });
        EXPECT_TRUE(world_.run_until([this] { return plain_server_ && plain_client_; }));
    }
    void serve(const TlsServerContext& context) {
        server_ = tls_server(world_.server_loop(), std::move(plain_server_), context);
    }
    void call(const TlsClientOptions& options, const std::string& host) {
        const auto context = TlsClientContext::make(options);
        ASSERT_TRUE(context) << to_string(context.error());
        client_ = tls_client(world_.client_loop(), std::move(plain_client_), **context, host);
    }
    // Reads at the server, writes at the client, until both are answered.
    void shake_hands() {
        read_.reset();
        written_.reset();
        server_->read(buffer_, [this](auto size) { read_.emplace(std::move(size)); });
        client_->write(as_bytes("hello"), [this](auto done) { written_.emplace(std::move(done)); });
        EXPECT_TRUE(world_.run_until([this] { return read_ && written_; }));
    }
    Error read_error(Socket& socket) {
        std::optional<Result<std::size_t>> result;
        socket.read(buffer_, [&](auto size) { result.emplace(std::move(size)); });
        EXPECT_TRUE(world_.run_until([&] { return result.has_value(); }));
        return result->ok() ? Error{ErrorCode::corrupt, "read " + std::to_string(**result)}
                            : result->error();
    }

    const TlsIdentity identity_ = *make_self_signed({"server", "127.0.0.1", "::1"});
    std::unique_ptr<TlsServerContext> context_ = *TlsServerContext::make(identity_);
    LayeredSimWorld world_{test::test_seed(), std::make_unique<TlsWraps>()};
    std::unique_ptr<Listener> listener_;
    std::unique_ptr<Socket> plain_server_;
    std::unique_ptr<Socket> plain_client_;
    std::unique_ptr<Socket> server_;
    std::unique_ptr<Socket> client_;
    std::vector<std::byte> buffer_ = std::vector<std::byte>(100);
    std::optional<Result<std::size_t>> read_;
    std::optional<Result<>> written_;
};

TEST_F(TlsTest, trusts_a_certificate_for_the_name_or_the_address) {
    for (const std::string host : {"server", "127.0.0.1", "::1"}) {
        SCOPED_TRACE(host);
        connect();
        serve(*context_);
        call({.ca_pem = identity_.certificate_pem}, host);
        shake_hands();

        EXPECT_TRUE(*written_) << to_string(written_->error());
        EXPECT_TRUE(*read_) << to_string(read_->error());
    }
}

TEST_F(TlsTest, refuses_a_certificate_for_another_name) {
    serve(*context_);
    call({.ca_pem = identity_.certificate_pem}, "elsewhere");
    shake_hands();

    ASSERT_FALSE(*written_);
    EXPECT_EQ(written_->error().code, ErrorCode::invalid_argument);
    EXPECT_NE(written_->error().detail.find("ostname mismatch"), std::string::npos)
        << written_->error().detail;
    EXPECT_FALSE(*read_) << "the server learns of it";
}

TEST_F(TlsTest, refuses_a_certificate_that_nobody_trusted_has_signed) {
    serve(*context_);
    call({.ca_pem = make_self_signed({"server"})->certificate_pem}, "server");
    shake_hands();

    ASSERT_FALSE(*written_);
    EXPECT_EQ(written_->error().code, ErrorCode::invalid_argument) << written_->error().detail;
}

TEST_F(TlsTest, takes_any_certificate_when_told_so) {
    serve(*context_);
    call({.verify = false}, "elsewhere");
    shake_hands();

    EXPECT_TRUE(*written_);
    EXPECT_TRUE(*read_);
}

TEST_F(TlsTest, keeps_the_old_certificate_on_open_connections) {
    serve(*context_);
    call({.ca_pem = identity_.certificate_pem}, "server");
    shake_hands();
    const TlsIdentity renewed = *make_self_signed({"server"});

    ASSERT_TRUE(context_->replace(renewed));
    EXPECT_FALSE(context_->replace({renewed.certificate_pem, identity_.key_pem}));
    shake_hands();
    EXPECT_TRUE(*read_) << "the old connection goes on";

    connect();
    serve(*context_);
    call({.ca_pem = renewed.certificate_pem}, "server");
    shake_hands();
    EXPECT_TRUE(*read_);
}

TEST_F(TlsTest, answers_plain_bytes_with_an_error) {
    const std::string openings[] = {
        std::string("AMQP\3\1\0\0", 8), "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "SSH-2.0-x\r\n",
        std::string(5000, 'x'), std::string("\x16\x03\x01\x40\x00\x01", 6) + std::string(20000, 1)};
    for (const auto& opening : openings) {
        SCOPED_TRACE(opening.substr(0, 10));
        connect();
        serve(*context_);
        plain_client_->write(as_bytes(opening), [](Result<>) {});

        EXPECT_EQ(read_error(*server_).code, ErrorCode::invalid_argument);
    }
}

TEST_F(TlsTest, gives_up_on_a_silent_peer_after_ten_seconds) {
    serve(*context_);
    const Instant before = world_.scheduler().now();

    const Error error = read_error(*server_);

    EXPECT_EQ(error.code, ErrorCode::timed_out) << error.detail;
    EXPECT_EQ(world_.scheduler().now() - before, Duration(10s));
}

TEST_F(TlsTest, reports_a_stream_that_was_cut_off) {
    serve(*context_);
    call({.ca_pem = identity_.certificate_pem}, "server");
    shake_hands();

    world_.network().reset("server", "client");

    EXPECT_EQ(read_error(*server_).code, ErrorCode::unavailable);
}

TEST_F(TlsTest, reports_an_end_that_was_not_said) {
    serve(*context_);
    call({.ca_pem = identity_.certificate_pem}, "server");
    shake_hands();
    // A write that is under way keeps close() from saying goodbye.
    const std::vector<std::byte> much(1 << 20);
    client_->write(much, [](Result<>) {});
    world_.scheduler().run_for(1s);
    client_->close();

    std::optional<Result<std::size_t>> last;
    std::size_t total = 0;
    while (!last || (last->ok() && **last > 0)) {
        last.reset();
        server_->read(buffer_, [&](auto size) { last.emplace(std::move(size)); });
        ASSERT_TRUE(world_.run_until([&] { return last.has_value(); }));
        if (*last) total += **last;
    }
    ASSERT_FALSE(*last) << "a shortened stream must not look whole";
    EXPECT_EQ(last->error().code, ErrorCode::unavailable);
    EXPECT_LT(total, much.size());
}

TEST_F(TlsTest, lets_a_client_go_before_the_handshake) {
    serve(*context_);
    plain_client_.reset();

    EXPECT_EQ(read_error(*server_).detail, "read 0");
}

TEST_F(TlsTest, tells_the_client_when_the_server_leaves_during_the_handshake) {
    call({.ca_pem = identity_.certificate_pem}, "server");
    plain_server_.reset();

    EXPECT_EQ(read_error(*client_).code, ErrorCode::unavailable);
}

// A client of OpenSSL's own, without our bounds and rules, over a plain end of the world.
class RawClient {
public:
    RawClient(LayeredSimWorld& world, std::unique_ptr<Socket> plain, int version)
        : world_(world), plain_(std::move(plain)) {
        SSL_CTX_set_security_level(context_.get(), 0);
        SSL_CTX_set_min_proto_version(context_.get(), version);
        SSL_CTX_set_max_proto_version(context_.get(), version);
        ssl_.reset(SSL_new(context_.get()));
        SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
        SSL_set_connect_state(ssl_.get());
        read();
    }
    bool shake_hands() {
        return world_.run_until([this] {
            if (failed) return true;
            const int result = SSL_do_handshake(ssl_.get());
            failed = result != 1 && SSL_get_error(ssl_.get(), result) != SSL_ERROR_WANT_READ;
            flush();
            return result == 1 || failed || ended;
        }) && !failed &&
               SSL_is_init_finished(ssl_.get());
    }
    SSL* ssl() { return ssl_.get(); }
    // Puts bytes onto the wire as they are.
    void send_raw(std::string_view bytes) {
        BIO_write(SSL_get_wbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
        flush();
    }
    // Writes what OpenSSL has to say.
    void flush() {
        char* data = nullptr;
        const long size = BIO_get_mem_data(SSL_get_wbio(ssl_.get()), &data);
        if (writing_ || size <= 0) return;
        writing_ = true;
        output_.assign(data, static_cast<std::size_t>(size));
        (void)BIO_reset(SSL_get_wbio(ssl_.get()));
        plain_->write(as_bytes(output_), [this](Result<> written) {
            writing_ = false;
            if (written) flush();
        });
    }
    bool failed = false;
    bool ended = false;

private:
    void read() {
        plain_->read(buffer_, [this](Result<std::size_t> size) {
            ended = !size || *size == 0;
            if (ended) return;
            BIO_write(SSL_get_rbio(ssl_.get()), buffer_.data(), static_cast<int>(*size));
            read();
        });
    }
    LayeredSimWorld& world_;
    std::unique_ptr<Socket> plain_;
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{SSL_CTX_new(TLS_client_method()),
                                                               &SSL_CTX_free};
    std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{nullptr, &SSL_free};
    std::vector<std::byte> buffer_ = std::vector<std::byte>(4096);
    std::string output_;
    bool writing_ = false;
};

TEST_F(TlsTest, speaks_1_2_and_1_3_and_nothing_older) {
    for (const int version : {TLS1_1_VERSION, TLS1_2_VERSION, TLS1_3_VERSION}) {
        SCOPED_TRACE(version);
        connect();
        serve(*context_);
        read_.reset();
        server_->read(buffer_, [this](auto size) { read_.emplace(std::move(size)); });
        RawClient client(world_, std::move(plain_client_), version);

        EXPECT_EQ(client.shake_hands(), version != TLS1_1_VERSION);
        if (version != TLS1_1_VERSION) continue;
        ASSERT_TRUE(world_.run_until([this] { return read_.has_value(); }));
        EXPECT_EQ(read_->error().code, ErrorCode::invalid_argument);
    }
}

TEST_F(TlsTest, refuses_to_renegotiate) {
    serve(*context_);
    server_->read(buffer_, [this](auto size) { read_.emplace(std::move(size)); });
    RawClient client(world_, std::move(plain_client_), TLS1_2_VERSION);
    ASSERT_TRUE(client.shake_hands());

    SSL_renegotiate(client.ssl());
    int result = 1;
    const bool answered = world_.run_until([&] {
        result = SSL_do_handshake(client.ssl());
        client.flush();
        return SSL_get_error(client.ssl(), result) != SSL_ERROR_WANT_READ || client.ended;
    });

    EXPECT_TRUE(answered);
    EXPECT_NE(result, 1) << "a second handshake went through";
}

TEST_F(TlsTest, ends_a_stream_of_nothing_but_key_updates) {
    serve(*context_);
    server_->read(buffer_, [this](auto size) { read_.emplace(std::move(size)); });
    RawClient client(world_, std::move(plain_client_), TLS1_3_VERSION);
    ASSERT_TRUE(client.shake_hands());

    for (int i = 0; i < 100; ++i) {
        SSL_key_update(client.ssl(), SSL_KEY_UPDATE_NOT_REQUESTED);
        SSL_do_handshake(client.ssl());
    }
    client.flush();

    ASSERT_TRUE(world_.run_until([this] { return read_.has_value(); }));
    EXPECT_EQ(read_->error().code, ErrorCode::overloaded);
}

TEST_F(TlsTest, ends_a_stream_with_a_record_that_does_not_decrypt) {
    const std::string record = std::string("\x17\x03\x03\x00\x20", 5) + std::string(32, 'x');
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        for (const bool while_writing : {false, true}) {
            SCOPED_TRACE(std::to_string(version) + (while_writing ? " while writing" : ""));
            const std::vector<std::byte> answer(while_writing ? 4 << 20 : 0);
            connect();
            serve(*context_);
            read_.reset();
            written_.reset();
            server_->read(buffer_, [this](auto size) { read_.emplace(std::move(size)); });
            RawClient client(world_, std::move(plain_client_), version);
            ASSERT_TRUE(client.shake_hands());
            if (while_writing) {
                server_->write(answer, [this](auto done) { written_.emplace(std::move(done)); });
            }

            client.send_raw(record);

            ASSERT_TRUE(world_.run_until(
                [&] { return read_.has_value() && written_.has_value() == while_writing; }));
            EXPECT_EQ(read_->error().code, ErrorCode::unavailable);
            server_.reset();
            EXPECT_TRUE(world_.run_until([&] { return client.ended; }));
        }
    }
}

TEST_F(TlsTest, follows_a_few_key_updates) {
    serve(*context_);
    server_->read(buffer_, [this](auto size) { read_.emplace(std::move(size)); });
    RawClient client(world_, std::move(plain_client_), TLS1_3_VERSION);
    ASSERT_TRUE(client.shake_hands());

    for (int i = 0; i < 10; ++i) {
        SSL_key_update(client.ssl(), SSL_KEY_UPDATE_REQUESTED);
        SSL_do_handshake(client.ssl());
    }
    SSL_write(client.ssl(), "x", 1);
    client.flush();

    ASSERT_TRUE(world_.run_until([this] { return read_.has_value(); }));
    EXPECT_TRUE(*read_) << to_string(read_->error());
}

TEST(TlsServerContext, refuses_what_is_no_certificate_or_key) {
    const auto good = *make_self_signed();
    const auto other = *make_self_signed();

    for (const TlsIdentity& bad :
         {TlsIdentity{"", ""}, TlsIdentity{"x", good.key_pem},
          TlsIdentity{good.certificate_pem, "x"}, TlsIdentity{good.certificate_pem, ""},
          TlsIdentity{good.certificate_pem, other.key_pem}}) {
        const auto made = TlsServerContext::make(bad);
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().code, ErrorCode::invalid_argument) << made.error().detail;
    }
}

TEST(TlsClientContext, refuses_what_is_no_certificate) {
    const auto made = TlsClientContext::make({.ca_pem = "x"});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::invalid_argument);
}

TEST(TlsIdentity, is_for_names_and_addresses_only) {
    EXPECT_TRUE(make_self_signed({"localhost", "*.example.org", "10.0.0.1", "fe80::1"}));
    for (const std::string bad : {"", "a,DNS:b", "a b", "a:1", "a\n"}) {
        EXPECT_FALSE(make_self_signed({bad})) << bad;
    }
    EXPECT_FALSE(make_self_signed({}));
}

TEST(TlsIdentity, tells_the_names_of_its_certificate) {
    EXPECT_EQ(names_of(*make_self_signed({"hub", "10.0.0.1", "*.example.org", "::1"})),
              (std::vector<std::string>{"hub", "*.example.org"}));
    EXPECT_TRUE(names_of({"x", "y"}).empty());
}

TEST(TlsIdentity, is_read_from_two_files) {
    sim::Disk disk;
    const auto identity = *make_self_signed();
    ASSERT_TRUE(replace_file(disk, "certificate.pem", as_bytes(identity.certificate_pem)));
    ASSERT_TRUE(replace_file(disk, "key.pem", as_bytes(identity.key_pem)));

    const auto read = read_identity(disk, "certificate.pem", "key.pem");

    ASSERT_TRUE(read);
    EXPECT_EQ(read->certificate_pem, identity.certificate_pem);
    EXPECT_EQ(read->key_pem, identity.key_pem);
    EXPECT_EQ(read_identity(disk, "certificate.pem", "none.pem").error().code,
              ErrorCode::not_found);
}

}  // namespace
}  // namespace evenkeel::io
