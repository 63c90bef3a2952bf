#include "host/app/json_file.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/bytes.h"
#include "base/number.h"
#include "base/text.h"
#include "host/app/time_span.h"
#include "io/system/files.h"

namespace evenkeel::host {
namespace {

namespace json = boost::json;

constexpr std::uint64_t file_bytes_max = std::uint64_t{4} << 20;

std::string_view view(const json::string& text) {
    return {text.data(), text.size()};
}
std::string_view view(json::string_view text) {
    return {text.data(), text.size()};
}

json::value* find(json::object& object, std::string_view name) {
    for (auto& member : object) {
        if (equal_without_case(view(member.key()), name)) return &member.value();
    }
    return nullptr;
}

std::size_t lines_before(std::string_view text, std::size_t end) {
    return static_cast<std::size_t>(
        std::count(text.begin(),
                   text.begin() + static_cast<std::ptrdiff_t>(std::min(end, text.size())), '\n'));
}

// Walks through JSON that was parsed before, so that it is well-formed.
class Walker {
public:
    explicit Walker(std::string_view text) : text_(text) { skip_blanks(); }

    std::size_t position() const { return at_; }

    // Goes to the value of the member, or to the element; false if there is none.
    bool enter(const std::string& step) {
        if (at_ >= text_.size()) return false;
        const bool is_object = text_[at_] == '{';
        if (!is_object && text_[at_] != '[') return false;
        ++at_;
        for (std::size_t index = 0;; ++index) {
            skip_blanks();
            if (at_ >= text_.size() || text_[at_] == '}' || text_[at_] == ']') return false;
            std::string name = fmt::format("[{}]", index);
            if (is_object) {
                const std::size_t begin = at_ + 1;
                skip_string();
                name = text_.substr(begin, at_ - begin - 1);
                skip_blanks();
                ++at_;  // the colon
                skip_blanks();
            }
            if (equal_without_case(name, step)) return true;
            skip_value();
            skip_blanks();
            if (at_ < text_.size() && text_[at_] == ',') ++at_;
        }
    }

    // All elements of an array, in one walk.
    std::vector<std::string_view> elements() {
        std::vector<std::string_view> all;
        if (at_ >= text_.size() || text_[at_] != '[') return all;
        ++at_;
        while (true) {
            skip_blanks();
            if (at_ >= text_.size() || text_[at_] == ']') return all;
            const std::size_t begin = at_;
            skip_value();
            all.push_back(text_.substr(begin, at_ - begin));
            skip_blanks();
            if (at_ < text_.size() && text_[at_] == ',') ++at_;
        }
    }

