#include "checkpoint/blob/records.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/number.h"
#include "base/percent.h"
#include "checkpoint/member_text.h"

namespace evenkeel::checkpoint {
namespace {

// The service takes 8 KiB of metadata, names included.
constexpr std::size_t metadata_bytes_max = 4096;

// What a header carries as it is: printable, and no blank at the ends.
bool is_plain(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; }) &&
           !text.starts_with(' ') && !text.ends_with(' ');
}

// A value of the official layout; ours say with "ekenc" that it had to be encoded.
void add_official(Metadata& metadata, std::string_view key, const std::string& value) {
    if (is_plain(value)) {
        metadata.emplace_back(key, value);
        return;
    }
    metadata.emplace_back(key, percent_encoded(value));
    metadata.emplace_back("ekenc", "1");
}

std::string official(const Metadata& metadata, std::string_view key) {
    const std::string* const value = find(metadata, key);
    if (value == nullptr) return {};
    return find(metadata, "ekenc") != nullptr ? percent_decoded(*value) : *value;
}

void add_number(Metadata& metadata, std::string_view key, std::int64_t value) {
    if (value != 0) metadata.emplace_back(key, std::to_string(value));
}

// Blob names: letters, digits and -_ as they are, and dots but the last; the rest as =XX.
std::string name_encoded(std::string_view text) {
    std::string encoded;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                               (c >= '0' && c <= '9') || c == '-' || c == '_';
        const bool is_inner_dot = c == '.' && i > 0 && i + 1 < text.size() && text[i - 1] != '.';
        encoded += is_letter || is_inner_dot
                       ? std::string(1, c)
                       : fmt::format("={:02X}", static_cast<unsigned char>(c));
    }
    return encoded;
}

// The same for keys of records, whose slashes make folders, so that lists by prefix are short.
std::string key_encoded(std::string_view key) {
    std::string encoded;
    for (std::size_t i = 0; i < key.size(); ++i) {
        const bool is_inner_slash =
            key[i] == '/' && i > 0 && i + 1 < key.size() && key[i - 1] != '/';
        encoded += is_inner_slash ? "/" : key[i] == '.' ? "=2E" : name_encoded(key.substr(i, 1));
    }
    return encoded;
}

std::string offers_text(const std::vector<Offer>& offers) {
    std::string text;
    for (const Offer& offer : offers) {
        text += fmt::format("{}{}:{}", text.empty() ? "" : ";", offer.partition.value,
                            percent_encoded(offer.to));
    }
    return text;
}

std::optional<std::vector<Offer>> offers_of(std::string_view text) {
    std::vector<Offer> offers;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size());
        const std::string_view pair = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t colon = std::min(pair.find(':'), pair.size());
        const auto partition = parse_number<std::uint32_t>(pair.substr(0, colon));
        if (!partition || colon == pair.size()) return std::nullopt;
        offers.push_back({{*partition}, percent_decoded(pair.substr(colon + 1))});
    }
    return offers;
}

// "name=value" lines, values percent-encoded.
std::string lines_of(const Metadata& fields) {
    std::string text;
    for (const auto& [key, value] : fields) text += fmt::format("{}={}\n", key, value);
    return text;
}

Result<Metadata> fields_of(std::string_view text) {
    Metadata fields;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        const std::size_t equals = line.find('=');
        if (end == text.npos || equals == line.npos) {
            return Error{ErrorCode::corrupt, "a line of it has no '=' or no end"};
        }
        fields.emplace_back(line.substr(0, equals), line.substr(equals + 1));
        text.remove_prefix(end + 1);
    }
    return fields;
}

std::string text_of(const Metadata& fields, std::string_view key) {
    const std::string* const value = find(fields, key);
    return value == nullptr ? std::string() : percent_decoded(*value);
}

Error bad_field(std::string_view what) {
    return {ErrorCode::corrupt, fmt::format("'{}' is missing or malformed", what)};
}

}  // namespace

BlobNames::BlobNames(const GroupName& group) {
    const GroupName lower = lower_cased(group);
    prefix_ = fmt::format("{}/{}/{}/", lower.hub_namespace, lower.event_hub, lower.group);
    ours_ = "evenkeel/" + prefix_;
}

std::string BlobNames::ownership(PartitionId partition) const {
    return fmt::format("{}ownership/{}", prefix_, partition.value);
}

std::string BlobNames::checkpoint(PartitionId partition) const {
    return fmt::format("{}checkpoint/{}", prefix_, partition.value);
}

std::string BlobNames::seal(PartitionId partition) const {
    return fmt::format("{}{}", seals(), partition.value);
}

std::string BlobNames::epoch(PartitionId partition) const {
    return fmt::format("{}epoch/{}", prefix_, partition.value);
}

