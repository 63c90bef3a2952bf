// Our values as PostgreSQL's text: parameters and results travel as text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace evenkeel::checkpoint {

// PostgreSQL's text has no NUL and must be UTF-8; our names may be any bytes. So '\' is written as
// "\\", and what is no such text as "\xHH". Ordinary names stay as they are.
std::string to_postgres_text(std::string_view bytes);
// Back. Anything that was not written like that is left as it is.
std::string from_postgres_text(std::string_view text);

// bytea as "\x00ff".
std::string to_postgres_bytes(ByteView bytes);
std::vector<std::byte> from_postgres_bytes(std::string_view text);

// A parameter that is an array, "{1,2}" or "{\"a\",\"b\"}", made one element at a time.
class PostgresArray {
public:
    void add_plain(std::string_view element);   // a number
    void add_quoted(std::string_view element);  // any text
    std::string take();

private:
    std::string text_ = "{";
};

}  // namespace evenkeel::checkpoint
