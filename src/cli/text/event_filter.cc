#include "cli/text/event_filter.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/number.h"
#include "base/time_point.h"
#include "cli/text/duration.h"

namespace evenkeel::cli {
namespace {

namespace json = boost::json;

constexpr int depth_max = 64;
// A term costs a look at the body of each event; a server takes filters from its clients.
constexpr int terms_max = 100;
constexpr std::string_view names[] = {"body", "key",      "partition",    "seq",       "offset",
                                      "size", "enqueued", "content_type", "properties"};

enum class Token : std::uint8_t { end, name, number, text, sign };

struct Lexeme {
    Token token = Token::end;
    std::string text;    // of a string, without its quotes
    std::size_t at = 0;  // in the filter
};

enum class Operation : std::uint8_t {
    value,
    all_of,
    any_of,
    none_of,
    equal,
    unequal,
    less,
    less_or_equal,
    greater,
    greater_or_equal,
    contains
};

using PathStep = std::variant<std::string, std::size_t>;

// A value (a literal, or what a path leads to), or an operation on others.
struct Node {
    Operation operation = Operation::value;
    std::vector<Node> operands = {};
    std::string name = {};  // empty: a literal
    std::vector<PathStep> path = {};
    json::value literal = nullptr;
};

bool is_name_start(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}

class Lexer {
public:
    explicit Lexer(std::string_view text) : text_(text) {}

    Result<Lexeme> next() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
        Lexeme lexeme{Token::end, {}, at_};
        if (at_ == text_.size()) return lexeme;
        const char first = text_[at_];
        if (is_name_start(first)) {
            lexeme.token = Token::name;
            lexeme.text = while_part([](char letter) {
                return is_name_start(letter) || is_digit(letter) || letter == '-';
            });
        } else if (is_digit(first) || first == '-') {
            lexeme.token = Token::number;
            lexeme.text = while_part([](char letter) {
                return is_digit(letter) || is_name_start(letter) || letter == '.' ||
                       letter == '-' || letter == '+';
            });
        } else if (first == '\'' || first == '"') {
            lexeme.token = Token::text;
            EK_TRY_ASSIGN(lexeme.text, quoted(first));
        } else {
            lexeme.token = Token::sign;
            EK_TRY_ASSIGN(lexeme.text, sign());
        }
        return lexeme;
    }

private:
    template <typename Predicate>
    std::string while_part(Predicate is_part) {
        const std::size_t begin = at_++;
        while (at_ < text_.size() && is_part(text_[at_])) ++at_;
        return std::string(text_.substr(begin, at_ - begin));
    }

    Result<std::string> quoted(char quote) {
        const std::size_t begin = at_++;
        std::string text;
        for (; at_ < text_.size(); ++at_) {
            if (text_[at_] == quote) {
                ++at_;
                return text;
            }
            if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
            text += text_[at_];
        }
        return Error{
            ErrorCode::invalid_argument,
            fmt::format("the string that begins at character {} is not closed", begin + 1)};
    }

