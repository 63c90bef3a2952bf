#include "door/auth/jwt.h"

#include <algorithm>
#include <optional>

#include <boost/json.hpp>
#include <fmt/core.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include "base/base64.h"
#include "base/freed.h"
#include "door/amqp/conditions.h"

namespace evenkeel::door {
namespace {

namespace json = boost::json;

constexpr std::size_t jwt_bytes_max = 16384;
constexpr std::uint64_t key_set_bytes_max = 1 << 20;
constexpr int rsa_bits_min = 2048;

using Number = std::unique_ptr<BIGNUM, Freed<BN_free>>;
using PublicKey = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Building = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD_free>>;
using Parameters = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using Pair = std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG_free>>;

Error invalid_jwt(std::string text) {
    return {ErrorCode::invalid_argument, std::move(text)};
}

std::optional<json::object> object_of(std::string_view text) {
    boost::system::error_code error;
    json::parse_options options;
    options.max_depth = 16;
    json::value value =
        json::parse(json::string_view(text.data(), text.size()), error, {}, options);
    if (error || !value.is_object()) return std::nullopt;
    return std::move(value.get_object());
}

std::string text_in(const json::object& object, std::string_view key) {
    const json::value* const value = object.if_contains(json::string_view(key.data(), key.size()));
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::optional<std::int64_t> seconds_in(const json::object& object, std::string_view key) {
    const json::value* const value = object.if_contains(json::string_view(key.data(), key.size()));
    if (!value) return std::nullopt;
    constexpr double seconds_max = 1LL << 50;
    boost::system::error_code error;
    const double number = value->to_number<double>(error);
    if (error || !(number >= 0) || number > seconds_max) return std::nullopt;
    return static_cast<std::int64_t>(number);
}

// The strings of a claim that is one string or a list of them.
std::vector<std::string> texts_in(const json::object& object, std::string_view key) {
    std::vector<std::string> texts;
    const json::value* const value = object.if_contains(json::string_view(key.data(), key.size()));
    if (!value) return texts;
    if (value->is_string()) texts.emplace_back(value->get_string());
    if (value->is_array()) {
        for (const auto& element : value->get_array()) {
            if (element.is_string()) texts.emplace_back(element.get_string());
        }
    }
    return texts;
}

const unsigned char* unsigned_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

Number number_of(std::string_view bytes) {
    return Number(BN_bin2bn(unsigned_of(bytes), static_cast<int>(bytes.size()), nullptr));
}

PublicKey key_of(const char* type, OSSL_PARAM_BLD* building) {
    const Parameters parameters(OSSL_PARAM_BLD_to_param(building));
    const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
    EVP_PKEY* key = nullptr;
    if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) <= 0 ||
        EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) <= 0) {
        return nullptr;
    }
    return PublicKey(key);
}

PublicKey rsa_key(std::string_view modulus, std::string_view exponent) {
    const Building building(OSSL_PARAM_BLD_new());
    const Number n = number_of(modulus);
    const Number e = number_of(exponent);
    if (!building || !n || !e || BN_num_bits(n.get()) < rsa_bits_min ||
        !OSSL_PARAM_BLD_push_BN(building.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) ||
        !OSSL_PARAM_BLD_push_BN(building.get(), OSSL_PKEY_PARAM_RSA_E, e.get())) {
        return nullptr;
    }
    return key_of("RSA", building.get());
}

PublicKey ec_key(std::string_view x, std::string_view y) {
    if (x.size() != 32 || y.size() != 32) return nullptr;
    const std::string point = "\x04" + std::string(x) + std::string(y);
    const Building building(OSSL_PARAM_BLD_new());
    if (!building ||
        !OSSL_PARAM_BLD_push_utf8_string(building.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1",
                                         0) ||
        !OSSL_PARAM_BLD_push_octet_string(building.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                          point.size())) {
        return nullptr;
    }
    return key_of("EC", building.get());
}

