// An identity provider for tests: a key, its entry in a key set, and tokens that it signs.
#pragma once

#include <string>
#include <string_view>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

namespace evenkeel::door {

inline std::string base64url(std::string_view bytes) {
    std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
    text.resize(static_cast<std::size_t>(EVP_EncodeBlock(
        reinterpret_cast<unsigned char*>(text.data()),
        reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()))));
    while (!text.empty() && text.back() == '=') text.pop_back();
    for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
    return text;
}

class Provider {
public:
    explicit Provider(bool rsa, std::string id = "k1") : rsa_(rsa), id_(std::move(id)) {
        key_ = rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256");
    }
    ~Provider() { EVP_PKEY_free(key_); }
    Provider(const Provider&) = delete;
    Provider& operator=(const Provider&) = delete;

    std::string key() const {
        if (rsa_) {
            return R"({"kty":"RSA","use":"sig","kid":")" + id_ + R"(","n":")" +
                   number(OSSL_PKEY_PARAM_RSA_N) + R"(","e":")" + number(OSSL_PKEY_PARAM_RSA_E) +
                   "\"}";
        }
        return R"({"kty":"EC","crv":"P-256","kid":")" + id_ + R"(","x":")" +
               number(OSSL_PKEY_PARAM_EC_PUB_X, 32) + R"(","y":")" +
               number(OSSL_PKEY_PARAM_EC_PUB_Y, 32) + "\"}";
    }
    std::string token(const std::string& claims, std::string header = "") const {
        if (header.empty()) {
            header = R"({"alg":")";
            header += rsa_ ? "RS256" : "ES256";
            header += R"(","kid":")" + id_ + "\"}";
        }
        const std::string text = base64url(header) + "." + base64url(claims);
        return text + "." + base64url(sign(text));
    }

private:
    std::string number(const char* name, int width = 0) const {
        BIGNUM* value = nullptr;
        EVP_PKEY_get_bn_param(key_, name, &value);
        std::string bytes(static_cast<std::size_t>(width ? width : BN_num_bytes(value)), '\0');
        BN_bn2binpad(value, reinterpret_cast<unsigned char*>(bytes.data()),
                     static_cast<int>(bytes.size()));
        BN_free(value);
        return base64url(bytes);
    }
    std::string sign(const std::string& text) const {
        EVP_MD_CTX* const context = EVP_MD_CTX_new();
        EVP_DigestSignInit(context, nullptr, EVP_sha256(), nullptr, key_);
        std::size_t size = 512;
        std::string bytes(size, '\0');
        EVP_DigestSign(context, reinterpret_cast<unsigned char*>(bytes.data()), &size,
                       reinterpret_cast<const unsigned char*>(text.data()), text.size());
        EVP_MD_CTX_free(context);
        bytes.resize(size);
        if (rsa_) return bytes;
        const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
        ECDSA_SIG* const pair = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(size));
        std::string raw(64, '\0');
        auto* const to = reinterpret_cast<unsigned char*>(raw.data());
        BN_bn2binpad(ECDSA_SIG_get0_r(pair), to, 32);
        BN_bn2binpad(ECDSA_SIG_get0_s(pair), to + 32, 32);
        ECDSA_SIG_free(pair);
        return raw;
    }

    bool rsa_;
    std::string id_;
    EVP_PKEY* key_;
};

inline std::string key_set_of(const Provider& provider) {
    return R"({"keys":[)" + provider.key() + "]}";
}

}  // namespace evenkeel::door
