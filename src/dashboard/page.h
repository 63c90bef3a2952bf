// The page of web/, as it was built into the program: answers to GET /ui and all below it.
//
//     web/ ──web/build──▶ index.html, hashed .js and .css ──cmake/embed_page.cmake──▶ page_files()
//
// A path that names no file answers index.html: the page finds out itself what its address means.
// Every answer has a policy by which the page runs nothing but its own files.
// Threads: any; everything is constant.
#pragma once

#include <span>
#include <string_view>

#include "http/message.h"

namespace evenkeel::dashboard {

struct PageFile {
    std::string_view name;  // "index.html"
    std::string_view content;
    std::string_view gzipped;
    std::string_view etag;  // of the content, with its quotes
};

// What was built into this program; none with -DEVENKEEL_DASHBOARD=OFF, or where Node was missing.
std::span<const PageFile> page_files();

// True for "/", "/ui" and what lies below it.
bool is_page_path(std::string_view path);

// `files` outlive the answer. Without any, it says how to build them.
http::Response page_response(std::span<const PageFile> files, const http::Request& request);

}  // namespace evenkeel::dashboard
