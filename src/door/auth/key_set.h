// The key set of an identity provider that lies at a URL: fetched when it starts, again now and
// then, and when a token names a key that is not in it.
//
//     start ─▶ fetch ─▶ JwtVerifier ─▶ changed
//                ▲ after `refresh`; after a failure or an unknown key, but not before `pause`
//
// A provider that does not answer, or answers with anything but a good key set, changes nothing:
// the keys that were fetched before hold, and the log says what is wrong. Before the first answer
// every token is refused. Threads: pinned to the loop.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/lifetime.h"
#include "base/task.h"
#include "door/auth/jwt.h"
#include "http/client.h"
#include "io/loop.h"
#include "io/socket.h"
#include "io/timer.h"
#include "io/tls.h"

namespace evenkeel::door {

struct KeySetOptions {
    std::string url;          // http:// or https://; it may have a query
    std::string ca_pem = {};  // whom to trust by TLS; empty: those whom the system trusts
    Duration refresh = std::chrono::hours(1);
    Duration pause = std::chrono::seconds(10);    // between two fetches, at least
    Duration timeout = std::chrono::seconds(10);  // to connect, and to answer
    JwtOptions jwt = {};
};

class KeySet {
public:
    static constexpr std::size_t bytes_max = std::size_t{1} << 20;

    using Changed = Callback<void(std::shared_ptr<const JwtVerifier>)>;
    // invalid_argument if the URL or whom to trust is not good. `changed` runs in start(), with a
    // verifier that refuses everything or knows the keys of `text`, and whenever keys were fetched.
    // Loop and network outlive it.
    static Result<std::unique_ptr<KeySet>> make(io::Loop& loop, io::Network& network,
                                                KeySetOptions options, Changed changed);
    ~KeySet();
    KeySet(const KeySet&) = delete;
    KeySet& operator=(const KeySet&) = delete;

    // `text` is what one before it had fetched, if it was from the same place.
    void start(const std::string& text = {});
    const std::string& url() const { return options_.url; }
    // The last good answer.
    const std::string& text() const { return text_; }

    // What is wrong with a URL.
    static Result<> check(std::string_view url);

private:
    KeySet(io::Loop& loop, io::Network& network, KeySetOptions options, http::Url place,
           std::string wire, Changed changed);

    Result<> take(const std::string& text);
    void fetch();
    void connected(Result<std::unique_ptr<io::Socket>> socket);
    void answered(const Result<http::ClientResponse>& response);
    void failed(const Error& error);
    void look_again(Duration after);
    void wanted();

    io::Loop& loop_;
    io::Network& network_;
    const KeySetOptions options_;
    const http::Url place_;
    const std::string wire_;
    Changed changed_;
    std::unique_ptr<io::TlsClientContext> tls_;
    std::unique_ptr<http::Exchange> exchange_;
    io::Timer timer_{loop_};
    bool under_way_ = false;
    Instant begun_{};             // the last fetch
    std::uint32_t failures_ = 0;  // in a row
    std::string text_;
    Lifetime lifetime_;
};

}  // namespace evenkeel::door