// The DER form of the two numbers that ES256 writes one behind the other.
std::string der_of(std::string_view signature) {
    if (signature.size() != 64) return {};
    Number r = number_of(signature.substr(0, 32));
    Number s = number_of(signature.substr(32));
    const Pair pair(ECDSA_SIG_new());
    if (!r || !s || !pair || !ECDSA_SIG_set0(pair.get(), r.get(), s.get())) return {};
    (void)r.release();  // owned by the pair now
    (void)s.release();
    unsigned char* bytes = nullptr;
    const int size = i2d_ECDSA_SIG(pair.get(), &bytes);
    if (size <= 0) return {};
    std::string der(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
    OPENSSL_free(bytes);
    return der;
}

bool verifies(EVP_PKEY* key, std::string_view text, std::string_view signature) {
    const DigestContext context(EVP_MD_CTX_new());
    return context &&
           EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
           EVP_DigestVerify(context.get(), unsigned_of(signature), signature.size(),
                            unsigned_of(text), text.size()) == 1;
}

// The rights that a role or scope names.
Rights rights_of(std::string_view name) {
    if (name == "Azure Event Hubs Data Owner") return {true, true, true};
    if (name == "Azure Event Hubs Data Sender") return {true, false, false};
    if (name == "Azure Event Hubs Data Receiver") return {false, true, false};
    const auto mark = name.find_last_of("./");
    const std::string_view last = mark == std::string_view::npos ? name : name.substr(mark + 1);
    if (last == "Manage") return {true, true, true};
    return {last == "Send", last == "Listen", false};
}

Rights rights_in(const json::object& claims, Rights rights) {
    const auto add = [&](std::string_view name) {
        const Rights more = rights_of(name);
        rights.send = rights.send || more.send;
        rights.listen = rights.listen || more.listen;
        rights.manage = rights.manage || more.manage;
    };
    for (const auto& role : texts_in(claims, "roles")) add(role);
    for (const auto& scopes : texts_in(claims, "scp")) {
        std::string_view rest = scopes;  // separated by blanks
        while (!rest.empty()) {
            const auto end = rest.find(' ');
            add(rest.substr(0, end));
            rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        }
    }
    return rights;
}

bool has_one_of(const std::vector<std::string>& wanted, const std::vector<std::string>& there) {
    return std::any_of(there.begin(), there.end(), [&](const std::string& text) {
        return std::find(wanted.begin(), wanted.end(), text) != wanted.end();
    });
}

}  // namespace

struct JwtVerifier::Keys {
    struct Key {
        std::string id;
        std::string algorithm;
        PublicKey key;
    };
    std::vector<Key> all;
};

JwtVerifier::JwtVerifier(JwtOptions options, std::unique_ptr<Keys> keys)
    : options_(std::move(options)), keys_(std::move(keys)) {}

JwtVerifier::~JwtVerifier() = default;

Result<std::unique_ptr<JwtVerifier>> JwtVerifier::make(JwtOptions options,
                                                       std::string_view key_set) {
    if (options.issuers.empty() || options.audiences.empty()) {
        return invalid_jwt(
            "tokens of identity providers need at least one issuer and one audience");
    }
    const auto document = object_of(key_set);
    const json::value* const list = document ? document->if_contains("keys") : nullptr;
    if (!list || !list->is_array())
        return invalid_jwt("the key set is not JSON with a list 'keys'");
    auto keys = std::make_unique<Keys>();
    for (const auto& entry : list->get_array()) {
        if (!entry.is_object()) return invalid_jwt("the key set has a key that is not an object");
        const json::object& object = entry.get_object();
        const std::string use = text_in(object, "use");
        if (!use.empty() && use != "sig") continue;
        const std::string type = text_in(object, "kty");
        const std::string algorithm = type == "RSA" ? "RS256" : "ES256";
        const std::string stated = text_in(object, "alg");
        const bool known = type == "RSA" || (type == "EC" && text_in(object, "crv") == "P-256");
        if (!known || (!stated.empty() && stated != algorithm)) continue;
        const auto part = [&](std::string_view name) {
            return base64url_decoded(text_in(object, name)).value_or("");
        };
        PublicKey key =
            type == "RSA" ? rsa_key(part("n"), part("e")) : ec_key(part("x"), part("y"));
        if (!key) {
            return invalid_jwt(fmt::format("key '{}' of the key set is not a good {} key{}",
                                           peer_text(text_in(object, "kid")), type,
                                           type == "RSA" ? " of 2048 bits or more" : ""));
        }
        keys->all.push_back({text_in(object, "kid"), algorithm, std::move(key)});
    }
    if (keys->all.empty()) return invalid_jwt("the key set has no key for RS256 or ES256");
    return std::unique_ptr<JwtVerifier>(new JwtVerifier(std::move(options), std::move(keys)));
}

