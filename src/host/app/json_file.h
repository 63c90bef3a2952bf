// A JSON file that a user wrote, and places in it: an error names file, line and member.
//
//     const auto file = JsonFile::parse("host.json", text);
//     file->root()["extensions"]["eventHubs"]["maxEventBatchSize"].number(1, 1000)
//
// Comments and commas at the end of a list are allowed, as Azure allows them. Members are found
// without regard to case. Numbers and true may be given as text, as settings give them.
// A JsonFile outlives its places. Threads: a value.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace boost::json {
class object;
class value;
}  // namespace boost::json

namespace evenkeel::host {

class JsonPlace;

class JsonFile {
public:
    // `name` is for messages. `invalid_argument` names the line.
    static Result<JsonFile> parse(std::string name, std::string text);
    // The same for a file of at most 4 MiB; `not_found` if it is not there.
    static Result<JsonFile> read(const std::string& path, std::string name);

    JsonPlace root() const;
    const std::string& name() const { return name_; }
    const std::string& text() const { return text_; }
    // Replaces what is at the path, or adds it.
    void set(const std::vector<std::string>& path, std::string_view text);

private:
    friend class JsonPlace;
    JsonFile(std::string name, std::string text, std::shared_ptr<boost::json::value> value);
    std::string name_;
    std::string text_;
    std::shared_ptr<boost::json::value> value_;
};

class JsonPlace {
public:
    // Missing if this is no object, or has no such member.
    JsonPlace operator[](std::string_view name) const;
    JsonPlace operator[](std::size_t index) const;
    // null counts as missing.
    bool exists() const;
    bool is_object() const;
    bool is_text() const;
    std::vector<std::string> names() const;  // of the members of an object
    std::size_t size() const;                // of an array; 0 if it is none

    Result<std::string> text() const;
    Result<bool> truth() const;
    Result<std::uint64_t> number(std::uint64_t min, std::uint64_t max) const;
    Result<std::int64_t> signed_number(std::int64_t min) const;
    // A TimeSpan of .NET.
    Result<std::chrono::milliseconds> time_span() const;
    // One of the words, without regard to case and '_'; its index.
    Result<std::size_t> word(const std::vector<std::string>& words) const;
    Result<std::vector<std::string>> texts() const;

    // "host.json:7: extensions.eventHubs.maxWaitTime: must be ..."
    Error wrong(std::string_view why) const;
    std::string where() const;

private:
    friend class JsonFile;
    JsonPlace(const JsonFile& file, const boost::json::value* value, std::vector<std::string> path)
        : file_(&file), value_(value), path_(std::move(path)) {}
    const JsonFile* file_;
    const boost::json::value* value_;
    std::vector<std::string> path_;
};

// The line, from 1, on which the value at the path begins; that of the nearest parent if there is
// no such value. Pure.
std::size_t line_of(std::string_view text, const std::vector<std::string>& path);
// The text of the value at the path, which well-formed JSON has; empty if there is none. Numbers
// keep all their digits so. Pure.
std::string_view raw_value(std::string_view text, const std::vector<std::string>& path);
// The texts of the elements of an array, which well-formed JSON has; none if it is no array. Pure.
std::vector<std::string_view> raw_elements(std::string_view text);
// The text of a member; empty if there is none, or it is no string.
std::string text_member(const boost::json::object& members, std::string_view name);

}  // namespace evenkeel::host