std::string BlobNames::member(std::string_view id) const {
    return fmt::format("{}members/{}", prefix_, name_encoded(id));
}

// In the order of partitions and sequence numbers.
std::string BlobNames::dead_letter(PartitionId partition, SequenceNumber sequence) const {
    const auto shifted = static_cast<std::uint64_t>(sequence.value) ^ (std::uint64_t{1} << 63);
    return fmt::format("{}dead/{:010}/{:020}", ours_, partition.value, shifted);
}

std::string BlobNames::record(std::string_view key) const {
    if (!key.starts_with(request_keys)) return records() + key_encoded(key);
    return requests() + key_encoded(key.substr(request_keys.size()));
}

std::string BlobNames::record_key(std::string_view name) const {
    const std::string asked = requests();
    if (!name.starts_with(asked)) return name_decoded(name.substr(records().size()));
    return std::string(request_keys) + name_decoded(name.substr(asked.size()));
}

std::string BlobNames::records_like(std::string_view prefix) const {
    return records() + std::string(prefix.substr(
                           0, prefix.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-")));
}

std::optional<PartitionId> partition_of(std::string_view name, std::string_view prefix) {
    if (!name.starts_with(prefix)) return std::nullopt;
    const auto number = parse_number<std::uint32_t>(name.substr(prefix.size()));
    if (!number) return std::nullopt;
    return PartitionId{*number};
}

BlobContent pack(const Metadata& fields) {
    std::size_t bytes = 0;
    for (const auto& [key, value] : fields) bytes += key.size() + value.size();
    if (bytes <= metadata_bytes_max) return {fields, ""};
    return {{{std::string(body_key), "1"}}, lines_of(fields)};
}

Result<Metadata> unpack(const Metadata& metadata, std::string_view body) {
    if (find(metadata, body_key) == nullptr) return metadata;
    return fields_of(body);
}

Metadata to_metadata(const Member& member) {
    Metadata fields = {
        {"v", "1"},
        {"incarnation", percent_encoded(member.incarnation)},
        {"state", std::string(state_name(member.state))},
        {"note", percent_encoded(member.note)},
        {"offers", offers_text(member.offers)},
    };
    add_number(fields, "since", member.since_ms);
    add_number(fields, "restarts", member.restarts);
    fields.emplace_back("generation", std::to_string(member.generation));
    if (member.expecting) fields.emplace_back("expecting", "1");
    return fields;
}

Result<Member> member_of(std::string_view id, const Metadata& fields) {
    Member member;
    member.id = id;
    if (text_of(fields, "v") != "1") return bad_field("v");
    member.incarnation = text_of(fields, "incarnation");
    if (find(fields, "state") != nullptr) member.state = state_named(text_of(fields, "state"));
    member.note = text_of(fields, "note");
    const auto offers = offers_of(find(fields, "offers") ? *find(fields, "offers") : "");
    if (!offers) return bad_field("offers");
    member.offers = *offers;
    member.since_ms = number(fields, "since");
    member.restarts = static_cast<std::uint32_t>(number(fields, "restarts"));
    const auto generation = parse_number<std::uint64_t>(text_of(fields, "generation"));
    if (!generation) return bad_field("generation");
    member.generation = *generation;
    member.expecting = find(fields, "expecting") != nullptr;
    return member;
}

Metadata to_metadata(const Ownership& ownership) {
    Metadata metadata;
    add_official(metadata, "ownerid", ownership.owner);
    if (ownership.owner.empty()) return metadata;
    add_number(metadata, "ekepoch", ownership.epoch.value);
    add_number(metadata, "eksince", ownership.since_ms);
    if (ownership.load != 0) metadata.emplace_back("ekload", fmt::format("{}", ownership.load));
    return metadata;
}

Ownership ownership_of(PartitionId partition, const Metadata& metadata) {
    Ownership ownership;
    ownership.partition = partition;
    ownership.owner = official(metadata, "ownerid");  // missing: nobody, as .NET and Go see it
    ownership.epoch = {number(metadata, "ekepoch")};
    ownership.since_ms = number(metadata, "eksince");
    if (const std::string* load = find(metadata, "ekload")) {
        ownership.load = parse_number<double>(*load).value_or(0);
    }
    return ownership;
}

Metadata to_metadata(const Checkpoint& checkpoint, std::string_view writer) {
    Metadata metadata;
    const bool is_none = checkpoint.sequence.value < 0 && checkpoint.offset.empty();
    add_official(metadata, "offset", is_none ? std::string(start_offset) : checkpoint.offset);
    metadata.emplace_back("sequencenumber", std::to_string(checkpoint.sequence.value));
    metadata.emplace_back("clientidentifier", is_plain(writer) ? writer : "evenkeel");
    metadata.emplace_back("ekepoch", std::to_string(checkpoint.epoch.value));
    metadata.emplace_back("ekat", std::to_string(checkpoint.written_ms));
    add_number(metadata, "ekattempts", checkpoint.attempts);
    add_number(metadata, "ekhub", checkpoint.hub_created_ms);
    add_number(metadata, "ekenqueued", checkpoint.enqueued_ms);
    return metadata;
}

Result<Checkpoint> checkpoint_of(PartitionId partition, const Metadata& metadata,
                                 WallTime modified) {
    Checkpoint checkpoint;
    checkpoint.partition = partition;
    const std::string* const sequence = find(metadata, "sequencenumber");
    const auto parsed = sequence ? parse_number<std::int64_t>(*sequence) : std::nullopt;
    checkpoint.sequence = {std::max<std::int64_t>(parsed.value_or(-1), -1)};
    checkpoint.offset = official(metadata, "offset");
    if (checkpoint.offset == no_offset) checkpoint.offset.clear();
    const bool has_place = checkpoint.sequence.value >= 0 || !checkpoint.offset.empty();
    if (!has_place && find(metadata, "ekepoch") == nullptr) {
        return Error{ErrorCode::corrupt,
                     fmt::format("it has neither a sequence number nor an offset that can be used "
                                 "(sequencenumber '{}')",
                                 sequence ? sequence->substr(0, 32) : "missing")};
    }
    if (checkpoint.sequence.value < 0 && checkpoint.offset == start_offset) {
        checkpoint.offset.clear();
    }
    checkpoint.epoch = {number(metadata, "ekepoch")};
    checkpoint.attempts = static_cast<std::uint32_t>(number(metadata, "ekattempts"));
    checkpoint.hub_created_ms = number(metadata, "ekhub");
    checkpoint.enqueued_ms = number(metadata, "ekenqueued");
    checkpoint.written_ms =
        find(metadata, "ekat") ? number(metadata, "ekat") : modified.milliseconds;
    return checkpoint;
}

std::string to_body(const DeadLetter& letter) {
    Metadata fields = {
        {"v", "1"},
        {"partition", std::to_string(letter.partition.value)},
        {"sequence", std::to_string(letter.sequence.value)},
        {"offset", percent_encoded(letter.offset)},
        {"enqueued", std::to_string(letter.enqueued_ms)},
        {"key", percent_encoded(letter.partition_key)},
        {"cause", percent_encoded(letter.cause)},
        {"attempts", std::to_string(letter.attempts)},
        {"at", std::to_string(letter.at_ms)},
    };
    std::string body = lines_of(fields) + "\n";
    body.append(reinterpret_cast<const char*>(letter.sections.data()), letter.sections.size());
    return body;
}

Result<DeadLetter> dead_letter_of(std::string_view body) {
    const std::size_t end = body.find("\n\n");
    if (end == body.npos) return bad_field("body");
    EK_TRY_ASSIGN(const Metadata fields, fields_of(body.substr(0, end + 1)));
    if (text_of(fields, "v") != "1") return bad_field("v");
    DeadLetter letter;
    letter.partition = {static_cast<std::uint32_t>(number(fields, "partition"))};
    letter.sequence = {number(fields, "sequence")};
    letter.offset = text_of(fields, "offset");
    letter.enqueued_ms = number(fields, "enqueued");
    letter.partition_key = text_of(fields, "key");
    letter.cause = text_of(fields, "cause");
    letter.attempts = static_cast<std::uint32_t>(number(fields, "attempts"));
    letter.at_ms = number(fields, "at");
    const std::string_view sections = body.substr(end + 2);
    const auto* const bytes = reinterpret_cast<const std::byte*>(sections.data());
    letter.sections.assign(bytes, bytes + sections.size());
    return letter;
}

Metadata to_metadata(const Record& record) {
    return {{"v", "1"}, {"value", percent_encoded(record.value)}};
}

Result<Record> record_of(std::string_view key, const Metadata& fields) {
    if (text_of(fields, "v") != "1") return bad_field("v");
    return Record{std::string(key), text_of(fields, "value")};
}

std::string name_decoded(std::string_view encoded) {
    std::string text(encoded);
    std::replace(text.begin(), text.end(), '=', '%');
    return percent_decoded(text);
}

const std::string* find(const Metadata& metadata, std::string_view key) {
    const auto found = std::find_if(metadata.begin(), metadata.end(),
                                    [&](const auto& pair) { return pair.first == key; });
    return found == metadata.end() ? nullptr : &found->second;
}

std::int64_t number(const Metadata& metadata, std::string_view key) {
    const std::string* const value = find(metadata, key);
    return value == nullptr ? 0 : parse_number<std::int64_t>(*value).value_or(0);
}

bool is_same(Metadata a, Metadata b) {
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b;
}

}  // namespace evenkeel::checkpoint