    Result<std::string> sign() {
        for (const std::string_view known :
             {"==", "!=", "<=", ">=", "&&", "||", "=", "<", ">", "!", "(", ")", "[", "]", "."}) {
            if (!text_.substr(at_).starts_with(known)) continue;
            at_ += known.size();
            return std::string(known);
        }
        return Error{ErrorCode::invalid_argument,
                     fmt::format("unexpected '{}' at character {}", text_[at_], at_ + 1)};
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

std::optional<Operation> comparison(const Lexeme& lexeme) {
    if (lexeme.token == Token::name && lexeme.text == "contains") return Operation::contains;
    if (lexeme.token != Token::sign) return std::nullopt;
    if (lexeme.text == "==" || lexeme.text == "=") return Operation::equal;
    if (lexeme.text == "!=") return Operation::unequal;
    if (lexeme.text == "<") return Operation::less;
    if (lexeme.text == "<=") return Operation::less_or_equal;
    if (lexeme.text == ">") return Operation::greater;
    if (lexeme.text == ">=") return Operation::greater_or_equal;
    return std::nullopt;
}

class Parser {
public:
    explicit Parser(std::string_view text) : lexer_(text) {}

    Result<Node> parse() {
        EK_TRY(advance());
        EK_TRY_ASSIGN(auto node, any_of());
        if (now_.token != Token::end) return unexpected("'and', 'or' or the end");
        return node;
    }

private:
    Result<> advance() {
        EK_TRY_ASSIGN(now_, lexer_.next());
        return {};
    }
    bool is_sign(std::string_view sign) const {
        return now_.token == Token::sign && now_.text == sign;
    }
    bool is_word(std::string_view word) const {
        return now_.token == Token::name && now_.text == word;
    }
    Error unexpected(std::string_view wanted) const {
        if (now_.token == Token::end) {
            return {ErrorCode::invalid_argument,
                    fmt::format("it ends, but {} was expected", wanted)};
        }
        return {ErrorCode::invalid_argument,
                fmt::format("'{}' at character {}, but {} was expected", now_.text, now_.at + 1,
                            wanted)};
    }

    Result<Node> any_of() {
        EK_TRY_ASSIGN(auto first, all_of());
        if (!is_word("or") && !is_sign("||")) return first;
        Node node{.operation = Operation::any_of};
        node.operands.push_back(std::move(first));
        while (is_word("or") || is_sign("||")) {
            EK_TRY(advance());
            EK_TRY_ASSIGN(auto next, all_of());
            node.operands.push_back(std::move(next));
        }
        return node;
    }

    Result<Node> all_of() {
        EK_TRY_ASSIGN(auto first, term());
        if (!is_word("and") && !is_sign("&&")) return first;
        Node node{.operation = Operation::all_of};
        node.operands.push_back(std::move(first));
        while (is_word("and") || is_sign("&&")) {
            EK_TRY(advance());
            EK_TRY_ASSIGN(auto next, term());
            node.operands.push_back(std::move(next));
        }
        return node;
    }

    Result<Node> term() {
        if (++depth_ > depth_max) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("it is nested more than {} deep", depth_max)};
        }
        auto node = deeper_term();
        --depth_;
        return node;
    }

    Result<Node> deeper_term() {
        if (is_word("not") || is_sign("!")) {
            EK_TRY(advance());
            Node node{.operation = Operation::none_of};
            EK_TRY_ASSIGN(auto operand, term());
            node.operands.push_back(std::move(operand));
            return node;
        }
        if (is_sign("(")) {
            EK_TRY(advance());
            EK_TRY_ASSIGN(auto node, any_of());
            if (!is_sign(")")) return unexpected("')'");
            EK_TRY(advance());
            return node;
        }
        if (++terms_ > terms_max) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("it has more than {} conditions", terms_max)};
        }
        EK_TRY_ASSIGN(auto left, value());
        const auto operation = comparison(now_);
        if (!operation) return left;
        EK_TRY(advance());
        EK_TRY_ASSIGN(auto right, value());
        EK_TRY(make_comparable(left, right));
        EK_TRY(make_comparable(right, left));
        Node node{.operation = *operation};
        node.operands.push_back(std::move(left));
        node.operands.push_back(std::move(right));
        return node;
    }

    // A time is typed as text.
    static Result<> make_comparable(const Node& path, Node& other) {
        if (path.name != "enqueued" || !other.name.empty() || !other.literal.is_string()) return {};
        const std::string text(other.literal.as_string().c_str());
        const auto time = parse_time(text);
        if (!time) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("'{}' is not a time such as '2026-03-02T09:14:00Z'", text)};
        }
        other.literal = *time;
        return {};
    }

    Result<Node> value() {
        Node node;
        if (now_.token == Token::text) {
            node.literal = now_.text;
        } else if (now_.token == Token::number) {
            EK_TRY_ASSIGN(node.literal, number());
        } else if (is_word("true") || is_word("false")) {
            node.literal = now_.text == "true";
        } else if (is_word("null")) {
            node.literal = nullptr;
        } else if (now_.token == Token::name) {
            return path();
        } else {
            return unexpected("a value");
        }
        EK_TRY(advance());
        return node;
    }

    Result<json::value> number() const {
        if (const auto whole = parse_number<std::int64_t>(now_.text)) return json::value(*whole);
        if (const auto fraction = parse_number<double>(now_.text)) return json::value(*fraction);
        return Error{ErrorCode::invalid_argument,
                     fmt::format("'{}' at character {} is not a number", now_.text, now_.at + 1)};
    }

    Result<Node> path() {
        Node node{.name = now_.text};
        if (std::find(std::begin(names), std::end(names), node.name) == std::end(names)) {
            std::string known;
            for (const auto name : names) known += (known.empty() ? "" : ", ") + std::string(name);
            return Error{ErrorCode::invalid_argument,
                         fmt::format("an event has no '{}', but {}; texts stand in quotes",
                                     node.name, known)};
        }
        EK_TRY(advance());
        while (is_sign(".") || is_sign("[")) {
            const bool by_name = is_sign(".");
            EK_TRY(advance());
            EK_TRY_ASSIGN(auto step, path_step(by_name));
            node.path.push_back(std::move(step));
            EK_TRY(advance());
            if (by_name) continue;
            if (!is_sign("]")) return unexpected("']'");
            EK_TRY(advance());
        }
        const bool has_members = node.name == "body" || node.name == "properties";
        if (!has_members && !node.path.empty()) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("'{}' has no members; body and properties have", node.name)};
        }
        if (node.name == "properties" && node.path.empty()) return unexpected("'.NAME'");
        return node;
    }

    Result<PathStep> path_step(bool by_name) const {
        if (by_name && now_.token == Token::name) return PathStep(now_.text);
        if (by_name) return unexpected("the name of a member");
        if (now_.token == Token::text) return PathStep(now_.text);
        const auto index = parse_number<std::size_t>(now_.text);
        if (now_.token == Token::number && index) return PathStep(*index);
        return unexpected("a number or a name in quotes");
    }

    Lexer lexer_;
    Lexeme now_;
    int depth_ = 0;
    int terms_ = 0;
};

