// The versions of everything that is kept in a data folder, and the one check of them.
//
// A file of an older version is read as it is, or rewritten when it is opened; what it holds stays.
// A file of a newer version is refused, whole and untouched: to read it as if it were ours would
// lose what we do not know of. A format that changes raises its number here, keeps a decoder of
// each number below, and a file of each in tests/data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace evenkeel::format {

inline constexpr std::uint32_t segment = 1;  // in its header; for the records in it as well
inline constexpr std::uint32_t index = 1;    // in each entry, less 1; others are passed over
inline constexpr std::uint32_t mark = 1;     // in each slot, less 1
inline constexpr std::uint32_t journal = 1;  // in its header; for the entries in it as well
inline constexpr std::uint32_t catalogue =
    2;  // in its first line, as those below; 1 has no journals
inline constexpr std::uint32_t keys = 1;
inline constexpr std::uint32_t clock = 1;
inline constexpr std::uint32_t backup = 1;  // of a hub in one file, behind its magic

// `unsupported`, naming both versions, if `found` is newer than the one known here.
Result<> check(std::string_view what, std::uint64_t found, std::uint32_t known);

// The frame of all text files, of every version: "evenkeel WORD VERSION CRC BYTES\nBODY\n", CRC
// being the body's CRC-32C in 8 hex digits, from version 2 on with the version as its seed.
std::string framed(std::string_view word, std::uint32_t version, std::string_view body);
// The body. `unsupported` if its version is newer; `corrupt`, saying what is wrong, if the text
// is not framed so. `what` names the file in messages.
Result<std::string_view> unframed(std::string_view text, std::string_view word,
                                  std::uint32_t version, std::string_view what);

}  // namespace evenkeel::format
