#include "base/hmac.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace evenkeel {

std::array<std::byte, 32> hmac_sha256(std::string_view text, const Secret& key) {
    std::array<std::byte, 32> digest{};
    unsigned int size = digest.size();
    HMAC(EVP_sha256(), key.reveal().data(), static_cast<int>(key.reveal().size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()), &size);
    return digest;
}

}  // namespace evenkeel
