#include "cli/text/exact_json.h"

#include <string>

#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>

#include "base/number.h"

namespace evenkeel::cli {
namespace {

using boost::json::error_code;
using boost::json::string_view;

// As the parser's own handler, but for on_double() and on_int64().
struct ExactHandler {
    static constexpr std::size_t max_object_size = boost::json::object::max_size();
    static constexpr std::size_t max_array_size = boost::json::array::max_size();
    static constexpr std::size_t max_key_size = boost::json::string::max_size();
    static constexpr std::size_t max_string_size = boost::json::string::max_size();

    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_object_begin(error_code&) { return true; }
    bool on_object_end(std::size_t count, error_code&) {
        stack.push_object(count);
        return true;
    }
    bool on_array_begin(error_code&) { return true; }
    bool on_array_end(std::size_t count, error_code&) {
        stack.push_array(count);
        return true;
    }
    bool on_key_part(string_view text, std::size_t, error_code&) {
        stack.push_chars(text);
        return true;
    }
    bool on_key(string_view text, std::size_t, error_code&) {
        stack.push_key(text);
        return true;
    }
    bool on_string_part(string_view text, std::size_t, error_code&) {
        stack.push_chars(text);
        return true;
    }
    bool on_string(string_view text, std::size_t, error_code&) {
        stack.push_string(text);
        return true;
    }
    bool on_number_part(string_view text, error_code&) {
        number.append(text.data(), text.size());
        return true;
    }
    bool on_int64(std::int64_t value, string_view rest, error_code& error) {
        on_number_part(rest, error);
        if (number == "-0") {
            stack.push_double(-0.0);
        } else {
            stack.push_int64(value);
        }
        number.clear();
        return true;
    }
    bool on_uint64(std::uint64_t value, string_view, error_code&) {
        stack.push_uint64(value);
        number.clear();
        return true;
    }
    bool on_double(double rounded, string_view rest, error_code& error) {
        on_number_part(rest, error);
        stack.push_double(parse_number<double>(number).value_or(rounded));
        number.clear();
        return true;
    }
    bool on_bool(bool value, error_code&) {
        stack.push_bool(value);
        return true;
    }
    bool on_null(error_code&) {
        stack.push_null();
        return true;
    }
    bool on_comment_part(string_view, error_code&) { return true; }
    bool on_comment(string_view, error_code&) { return true; }

    boost::json::value_stack stack = {};
    std::string number = {};  // its characters so far
};

}  // namespace

Result<boost::json::value> parse_json(std::string_view text) {
    boost::json::basic_parser<ExactHandler> parser{boost::json::parse_options{}};
    parser.handler().stack.reset();
    error_code error;
    const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
    if (!error && used < text.size()) error = boost::json::error::extra_data;
    if (error) return Error{ErrorCode::invalid_argument, "it is not JSON: " + error.message()};
    return parser.handler().stack.release();
}

}  // namespace evenkeel::cli