std::unique_ptr<JwtVerifier> JwtVerifier::without_keys(JwtOptions options) {
    return std::unique_ptr<JwtVerifier>(
        new JwtVerifier(std::move(options), std::make_unique<Keys>()));
}

Result<std::unique_ptr<JwtVerifier>> JwtVerifier::load(JwtOptions options, io::FileSystem& files,
                                                       const std::string& key_set_path) {
    EK_TRY_ASSIGN(const auto bytes, io::read_file(files, key_set_path, key_set_bytes_max));
    auto verifier = make(std::move(options), as_text(bytes));
    if (!verifier.ok()) {
        return Error{verifier.error().code, key_set_path + ": " + verifier.error().detail};
    }
    return verifier;
}

Result<Claim> JwtVerifier::check(std::string_view token, WallTime now) const {
    const auto first = token.find('.');
    const auto second = first == std::string_view::npos ? first : token.find('.', first + 1);
    if (token.size() > jwt_bytes_max || second == std::string_view::npos) {
        return invalid_jwt("InvalidToken: The token is not a JSON Web Token.");
    }
    const auto header_text = base64url_decoded(token.substr(0, first));
    const auto claims_text = base64url_decoded(token.substr(first + 1, second - first - 1));
    const auto signature = base64url_decoded(token.substr(second + 1));
    const auto header = header_text ? object_of(*header_text) : std::nullopt;
    if (!header || !claims_text || !signature) {
        return invalid_jwt("InvalidToken: The token is not a JSON Web Token.");
    }
    const std::string algorithm = text_in(*header, "alg");
    if (algorithm != "RS256" && algorithm != "ES256") {
        return invalid_jwt(
            fmt::format("InvalidToken: The algorithm '{}' is not accepted; use RS256 or "
                        "ES256.",
                        peer_text(algorithm)));
    }
    if (header->if_contains("crit")) {
        return invalid_jwt("InvalidToken: The token has critical extensions, which are not known.");
    }
    // Nothing that the token says is looked at before its signature is good.
    const std::string id = text_in(*header, "kid");
    const std::string proof = algorithm == "ES256" ? der_of(*signature) : *signature;
    const bool is_known =
        std::any_of(keys_->all.begin(), keys_->all.end(),
                    [&](const Keys::Key& key) { return id.empty() || key.id == id; });
    if (!is_known) {
        if (options_.unknown_key) options_.unknown_key();
        return invalid_jwt(
            keys_->all.empty()
                ? "InvalidSignature: The identity provider's keys have not been fetched yet."
                : "InvalidSignature: The token's key is not one of the identity provider's.");
    }
    const bool good = !proof.empty() &&
                      std::any_of(keys_->all.begin(), keys_->all.end(), [&](const Keys::Key& key) {
                          return key.algorithm == algorithm && (id.empty() || key.id == id) &&
                                 verifies(key.key.get(), token.substr(0, second), proof);
                      });
    if (!good) return invalid_jwt("InvalidSignature: The token has an invalid signature.");
    return check_claims(*claims_text, now);
}

Result<Claim> JwtVerifier::check_claims(std::string_view text, WallTime now) const {
    const auto claims = object_of(text);
    if (!claims) return invalid_jwt("InvalidToken: The token's claims are not a JSON object.");
    if (!has_one_of(options_.issuers, {text_in(*claims, "iss")})) {
        return invalid_jwt("InvalidIssuer: The token's issuer is not one that is trusted here.");
    }
    if (!has_one_of(options_.audiences, texts_in(*claims, "aud"))) {
        return invalid_jwt("InvalidAudience: The token is not meant for this hub.");
    }
    const auto expires = seconds_in(*claims, "exp");
    if (!expires) return invalid_jwt("InvalidToken: The token does not say when it expires.");
    const WallTime end = WallTime{*expires * 1000} + options_.leeway;
    if (end <= now) {
        return invalid_jwt("ExpiredToken: The token is expired. Expiration time: " +
                           to_string(WallTime{*expires * 1000}));
    }
    if (claims->if_contains("nbf")) {
        const auto begins = seconds_in(*claims, "nbf");
        if (!begins || WallTime{*begins * 1000} - options_.leeway > now) {
            return invalid_jwt("InvalidToken: The token is not valid yet.");
        }
    }
    Claim claim{"", rights_in(*claims, options_.default_rights), end};
    claim.subject = text_in(*claims, "sub");
    return claim;
}

}  // namespace evenkeel::door
