#include "door/auth/key_set.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/log.h"

namespace evenkeel::door {
namespace {

struct Place {
    http::Url url;
    std::string rest;  // of the path: its last '/', which an Url does without, and the query
};

Result<Place> place_of(std::string_view text) {
    const auto mark = text.find('?');
    Place place;
    EK_TRY_ASSIGN(place.url, http::url_of(text.substr(0, mark)));
    if (place.url.path.empty() || text.substr(0, mark).ends_with('/')) place.rest.push_back('/');
    if (mark != std::string_view::npos) place.rest += text.substr(mark);
    const bool odd = std::any_of(place.rest.begin(), place.rest.end(),
                                 [](char c) { return c <= ' ' || c > '~' || c == '#'; });
    if (odd) return Error{ErrorCode::invalid_argument, "address: its query has odd characters"};
    return place;
}

}  // namespace

Result<> KeySet::check(std::string_view url) {
    EK_TRY_ASSIGN(const auto place, place_of(url));
    return {};
}

Result<std::unique_ptr<KeySet>> KeySet::make(io::Loop& loop, io::Network& network,
                                             KeySetOptions options, Changed changed) {
    EK_TRY_ASSIGN(auto place, place_of(options.url));
    const http::ClientRequest request{
        .path = place.rest, .fields = {{"Accept", "application/json"}, {"Connection", "close"}}};
    EK_TRY_ASSIGN(std::string wire, http::to_wire(request, place.url));
    std::unique_ptr<io::TlsClientContext> tls;
    if (place.url.tls) {
        EK_TRY_ASSIGN(tls, io::TlsClientContext::make({options.ca_pem, true}));
    }
    std::unique_ptr<KeySet> made(new KeySet(loop, network, std::move(options), std::move(place.url),
                                            std::move(wire), std::move(changed)));
    made->tls_ = std::move(tls);
    return made;
}

KeySet::KeySet(io::Loop& loop, io::Network& network, KeySetOptions options, http::Url place,
               std::string wire, Changed changed)
    : loop_(loop),
      network_(network),
      options_(std::move(options)),
      place_(std::move(place)),
      wire_(std::move(wire)),
      changed_(std::move(changed)) {}

KeySet::~KeySet() = default;

void KeySet::start(const std::string& text) {
    loop_.check_here();
    if (text.empty() || !take(text).ok()) {
        JwtOptions options = options_.jwt;
        options.unknown_key = lifetime_.guard([this] { wanted(); });
        changed_(JwtVerifier::without_keys(std::move(options)));
    }
    if (!place_.tls && !io::is_loopback(place_.endpoint.host)) {
        trace(TraceLevel::warning,
              "the identity provider's keys are fetched without encryption: whoever is on the way "
              "can put in his own",
              {{"url", http::to_string(place_)}, {"try", "an https:// address in key_set_url"}});
    }
    fetch();
}

Result<> KeySet::take(const std::string& text) {
    JwtOptions options = options_.jwt;
    options.unknown_key = lifetime_.guard([this] { wanted(); });
    EK_TRY_ASSIGN(auto verifier, JwtVerifier::make(std::move(options), text));
    text_ = text;
    changed_(std::move(verifier));
    return {};
}

void KeySet::fetch() {
    if (under_way_) return;
    under_way_ = true;
    timer_.cancel();
    begun_ = loop_.clock().now();
    network_.connect(place_.endpoint, options_.timeout,
                     lifetime_.guard([this](Result<std::unique_ptr<io::Socket>> socket) {
                         connected(std::move(socket));
                     }));
}

void KeySet::connected(Result<std::unique_ptr<io::Socket>> socket) {
    if (!socket.ok()) return failed(socket.error());
    if (tls_) *socket = io::tls_client(loop_, std::move(*socket), *tls_, place_.endpoint.host);
    exchange_ = std::make_unique<http::Exchange>(
        loop_, std::move(*socket), wire_, options_.timeout,
        [this](Result<http::ClientResponse> response) {
            // The exchange is not ended from inside.
            loop_.post(lifetime_.guard([this, response = std::move(response)] {
                exchange_.reset();
                answered(response);
            }));
        },
        bytes_max);
}

void KeySet::answered(const Result<http::ClientResponse>& response) {
    if (!response.ok()) return failed(response.error());
    if (response->status != 200) {
        return failed(
            {ErrorCode::unavailable,
             fmt::format("the answer is {}, not 200{}", response->status,
                         response->status / 100 == 3 ? "; redirects are not followed" : "")});
    }
    const bool is_new = text_ != response->body;
    if (const auto taken = take(response->body); !taken.ok()) return failed(taken.error());
    under_way_ = false;
    if (is_new || failures_ > 0) {
        trace(TraceLevel::info, "the identity provider's keys were fetched",
              {{"url", http::to_string(place_)}});
    }
    failures_ = 0;
    look_again(options_.refresh);
}

void KeySet::failed(const Error& error) {
    under_way_ = false;
    failures_ = std::min<std::uint32_t>(failures_ + 1, 6);
    trace(TraceLevel::warning,
          text_.empty()
              ? "the identity provider's keys could not be fetched; its tokens are refused"
              : "the identity provider's keys could not be fetched; the old ones hold",
          {{"url", http::to_string(place_)},
           {"cause", to_string(error)},
           {"try",
            "curl the address in key_set_url from this host: it must answer with a JWKS "
            "document; by https, ca_file says whom to trust"}});
    look_again(std::min(options_.refresh, options_.pause * (1 << (failures_ - 1))));
}

void KeySet::look_again(Duration after) {
    timer_.run_after(after, [this] { fetch(); });
}

void KeySet::wanted() {
    if (under_way_) return;
    const Duration since = loop_.clock().now() - begun_;
    if (since >= options_.pause) return fetch();
    look_again(options_.pause - since);
}

}  // namespace evenkeel::door
