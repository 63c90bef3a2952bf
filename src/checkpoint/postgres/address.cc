#include "checkpoint/postgres/address.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "checkpoint/postgres/library.h"

namespace evenkeel::checkpoint {

namespace {

Error unreadable(std::string_view what) {
    return {ErrorCode::invalid_argument,
            fmt::format("the address of the PostgreSQL store cannot be read: {}; it is "
                        "postgresql://USER:PASSWORD@HOST:PORT/DATABASE?OPTION=VALUE, where "
                        "characters like '@', ':', '/', '%' in a user or password are written as "
                        "%40, %3A, %2F, %25",
                        what)};
}

bool is_ports(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == ','; });
}

void hide(std::string& message, std::string_view secret) {
    if (secret.empty()) return;
    for (std::size_t at = 0; (at = message.find(secret, at)) != message.npos; at += 3) {
        message.replace(at, secret.size(), "***");
    }
}

}  // namespace

Result<PostgresAddress> PostgresAddress::parse(const std::string& url) {
    EK_TRY_ASSIGN(const PostgresLibrary* library, PostgresLibrary::load());
    char* message = nullptr;
    const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> parsed(
        library->conninfoParse(url.c_str(), &message), library->conninfoFree);
    if (message != nullptr) library->freemem(message);
    if (!parsed) return unreadable("its form or an option is unknown");
    PostgresAddress address;
    for (const PQconninfoOption* option = parsed.get(); option->keyword != nullptr; ++option) {
        if (option->val == nullptr) continue;
        address.options_.emplace_back(option->keyword, option->val);
    }
    if (!is_ports(address.option("port"))) return unreadable("the port is no number");
    const auto or_default = [](std::string_view value, std::string_view otherwise) {
        return value.empty() ? otherwise : value;
    };
    std::string_view host = or_default(address.option("host"), address.option("hostaddr"));
    address.shown_ =
        fmt::format("postgresql://{}:{}/{}", or_default(host, "(local)"),
                    or_default(address.option("port"), "5432"), address.option("dbname"));
    return address;
}

std::string_view PostgresAddress::option(std::string_view name) const {
    const auto found = std::ranges::find(
        options_, name, [](const auto& each) -> std::string_view { return each.first; });
    return found == options_.end() ? std::string_view() : found->second;
}

std::string PostgresAddress::without_secrets(std::string message) const {
    hide(message, option("password"));
    hide(message, option("sslpassword"));
    return message;
}

}  // namespace evenkeel::checkpoint
