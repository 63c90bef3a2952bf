// What Azure Functions tells a function about its events beside their bodies ("binding data"), as
// JSON, by name: PartitionContext, SequenceNumberArray, SystemPropertiesArray and so on. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/handler/handler.h"

namespace evenkeel::host {

// How times are written. bare: without Z, as custom handlers get them, and with whole seconds only
// for a single event. utc: with Z, since Python takes others as local time.
enum class TimeStyle : unsigned char { bare, utc };

// Names and JSON values. For many events each is an array with one entry for each event.
std::vector<std::pair<std::string, std::string>> metadata_of(const Invocation& invocation,
                                                             TimeStyle style);

// "2026-11-16T18:00:00.123": zeros at the end of the fraction are cut off.
std::string bare_time(Timestamp time);

// `text` in double quotes, escaped; what is not UTF-8 becomes U+FFFD.
std::string quoted(std::string_view text);
void append_quoted(std::string& to, std::string_view text);

}  // namespace evenkeel::host
