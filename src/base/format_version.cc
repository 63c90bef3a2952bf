#include "base/format_version.h"

#include <charconv>

#include <fmt/core.h>

#include "base/bytes.h"
#include "base/crc32c.h"

namespace evenkeel::format {
namespace {

// A number at the beginning of `text`, with what must follow it; both are taken off.
template <typename T>
bool take_number(std::string_view& text, T& to, int base, std::string_view behind) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to, base);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.starts_with(behind)) return false;
    text.remove_prefix(behind.size());
    return true;
}

// From version 2 on the version is a part of it, so that a damaged digit is told from a new
// version.
std::uint32_t checksum(std::string_view body, std::uint64_t version) {
    return crc32c(as_bytes(body), version == 1 ? 0 : static_cast<std::uint32_t>(version));
}

}  // namespace

Result<> check(std::string_view what, std::uint64_t found, std::uint32_t known) {
    if (found <= known) return {};
    return Error{ErrorCode::unsupported,
                 std::string(what) + " has format version " + std::to_string(found) +
                     ", and this version of Evenkeel knows versions up to " +
                     std::to_string(known) + "; use the newer version that wrote it"};
}

std::string framed(std::string_view word, std::uint32_t version, std::string_view body) {
    return fmt::format("evenkeel {} {} {:08x} {}\n{}\n", word, version, checksum(body, version),
                       body.size(), body);
}

Result<std::string_view> unframed(std::string_view text, std::string_view word,
                                  std::uint32_t version, std::string_view what) {
    const auto damaged = [&](std::string_view why) {
        return Error{ErrorCode::corrupt,
                     "not a good " + std::string(what) + ": " + std::string(why)};
    };
    const std::string start = "evenkeel " + std::string(word) + " ";
    if (!text.starts_with(start)) return damaged("its first line is not one");
    text.remove_prefix(start.size());
    std::uint64_t found = 0;
    std::uint32_t crc = 0;
    std::size_t bytes = 0;
    if (!take_number(text, found, 10, " ") || found == 0) {
        return damaged("its version is not a number");
    }
    std::string_view rest = text;
    const bool sized = take_number(rest, crc, 16, " ") && take_number(rest, bytes, 10, "\n");
    const bool whole = sized && rest.size() >= 1 && bytes == rest.size() - 1 && rest.back() == '\n';
    if (whole && checksum(rest.substr(0, bytes), found) == crc) {
        EK_TRY(check("the " + std::string(what), found, version));
        return rest.substr(0, bytes);
    }
    if (!sized) return damaged("its checksum or size is not a number");
    return damaged(whole ? "its checksum is wrong" : "its size is wrong");
}

}  // namespace evenkeel::format