// One event while a filter looks at it. Values live as long as this.
class Subject {
public:
    Subject(const EventPlace& place, const Event& event) : place_(place), event_(event) {}

    // Null if there is no such thing.
    const json::value* find(const Node& node) {
        if (node.name.empty()) return &node.literal;
        if (node.name == "body" && !node.path.empty()) {
            return walk(body_json(), node.path, 0);
        }
        if (node.name == "properties") return walk(property(node.path.front()), node.path, 1);
        const auto [known, is_new] = simple_.try_emplace(node.name);
        if (is_new) known->second = simple(node.name);
        return known->second.is_null() ? nullptr : &known->second;
    }
    bool has_bad_body() const { return looked_ && !body_; }

private:
    const json::value* body_json() {
        if (!looked_) {
            looked_ = true;
            json::error_code error;
            const std::string_view text = event_.text();
            auto value = json::parse({text.data(), text.size()}, error);
            if (!error) body_ = std::move(value);
        }
        return body_ ? &*body_ : nullptr;
    }

    const json::value* property(const PathStep& step) {
        const auto* const name = std::get_if<std::string>(&step);
        if (!name) return nullptr;
        const auto [known, is_new] = properties_.try_emplace(*name);
        if (is_new) known->second = parsed_property(*name);
        return known->second ? &*known->second : nullptr;
    }

    std::optional<json::value> parsed_property(const std::string& name) {
        if (!details_) details_ = details_of(event_);
        for (const auto& [known, value] : details_->properties) {
            if (known != name) continue;
            json::error_code error;
            auto parsed = json::parse(value, error);
            if (error) return std::nullopt;
            return parsed;
        }
        return std::nullopt;
    }

    json::value simple(const std::string& name) {
        if (name == "body") return text(event_.text());
        if (name == "key") return text(event_.partition_key);
        if (name == "partition") return std::int64_t{place_.partition};
        if (name == "seq") return event_.sequence_number;
        if (name == "offset") return event_.offset;
        if (name == "size") return static_cast<std::int64_t>(event_.body().size());
        if (name == "enqueued") return wall_time(event_.enqueued_time).milliseconds;
        if (!details_) details_ = details_of(event_);
        return text(details_->content_type);
    }

    static json::value text(std::string_view view) {
        if (view.empty()) return nullptr;
        return json::string(view.data(), view.size());
    }

    static const json::value* walk(const json::value* at, const std::vector<PathStep>& path,
                                   std::size_t from) {
        for (std::size_t i = from; at && i < path.size(); ++i) {
            if (const auto* const name = std::get_if<std::string>(&path[i])) {
                at = at->is_object() ? at->get_object().if_contains(*name) : nullptr;
            } else {
                at = at->is_array() ? at->get_array().if_contains(std::get<std::size_t>(path[i]))
                                    : nullptr;
            }
        }
        return at;
    }

