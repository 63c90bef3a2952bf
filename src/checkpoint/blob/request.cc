#include "checkpoint/blob/request.h"

#include <algorithm>
#include <array>
#include <ctime>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/hmac.h"
#include "base/percent.h"

namespace evenkeel::checkpoint {
namespace {

// What a path may have. The same text goes over the wire and into the signature.
constexpr std::string_view path_characters = "/$=,:@!";

std::string path_of(const BlobRequest& request, const BlobAccount& account) {
    std::string path = account.path + "/" + account.container;
    if (!request.blob.empty()) path += "/" + percent_encoded(request.blob, path_characters);
    return path;
}

// "x-ms-..." as sent, by name.
std::vector<http::Field> storage_fields(const BlobRequest& request, WallTime now) {
    std::vector<http::Field> fields = {{"x-ms-date", http_date(now)},
                                       {"x-ms-version", std::string(blob_api_version)}};
    if (request.is_block_blob) fields.push_back({"x-ms-blob-type", "BlockBlob"});
    for (const auto& [name, value] : request.metadata) {
        fields.push_back({"x-ms-meta-" + name, value});
    }
    std::sort(fields.begin(), fields.end(),
              [](const http::Field& a, const http::Field& b) { return a.name < b.name; });
    return fields;
}

std::string quoted(const std::string& etag) {
    return etag.empty() ? std::string() : "\"" + etag + "\"";
}

}  // namespace

std::string http_date(WallTime time) {
    const std::time_t seconds = time.milliseconds / 1000;
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    constexpr std::array days{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                       days.at(static_cast<std::size_t>(parts.tm_wday)), parts.tm_mday,
                       months.at(static_cast<std::size_t>(parts.tm_mon)), parts.tm_year + 1900,
                       parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string string_to_sign(const BlobRequest& request, const BlobAccount& account, WallTime now) {
    const std::string length = request.body.empty() ? "" : std::to_string(request.body.size());
    // Encoding, language, length, MD5, type, date, modified since; then the conditions; then
    // unmodified since and range.
    std::string text = fmt::format("{}\n\n\n{}\n\n\n\n\n{}\n{}\n\n\n", request.method, length,
                                   quoted(request.if_match), request.only_if_new ? "*" : "");
    for (const http::Field& field : storage_fields(request, now)) {
        text += fmt::format("{}:{}\n", field.name, field.value);
    }
    text += fmt::format("/{}{}", account.name, path_of(request, account));
    auto query = request.query;
    std::sort(query.begin(), query.end());
    for (const auto& [name, value] : query) text += fmt::format("\n{}:{}", name, value);
    return text;
}

http::FetchRequest to_wire(const BlobRequest& request, const BlobAccount& account, WallTime now) {
    http::FetchRequest wire;
    wire.method = request.method;
    wire.url = account.origin + path_of(request, account);
    char separator = '?';
    for (const auto& [name, value] : request.query) {
        wire.url += fmt::format("{}{}={}", separator, name, percent_encoded(value));
        separator = '&';
    }
    if (!account.sas.empty()) wire.url += separator + account.sas.reveal();
    wire.fields = storage_fields(request, now);
    if (!request.if_match.empty()) wire.fields.push_back({"If-Match", quoted(request.if_match)});
    if (request.only_if_new) wire.fields.push_back({"If-None-Match", "*"});
    if (account.sas.empty()) {
        wire.fields.push_back(
            {"Authorization",
             fmt::format(
                 "SharedKey {}:{}", account.name,
                 base64_encoded(hmac_sha256(string_to_sign(request, account, now), account.key)))});
    }
    wire.body = request.body;
    return wire;
}

}  // namespace evenkeel::checkpoint
