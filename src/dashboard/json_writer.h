// JSON, written piece by piece into one text: no tree in between, since snapshots and ticks of a
// thousand partitions are written every second. Text is always valid UTF-8 and escaped, whatever
// bytes it had.
//
//     JsonWriter json;
//     json.object([&] { json.member("name", name).member("lag", lag); });
//
// Unknown values (std::nullopt) are null. Threads: a value.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/log.h"

namespace evenkeel::dashboard {

class JsonWriter {
public:
    template <typename Fill>
    JsonWriter& object(Fill fill) {
        return nested('{', '}', fill);
    }
    template <typename Fill>
    JsonWriter& array(Fill fill) {
        return nested('[', ']', fill);
    }
    JsonWriter& key(std::string_view name) {
        separate();
        text_.append("\"").append(json_escaped(name)).append("\":");
        needs_comma_ = false;
        return *this;
    }
    template <typename T>
    JsonWriter& member(std::string_view name, const T& given) {
        return key(name).value(given);
    }

    JsonWriter& value(std::string_view text) { return raw("\"" + json_escaped(text) + "\""); }
    JsonWriter& value(const char* text) { return value(std::string_view(text)); }
    JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
    JsonWriter& value(std::same_as<bool> auto is) { return raw(is ? "true" : "false"); }
    JsonWriter& value(std::integral auto number) requires(!std::same_as<decltype(number), bool>) {
        return raw(fmt::format("{}", number));
    }
    // To a tenth.
    JsonWriter& value(double number) {
        if (!std::isfinite(number)) return null();
        return raw(fmt::format("{:.1f}", number));
    }
    JsonWriter& value(WallTime time) { return value(to_string(time)); }
    template <typename T>
    JsonWriter& value(const std::optional<T>& maybe) {
        return maybe ? value(*maybe) : null();
    }
    JsonWriter& null() { return raw("null"); }
    // JSON that is written already.
    JsonWriter& raw(std::string_view json) {
        separate();
        text_ += json;
        needs_comma_ = true;
        return *this;
    }

    const std::string& text() const { return text_; }
    std::string take() { return std::move(text_); }

private:
    template <typename Fill>
    JsonWriter& nested(char open, char close, Fill fill) {
        separate();
        text_ += open;
        needs_comma_ = false;
        fill();
        text_ += close;
        needs_comma_ = true;
        return *this;
    }
    void separate() {
        if (needs_comma_) text_ += ',';
        needs_comma_ = false;
    }

    std::string text_;
    bool needs_comma_ = false;
};

}  // namespace evenkeel::dashboard