    void skip_value() {
        std::size_t depth = 0;
        do {
            skip_blanks();
            if (at_ >= text_.size()) return;
            const char c = text_[at_];
            if (c == '"') {
                skip_string();
            } else if (c == '{' || c == '[') {
                ++depth;
                ++at_;
            } else if (c == '}' || c == ']') {
                --depth;
                ++at_;
            } else if (c == ',' || c == ':') {
                ++at_;
            } else {
                at_ = std::min(text_.find_first_of(",:]} \t\r\n/", at_), text_.size());
            }
        } while (depth > 0);
    }

private:
    void skip_blanks() {
        while (at_ < text_.size()) {
            const std::string_view rest = text_.substr(at_);
            if (rest.starts_with("//")) {
                at_ = std::min(text_.find('\n', at_), text_.size());
            } else if (rest.starts_with("/*")) {
                const std::size_t end = text_.find("*/", at_ + 2);
                at_ = end == std::string_view::npos ? text_.size() : end + 2;
            } else if (std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
                ++at_;
            } else {
                return;
            }
        }
    }
    void skip_string() {
        for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
            if (text_[at_] == '\\') ++at_;
        }
        at_ = std::min(at_ + 1, text_.size());
    }
    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

std::size_t line_of(std::string_view text, const std::vector<std::string>& path) {
    Walker walker(text);
    std::size_t position = walker.position();
    for (const auto& step : path) {
        if (!walker.enter(step)) break;
        position = walker.position();
    }
    return lines_before(text, position) + 1;
}

std::string_view raw_value(std::string_view text, const std::vector<std::string>& path) {
    Walker walker(text);
    for (const auto& step : path) {
        if (!walker.enter(step)) return {};
    }
    const std::size_t begin = walker.position();
    walker.skip_value();
    return text.substr(begin, walker.position() - begin);
}

std::vector<std::string_view> raw_elements(std::string_view text) {
    return Walker(text).elements();
}

std::string text_member(const json::object& members, std::string_view name) {
    const auto* found = members.if_contains(json::string_view(name.data(), name.size()));
    return found && found->is_string() ? std::string(view(found->get_string())) : std::string();
}

JsonFile::JsonFile(std::string name, std::string text, std::shared_ptr<json::value> value)
    : name_(std::move(name)), text_(std::move(text)), value_(std::move(value)) {}

Result<JsonFile> JsonFile::parse(std::string name, std::string text) {
    if (text.starts_with("\xef\xbb\xbf")) text.erase(0, 3);  // editors leave a mark there
    json::parse_options options;
    options.allow_comments = true;
    options.allow_trailing_commas = true;
    json::stream_parser parser({}, options);
    boost::system::error_code error;
    const std::size_t read = parser.write_some(text.data(), text.size(), error);
    if (!error && read < text.size() &&
        text.find_first_not_of(" \t\r\n", read) != std::string::npos) {
        error = json::error::extra_data;
    }
    if (!error) parser.finish(error);
    if (error) {
        return Error{ErrorCode::invalid_argument,
                     fmt::format("{}:{}: this is not JSON: {}", name, lines_before(text, read) + 1,
                                 error.message())};
    }
    return JsonFile(std::move(name), std::move(text),
                    std::make_shared<json::value>(parser.release()));
}

Result<JsonFile> JsonFile::read(const std::string& path, std::string name) {
    io::system::SystemFiles files;
    EK_TRY_ASSIGN(const auto bytes, io::read_file(files, path, file_bytes_max));
    return parse(std::move(name),
                 std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

JsonPlace JsonFile::root() const {
    return {*this, value_.get(), {}};
}

void JsonFile::set(const std::vector<std::string>& path, std::string_view text) {
    json::value* at = value_.get();
    for (const auto& step : path) {
        if (!at->is_object()) *at = json::object();
        json::value* inner = find(at->get_object(), step);
        at = inner ? inner : &at->get_object()[step];
    }
    *at = json::string(text);
}

JsonPlace JsonPlace::operator[](std::string_view name) const {
    auto path = path_;
    path.emplace_back(name);
    const json::value* found = nullptr;
    if (const auto* object = value_ ? value_->if_object() : nullptr) {
        found = find(const_cast<json::object&>(*object), name);
    }
    return {*file_, found, std::move(path)};
}

JsonPlace JsonPlace::operator[](std::size_t index) const {
    auto path = path_;
    path.push_back(fmt::format("[{}]", index));
    const auto* array = value_ ? value_->if_array() : nullptr;
    return {*file_, array && index < array->size() ? &(*array)[index] : nullptr, std::move(path)};
}

bool JsonPlace::exists() const {
    return value_ && !value_->is_null();
}
bool JsonPlace::is_object() const {
    return value_ && value_->is_object();
}
bool JsonPlace::is_text() const {
    return value_ && value_->is_string();
}

std::vector<std::string> JsonPlace::names() const {
    std::vector<std::string> all;
    if (const auto* object = value_ ? value_->if_object() : nullptr) {
        for (const auto& member : *object) all.emplace_back(view(member.key()));
    }
    return all;
}

std::size_t JsonPlace::size() const {
    const auto* array = value_ ? value_->if_array() : nullptr;
    return array ? array->size() : 0;
}

Result<std::string> JsonPlace::text() const {
    if (!value_ || !value_->is_string()) return wrong("must be a string");
    return std::string(view(value_->get_string()));
}

Result<bool> JsonPlace::truth() const {
    if (value_ && value_->is_bool()) return value_->get_bool();
    if (value_ && value_->is_string()) {
        if (equal_without_case(view(value_->get_string()), "true")) return true;
        if (equal_without_case(view(value_->get_string()), "false")) return false;
    }
    return wrong("must be true or false");
}

Result<std::uint64_t> JsonPlace::number(std::uint64_t min, std::uint64_t max) const {
    std::optional<std::uint64_t> number;
    if (value_ && value_->is_string()) {
        number = parse_number<std::uint64_t>(view(value_->get_string()));
    } else if (value_ && value_->is_number()) {
        boost::system::error_code error;
        const auto read = value_->to_number<std::uint64_t>(error);
        if (!error) number = read;
    }
    if (number && *number >= min && *number <= max) return *number;
    if (max == std::numeric_limits<std::uint64_t>::max()) {
        return wrong(fmt::format("must be a whole number of at least {}", min));
    }
    return wrong(fmt::format("must be a whole number from {} to {}", min, max));
}

Result<std::int64_t> JsonPlace::signed_number(std::int64_t min) const {
    std::optional<std::int64_t> number;
    if (value_ && value_->is_string()) {
        number = parse_number<std::int64_t>(view(value_->get_string()));
    } else if (value_ && value_->is_number()) {
        boost::system::error_code error;
        const auto read = value_->to_number<std::int64_t>(error);
        if (!error) number = read;
    }
    if (number && *number >= min) return *number;
    return wrong(fmt::format("must be a whole number of at least {}", min));
}

Result<std::chrono::milliseconds> JsonPlace::time_span() const {
    if (value_ && value_->is_string()) {
        if (const auto span = parse_time_span(view(value_->get_string()))) return *span;
    }
    return wrong("must be a time such as \"00:01:30\" (hours, minutes, seconds)");
}

Result<std::size_t> JsonPlace::word(const std::vector<std::string>& words) const {
    const auto plain = [](std::string_view text) {
        std::string kept = lower_case(text);
        std::erase(kept, '_');
        return kept;
    };
    std::string all;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (value_ && value_->is_string() && plain(view(value_->get_string())) == plain(words[i])) {
            return i;
        }
        all += fmt::format("{}\"{}\"",
                           i == 0                  ? ""
                           : i + 1 == words.size() ? " or "
                                                   : ", ",
                           words[i]);
    }
    return wrong("must be " + all);
}

Result<std::vector<std::string>> JsonPlace::texts() const {
    if (!value_ || !value_->is_array()) return wrong("must be a list of strings");
    std::vector<std::string> all;
    for (std::size_t i = 0; i < size(); ++i) {
        EK_TRY_ASSIGN(auto text, (*this)[i].text());
        all.push_back(std::move(text));
    }
    return all;
}

std::string JsonPlace::where() const {
    std::string path;
    for (const auto& step : path_) path += (path.empty() || step[0] == '[' ? "" : ".") + step;
    return fmt::format("{}:{}{}{}", file_->name_, line_of(file_->text_, path_),
                       path.empty() ? "" : ": ", shown(path));
}

Error JsonPlace::wrong(std::string_view why) const {
    return {ErrorCode::invalid_argument,
            fmt::format("{}: {}{}", where(), exists() ? "" : "is missing; it ", why)};
}

}  // namespace evenkeel::host
