#include "checkpoint/import/records.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/number.h"
#include "base/text.h"
#include "checkpoint/blob/records.h"

namespace evenkeel::checkpoint {
namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

Error corrupt(std::string what) {
    return {ErrorCode::corrupt, std::move(what)};
}

Result<boost::json::object> object_of(std::string_view json) {
    boost::json::error_code error;
    auto value = boost::json::parse({json.data(), json.size()}, error);
    if (json.empty()) return corrupt("it is empty, where JSON should be");
    if (error) return corrupt("it is not whole JSON; it was half written, or is something else");
    if (!value.is_object()) return corrupt("its JSON is not an object");
    return std::move(value.get_object());
}

// By its name in lower case and without underscores.
const boost::json::value* member(const boost::json::object& object, std::string_view name) {
    for (const auto& [key, value] : object) {
        std::string plain = lower_case({key.data(), key.size()});
        std::erase(plain, '_');
        if (plain == name) return &value;
    }
    return nullptr;
}

// A text, or a number as text; empty if it is not there or something else.
std::string text_of(const boost::json::object& object, std::string_view name) {
    const auto* const value = member(object, name);
    if (value == nullptr) return {};
    if (value->is_string()) return std::string(value->get_string());
    if (value->is_int64()) return std::to_string(value->get_int64());
    if (value->is_uint64()) return std::to_string(value->get_uint64());
    return {};
}

Result<> check_partition(const boost::json::object& object, PartitionId partition) {
    const std::string written = text_of(object, "partitionid");
    if (written.empty() || written == std::to_string(partition.value)) return {};
    return corrupt(fmt::format("it says that it is of partition '{}'", written.substr(0, 32)));
}

// A sequence number that must be there.
Result<SequenceNumber> sequence_of(const boost::json::object& object) {
    const auto sequence = parse_number<std::int64_t>(text_of(object, "sequencenumber"));
    if (!sequence || *sequence < 0) {
        return corrupt("its sequence number is missing or no number from 0 on");
    }
    return SequenceNumber{*sequence};
}

bool is_place(std::string_view path, std::string_view name) {
    return lower_case(path) == name;
}

}  // namespace

std::string_view to_string(LegacyLayout layout) {
    switch (layout) {
        case LegacyLayout::metadata: return "metadata";
        case LegacyLayout::functions: return "functions";
        case LegacyLayout::lease: return "lease";
        case LegacyLayout::jedis: return "jedis";
    }
    return "";
}

std::optional<LegacyPlace> legacy_place(LegacyLayout layout, std::string_view name,
                                        const GroupName& group, std::string_view path) {
    constexpr std::string_view checkpoints = "checkpoint/", ownerships = "ownership/";
    const std::size_t slash = name.rfind('/');
    const std::size_t begin = slash == name.npos ? 0 : slash + 1;
    const auto partition = parse_number<std::int64_t>(name.substr(begin));
    if (!partition || *partition < 0 || *partition > UINT32_MAX) return std::nullopt;
    LegacyPlace place{"", {static_cast<std::uint32_t>(*partition)}};
    std::string_view found = name.substr(0, begin);
    if (layout == LegacyLayout::metadata) {
        place.is_ownership = found.ends_with(ownerships);
        if (!place.is_ownership && !found.ends_with(checkpoints)) return std::nullopt;
        found.remove_suffix(place.is_ownership ? ownerships.size() : checkpoints.size());
    }
    place.path = found;
    if (!path.empty()) return found == path ? std::optional(place) : std::nullopt;
    const GroupName names = lower_cased(group);
    const std::string plain =
        fmt::format("{}/{}/{}/", names.hub_namespace, names.event_hub, names.group);
    switch (layout) {
        case LegacyLayout::metadata:
        case LegacyLayout::jedis:
            if (is_place(found, plain)) return place;
            break;
        case LegacyLayout::functions:
            if (is_place(found, plain) ||
                is_place(found, fmt::format("{}/{}/{}/", functions_escaped(group.hub_namespace),
                                            functions_escaped(group.event_hub), names.group))) {
                return place;
            }
            break;
        case LegacyLayout::lease:
            if (is_place(found, names.group + "/")) return place;
            break;
    }
    return std::nullopt;
}

Result<LegacyRecord> lease_record(PartitionId partition, std::string_view json) {
    EK_TRY_ASSIGN(boost::json::object object, object_of(json));
    EK_TRY(check_partition(object, partition));
    if (const auto* const inner = member(object, "checkpoint"); inner && inner->is_object()) {
        boost::json::object position = inner->get_object();
        object = std::move(position);
    }
    if (member(object, "offset") == nullptr && member(object, "sequencenumber") == nullptr) {
        return corrupt("its JSON has neither Offset nor SequenceNumber: it is no checkpoint");
    }
    Checkpoint checkpoint{.partition = partition, .offset = text_of(object, "offset")};
    if (checkpoint.offset.empty() || checkpoint.offset == start_offset) {
        return LegacyRecord{std::nullopt, "no offset in it: nothing was handled yet"};
    }
    EK_TRY_ASSIGN(checkpoint.sequence, sequence_of(object));
    LegacyRecord record{std::move(checkpoint)};
    if (record.checkpoint->offset == no_offset) {
        record.checkpoint->offset.clear();
        record.remark = "its offset is the text 'no offset': its sequence number is taken";
    }
    return record;
}

Result<LegacyRecord> jedis_record(PartitionId partition, std::string_view json) {
    EK_TRY_ASSIGN(const boost::json::object object, object_of(json));
    EK_TRY(check_partition(object, partition));
    Checkpoint checkpoint{.partition = partition, .sequence = {-1}};
    checkpoint.offset = text_of(object, "offsetstring");
    if (checkpoint.offset.empty()) checkpoint.offset = text_of(object, "offset");
    if (checkpoint.offset == no_offset) checkpoint.offset.clear();
    if (member(object, "sequencenumber") != nullptr) {
        EK_TRY_ASSIGN(checkpoint.sequence, sequence_of(object));
    }
    if (checkpoint.sequence.value < 0 && checkpoint.offset.empty()) {
        return corrupt("it has neither a sequence number nor an offset that can be used");
    }
    return LegacyRecord{std::move(checkpoint)};
}

LegacyOwner jedis_owner(std::string_view json) {
    const auto object = object_of(json);
    if (!object.ok()) return {};
    return {text_of(*object, "ownerid"),
            parse_number<std::int64_t>(text_of(*object, "lastmodifiedtime")).value_or(0)};
}

// Names of namespaces and event hubs are ASCII.
std::string functions_escaped(std::string_view name) {
    std::string escaped;
    for (const char given : name) {
        const char c = lower(given);
        const bool is_kept =
            (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
        escaped +=
            is_kept ? std::string(1, c) : fmt::format(":{:02x}", static_cast<unsigned char>(c));
    }
    return escaped;
}

}  // namespace evenkeel::checkpoint
