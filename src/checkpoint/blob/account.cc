#include "checkpoint/blob/account.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/text.h"

namespace evenkeel::checkpoint {
namespace {

// The emulator's account and key are the same on every machine, and published.
constexpr std::string_view development_account = "devstoreaccount1";
constexpr std::string_view development_key =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
constexpr std::string_view development_endpoint = "http://127.0.0.1:10000/devstoreaccount1";

Error refused(std::string_view why) {
    return {ErrorCode::invalid_argument, fmt::format("azblob: {}", why)};
}

// 3 to 63 of a-z, 0-9 and single '-', which does not begin or end it; or "$root" and its like.
Result<> check_container(std::string_view name) {
    if (name.empty()) {
        return refused(
            "no container is named; add ;Container=NAME to the connection string, or /NAME to the "
            "address");
    }
    const bool is_good = name.size() >= 3 && name.size() <= 63 && name.front() != '-' &&
                         name.back() != '-' && name.find("--") == name.npos &&
                         std::all_of(name.begin(), name.end(), [](char c) {
                             return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
                         });
    if (is_good) return {};
    return refused(
        fmt::format("'{}' is no name of a container: 3 to 63 of a-z, 0-9 and '-'", name));
}

// Takes the origin and the path in front of the container; `path` is "" or begins with '/'.
Result<> set_endpoint(BlobAccount& account, std::string_view url) {
    const bool is_tls = url.starts_with("https://");
    if (!is_tls && !url.starts_with("http://")) {
        return refused("an address begins with https:// or http://");
    }
    const std::size_t host = url.find("//") + 2;
    const std::size_t slash = std::min(url.find('/', host), url.size());
    account.origin = url.substr(0, slash);
    account.path = url.substr(slash);
    while (account.path.ends_with('/')) account.path.pop_back();
    const auto is_odd = [](char c) {
        return c <= ' ' || c > '~' || c == '?' || c == '#' || c == '@';
    };
    if (slash == host || std::any_of(url.begin(), url.end(), is_odd)) {
        return refused("https://ACCOUNT.blob.core.windows.net/CONTAINER?SAS is what it looks like");
    }
    return {};
}

// The account's name from a host such as "a.blob.core.windows.net", or from a path.
std::string name_of(const BlobAccount& account) {
    if (!account.path.empty()) {
        return account.path.substr(1, account.path.find('/', 1) - 1);
    }
    const std::string_view host =
        std::string_view(account.origin).substr(account.origin.find("//") + 2);
    return std::string(host.substr(0, host.find_first_of(".:")));
}

Result<BlobAccount> from_address(std::string_view text) {
    BlobAccount account;
    const std::size_t mark = std::min(text.find('?'), text.size());
    std::string_view query = text.substr(std::min(mark + 1, text.size()));
    EK_TRY(set_endpoint(account, text.substr(0, mark)));
    const std::size_t slash = account.path.rfind('/');
    if (slash != std::string::npos) {
        account.container = account.path.substr(slash + 1);
        account.path.resize(slash);
    }
    account.name = name_of(account);
    std::string sas;
    while (!query.empty()) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string_view pair = query.substr(0, end);
        query.remove_prefix(std::min(end + 1, query.size()));
        if (equal_without_case(pair, "create=true")) {
            account.creates = true;
        } else if (!pair.empty()) {
            sas += (sas.empty() ? "" : "&") + std::string(pair);
        }
    }
    if (sas.find("sig=") == sas.npos) {
        return refused(
            "the address has no SAS (?sv=...&sig=...); give one, or a connection string with "
            "AccountKey");
    }
    account.sas = Secret(sas);
    return account;
}

using Settings = std::map<std::string, std::string, std::less<>>;

Result<Settings> settings_of(std::string_view text) {
    Settings settings;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size());
        std::string_view pair = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        while (pair.starts_with(' ')) pair.remove_prefix(1);
        if (pair.empty()) continue;
        const std::size_t equals = pair.find('=');
        if (equals == pair.npos) {
            return refused("a connection string is made of NAME=VALUE parts between ';'");
        }
        settings[lower_case(pair.substr(0, equals))] = pair.substr(equals + 1);
    }
    return settings;
}

std::string value(const Settings& settings, std::string_view name,
                  std::string_view otherwise = "") {
    const auto found = settings.find(name);
    return found == settings.end() ? std::string(otherwise) : found->second;
}

Result<BlobAccount> from_connection_string(std::string_view text) {
    EK_TRY_ASSIGN(Settings settings, settings_of(text));
    BlobAccount account;
    if (equal_without_case(value(settings, "usedevelopmentstorage"), "true")) {
        settings.try_emplace("accountname", development_account);
        settings.try_emplace("accountkey", development_key);
        settings.try_emplace("blobendpoint", development_endpoint);
    }
    account.name = value(settings, "accountname");
    std::string endpoint = value(settings, "blobendpoint");
    if (endpoint.empty()) {
        if (account.name.empty()) {
            return refused("neither AccountName nor BlobEndpoint is in the connection string");
        }
        endpoint =
            fmt::format("{}://{}.blob.{}", value(settings, "defaultendpointsprotocol", "https"),
                        account.name, value(settings, "endpointsuffix", "core.windows.net"));
    }
    EK_TRY(set_endpoint(account, endpoint));
    if (account.name.empty()) account.name = name_of(account);
    account.container = value(settings, "container", value(settings, "containername"));
    account.creates = equal_without_case(value(settings, "create"), "true");
    std::string sas = value(settings, "sharedaccesssignature");
    if (sas.starts_with('?')) sas.erase(0, 1);
    account.sas = Secret(sas);
    const std::string key = value(settings, "accountkey");
    if (!sas.empty()) return account;
    if (key.empty()) {
        return refused("neither AccountKey nor SharedAccessSignature is in the connection string");
    }
    auto decoded = base64_decoded(key);
    if (!decoded) return refused("AccountKey is not base64; copy it whole, with its '='");
    account.key = Secret(std::move(*decoded));
    return account;
}

}  // namespace

Result<BlobAccount> parse_blob_account(std::string_view text) {
    auto account = text.starts_with("http://") || text.starts_with("https://")
                       ? from_address(text)
                       : from_connection_string(text);
    if (!account.ok()) return account;
    EK_TRY(check_container(account->container));
    return account;
}

std::string to_string(const BlobAccount& account) {
    return fmt::format("{}{}/{}", account.origin, account.path, account.container);
}

}  // namespace evenkeel::checkpoint
