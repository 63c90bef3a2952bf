// A key, password or token. It has no stream or format operator, so it cannot be printed or logged
// by accident (AUTH-2); whoever needs the text calls reveal().
#pragma once

#include <string>
#include <utility>

namespace evenkeel {

class Secret {
public:
    Secret() = default;
    explicit Secret(std::string text) : text_(std::move(text)) {}
    const std::string& reveal() const { return text_; }
    bool empty() const { return text_.empty(); }

private:
    std::string text_;
};

}  // namespace evenkeel
