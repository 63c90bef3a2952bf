#include "dashboard/page.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace evenkeel::dashboard {
namespace {

using http::Response;

constexpr std::string_view home = "/ui/";
constexpr std::string_view index_name = "index.html";
constexpr const char* html = "text/html; charset=utf-8";
constexpr const char* policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

constexpr std::pair<std::string_view, const char*> content_types[] = {
    {".html", html},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".json", "application/json"},
    {".map", "application/json"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
    {".txt", "text/plain; charset=utf-8"}};

// None for an address within the page: hubs may have dots in their names.
const char* type_of(std::string_view name) {
    for (const auto& [extension, type] : content_types) {
        if (name.ends_with(extension)) return type;
    }
    return nullptr;
}

Response with_policy(Response response) {
    response.fields.push_back({"Content-Security-Policy", policy});
    return response;
}

Response text_page(int status, std::string_view title, std::string_view text) {
    std::string body = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>";
    body.append(title).append("</title>\n<h1>").append(title).append("</h1>\n<p>");
    body.append(text).append("</p>\n</html>\n");
    return with_policy({.status = status, .body = std::move(body), .content_type = html});
}

Response file_response(const PageFile& file, const http::Request& request) {
    // Other files have a hash in their names, so a name never changes its content.
    const bool is_fixed = file.name != index_name && file.name != "manifest.json";
    Response response{.content_type =
                          type_of(file.name) ? type_of(file.name) : "application/octet-stream"};
    response.fields = {
        {"Cache-Control", is_fixed ? "public, max-age=31536000, immutable" : "no-cache"},
        {"ETag", std::string(file.etag)},
        {"Vary", "Accept-Encoding"}};
    if (http::has_word(request.field("If-None-Match"), file.etag)) {
        response.status = 304;
        return with_policy(std::move(response));
    }
    if (!file.gzipped.empty() && http::has_word(request.field("Accept-Encoding"), "gzip")) {
        response.body = file.gzipped;
        response.fields.push_back({"Content-Encoding", "gzip"});
    } else {
        response.body = file.content;
    }
    return with_policy(std::move(response));
}

}  // namespace

bool is_page_path(std::string_view path) {
    return path == "/" || path == "/ui" || path.starts_with(home);
}

Response page_response(std::span<const PageFile> files, const http::Request& request) {
    if (request.method != "GET") {
        Response response = text_page(405, "Only GET", "Nothing can be changed here.");
        response.fields.push_back({"Allow", "GET"});
        return response;
    }
    if (!request.path.starts_with(home)) {
        Response response = text_page(302, "Evenkeel",
                                      "The dashboard is at <a href=\"/ui/\">/ui/"
                                      "</a>.");
        response.fields.push_back({"Location", std::string(home)});
        return response;
    }
    const std::string_view rest = std::string_view(request.path).substr(home.size());
    const auto find = [&](std::string_view name) {
        return std::ranges::find(files, name, &PageFile::name);
    };
    if (const auto file = find(rest); file != files.end()) return file_response(*file, request);
    if (type_of(rest)) return text_page(404, "Not found", "There is no such file.");
    if (const auto index = find(index_name); index != files.end()) {
        return file_response(*index, request);
    }
    return text_page(200, "Evenkeel without its dashboard",
                     "This program was built without the dashboard. Install Node and npm (Debian: "
                     "<code>apt-get install nodejs npm</code>), configure with "
                     "<code>-DEVENKEEL_DASHBOARD=ON</code> and build again. The admin interface "
                     "under <code>/api/v1</code> works as always.");
}

}  // namespace evenkeel::dashboard