    const EventPlace& place_;
    const Event& event_;
    bool looked_ = false;
    std::optional<json::value> body_;
    std::optional<EventDetails> details_;
    // Made once, however many terms ask: bodies may be large.
    std::map<std::string, json::value, std::less<>> simple_;
    std::map<std::string, std::optional<json::value>, std::less<>> properties_;
};

// Below 0, 0 or above it; none where neither is the smaller one.
std::optional<int> compared(const json::value& a, const json::value& b) {
    if (a.is_number() && b.is_number()) {
        if (a.is_int64() && b.is_int64()) {
            return a.get_int64() < b.get_int64() ? -1 : a.get_int64() > b.get_int64();
        }
        const auto x = a.to_number<double>();
        const auto y = b.to_number<double>();
        return x < y ? -1 : x > y;
    }
    if (a.is_string() && b.is_string()) return a.get_string().compare(b.get_string());
    if (a == b) return 0;
    return std::nullopt;
}

bool contains(const json::value& whole, const json::value& part) {
    if (whole.is_string() && part.is_string()) {
        return whole.get_string().find(part.get_string()) != json::string::npos;
    }
    if (!whole.is_array()) return false;
    for (const auto& element : whole.get_array()) {
        if (compared(element, part) == 0) return true;
    }
    return false;
}

bool holds(const Node& node, Subject& subject) {
    static const json::value nothing = nullptr;
    switch (node.operation) {
        case Operation::value: {
            const auto* const value = subject.find(node);
            return value && !value->is_null() && *value != json::value(false);
        }
        case Operation::all_of:
            for (const auto& operand : node.operands) {
                if (!holds(operand, subject)) return false;
            }
            return true;
        case Operation::any_of:
            for (const auto& operand : node.operands) {
                if (holds(operand, subject)) return true;
            }
            return false;
        case Operation::none_of: return !holds(node.operands.front(), subject);
        default: break;
    }
    const auto* left = subject.find(node.operands.front());
    const auto* right = subject.find(node.operands.back());
    if (!left) left = &nothing;
    if (!right) right = &nothing;
    if (node.operation == Operation::contains) return contains(*left, *right);
    const auto order = compared(*left, *right);
    switch (node.operation) {
        case Operation::equal: return order == 0;
        case Operation::unequal: return order != 0;
        case Operation::less: return order && *order < 0;
        case Operation::less_or_equal: return order && *order <= 0 && !left->is_null();
        case Operation::greater: return order && *order > 0;
        case Operation::greater_or_equal: return order && *order >= 0 && !left->is_null();
        default: return false;
    }
}

}  // namespace

struct EventFilter::State {
    Node root;
    std::uint64_t bad_bodies = 0;
};

Result<EventFilter> EventFilter::parse(std::string_view text) {
    EK_TRY_ASSIGN(auto root, Parser(text).parse());
    return EventFilter(std::make_unique<State>(State{std::move(root)}));
}

EventFilter::EventFilter(std::unique_ptr<State> state) : state_(std::move(state)) {}
EventFilter::~EventFilter() = default;
EventFilter::EventFilter(EventFilter&&) noexcept = default;
EventFilter& EventFilter::operator=(EventFilter&&) noexcept = default;

bool EventFilter::matches(const EventPlace& place, const Event& event) {
    Subject subject(place, event);
    const bool does = holds(state_->root, subject);
    state_->bad_bodies += subject.has_bad_body();
    return does;
}

std::uint64_t EventFilter::bodies_without_json() const {
    return state_->bad_bodies;
}

Result<std::function<bool(std::uint32_t, const Event&)>> parse_filter_of_server(
    const std::string& hub, std::string_view text) {
    EK_TRY_ASSIGN(auto parsed, EventFilter::parse(text));
    // A std::function is copied; the filter is not.
    const auto filter = std::make_shared<EventFilter>(std::move(parsed));
    return std::function<bool(std::uint32_t, const Event&)>(
        [filter, hub](std::uint32_t partition, const Event& event) {
            return filter->matches({hub, partition}, event);
        });
}

}  // namespace evenkeel::cli
