#include "cli/backup_file.h"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/format_version.h"
#include "eventhubs/names.h"

namespace evenkeel::cli {
namespace {

namespace json = boost::json;

constexpr std::string_view magic = "EKBACKUP";
constexpr std::size_t header_bytes = 16;  // magic, version, zero
constexpr std::size_t frame_bytes = 12;   // kind, bytes, checksum
constexpr std::size_t event_head_bytes = 32;
constexpr std::size_t payload_bytes_max = std::size_t{80} << 20;
constexpr std::uint32_t partitions_max = 2048;
constexpr std::uint32_t hub_kind = 1, events_kind = 2, partition_kind = 3, end_kind = 4;

template <typename T>
void append(std::vector<std::byte>& to, T value) {
    const std::size_t at = to.size();
    to.resize(at + sizeof value);
    store(to.data() + at, value);
}

void append(std::vector<std::byte>& to, ByteView bytes) {
    to.insert(to.end(), bytes.begin(), bytes.end());
}

// A checksum that starts from kind and size, so that they are covered as well.
std::uint32_t block_checksum(std::uint32_t kind, ByteView payload) {
    std::byte frame[8];
    store(frame, kind);
    store(frame + 4, static_cast<std::uint32_t>(payload.size()));
    return crc32c(payload, crc32c(frame));
}

std::uint32_t joined(std::uint32_t all, std::uint32_t one) {
    std::byte bytes[4];
    store(bytes, one);
    return crc32c(bytes, all);
}

std::string settings_text(const BackupHub& hub) {
    json::array groups;
    for (const auto& group : hub.groups) groups.emplace_back(group);
    return json::serialize(json::object{{"name", hub.name},
                                        {"partitions", hub.partitions},
                                        {"retention_ms", hub.retention_ms},
                                        {"partition_bytes_max", hub.partition_bytes_max},
                                        {"created_ms", hub.created_ms},
                                        {"taken_ms", hub.taken_ms},
                                        {"groups", std::move(groups)}});
}

std::optional<BackupHub> settings_of(std::string_view text) {
    boost::system::error_code error;
    const auto value = json::parse({text.data(), text.size()}, error);
    const auto* members = error ? nullptr : value.if_object();
    if (!members) return std::nullopt;
    bool is_good = true;
    const auto number = [&]<typename T>(const char* name, T& to) {
        const auto* member = members->if_contains(name);
        boost::system::error_code wrong;
        if (member) to = member->to_number<T>(wrong);
        is_good = is_good && member && !wrong;
    };
    BackupHub hub;
    number("partitions", hub.partitions);
    number("retention_ms", hub.retention_ms);
    number("partition_bytes_max", hub.partition_bytes_max);
    number("created_ms", hub.created_ms);
    number("taken_ms", hub.taken_ms);
    const auto* name = members->if_contains("name");
    const auto* groups = members->if_contains("groups");
    if (!is_good || !name || !name->is_string() || !groups || !groups->is_array()) {
        return std::nullopt;
    }
    hub.name = name->get_string();
    for (const auto& group : groups->get_array()) {
        if (!group.is_string()) return std::nullopt;
        hub.groups.emplace_back(group.get_string());
    }
    const bool is_valid = hub.partitions >= 1 && hub.partitions <= partitions_max &&
                          hub.retention_ms >= 0 && eventhubs::check_event_hub_name(hub.name).ok();
    return is_valid ? std::optional(std::move(hub)) : std::nullopt;
}

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

Result<std::unique_ptr<BackupWriter>> BackupWriter::create(io::FileSystem& files, std::string path,
                                                           const BackupHub& hub) {
    std::unique_ptr<BackupWriter> writer(new BackupWriter(files, std::move(path)));
    const std::string partial = writer->path_ + ".partial";
    auto file = files.open(partial, io::OpenMode::create_private);
    if (!file.ok() && file.error().code == ErrorCode::already_exists) {
        EK_TRY(files.remove(partial));
        file = files.open(partial, io::OpenMode::create_private);
    }
    if (!file.ok()) return file.error();
    writer->file_ = std::move(*file);
    writer->partitions_ = hub.partitions;
    std::vector<std::byte> header;
    append(header, as_bytes(magic));
    append(header, format::backup);
    append(header, std::uint32_t{0});
    EK_TRY(writer->file_->write(0, header));
    writer->position_ = header.size();
    EK_TRY(writer->write_block(hub_kind, as_bytes(settings_text(hub))));
    return writer;
}

BackupWriter::~BackupWriter() {
    if (!finished_ && file_) (void)files_.remove(path_ + ".partial");
}

Result<> BackupWriter::add(std::uint32_t partition, const BackupEvent& event) {
    EK_CHECK(partition == partitions_ended_, "partitions are written one after the other");
    const std::size_t bytes = event_head_bytes + event.key.size() + event.sections.size();
    if (!block_.empty() && block_.size() + bytes > block_bytes) EK_TRY(flush_events());
    if (block_.empty()) {
        append(block_, partition);
        append(block_, std::uint32_t{0});  // how many; filled in later
    }
    append(block_, event.sequence_number);
    append(block_, event.offset);
    append(block_, event.enqueued_ms);
    append(block_, static_cast<std::uint32_t>(event.key.size()));
    append(block_, static_cast<std::uint32_t>(event.sections.size()));
    append(block_, as_bytes(event.key));
    append(block_, event.sections);
    store(block_.data() + 4, load<std::uint32_t>(block_.data() + 4) + 1);
    if (current_.events++ == 0) current_.first_sequence_number = event.sequence_number;
    current_.last_sequence_number = event.sequence_number;
    ++events_;
    return {};
}

Result<> BackupWriter::flush_events() {
    if (block_.empty()) return {};
    EK_TRY(write_block(events_kind, block_));
    block_.clear();
    return {};
}

Result<> BackupWriter::end_partition(std::uint32_t partition) {
    EK_CHECK(partition == partitions_ended_, "partitions are written one after the other");
    EK_TRY(flush_events());
    std::vector<std::byte> payload;
    append(payload, partition);
    append(payload, std::uint32_t{0});
    append(payload, current_.events);
    append(payload, current_.first_sequence_number);
    append(payload, current_.last_sequence_number);
    EK_TRY(write_block(partition_kind, payload));
    current_ = {};
    ++partitions_ended_;
    return {};
}

Result<> BackupWriter::finish() {
    EK_CHECK(partitions_ended_ == partitions_, "all partitions are written");
    std::vector<std::byte> payload;
    append(payload, events_);
    append(payload, checksum_);
    append(payload, std::uint32_t{0});
    EK_TRY(write_block(end_kind, payload));
    EK_TRY(file_->sync());
    EK_TRY(files_.rename(path_ + ".partial", path_));
    finished_ = true;
    return files_.sync_directory(folder_of(path_));
}

Result<> BackupWriter::write_block(std::uint32_t kind, ByteView payload) {
    std::vector<std::byte> frame;
    append(frame, kind);
    append(frame, static_cast<std::uint32_t>(payload.size()));
    const std::uint32_t checksum = block_checksum(kind, payload);
    append(frame, checksum);
    EK_TRY(file_->write(position_, frame));
    EK_TRY(file_->write(position_ + frame.size(), payload));
    position_ += frame.size() + payload.size();
    checksum_ = joined(checksum_, checksum);
    return {};
}

Result<std::unique_ptr<BackupReader>> BackupReader::open(io::FileSystem& files,
                                                         const std::string& path) {
    EK_TRY_ASSIGN(auto file, files.open(path, io::OpenMode::read));
    std::unique_ptr<BackupReader> reader(new BackupReader(std::move(file)));
    EK_TRY(reader->read_header());
    return reader;
}

Result<> BackupReader::read_header() {
    EK_TRY_ASSIGN(size_, file_->size());
    std::byte header[header_bytes] = {};
    EK_TRY_ASSIGN(const std::size_t got, file_->read(0, header));
    if (got < header_bytes || as_text(ByteView(header).first(magic.size())) != magic) {
        return Error{ErrorCode::corrupt, "it is not a back-up of an event hub"};
    }
    EK_TRY(format::check("the back-up", load<std::uint32_t>(header + 8), format::backup));
    position_ = header_bytes;
    EK_TRY_ASSIGN(const Block block, read_block());
    auto hub = block.kind == hub_kind ? settings_of(as_text(block.payload)) : std::nullopt;
    if (!hub) return damaged("the settings of the event hub are missing");
    hub_ = std::move(*hub);
    return {};
}

Result<BackupReader::Block> BackupReader::read_block() {
    std::byte frame[frame_bytes] = {};
    EK_TRY_ASSIGN(const std::size_t got, file_->read(position_, frame));
    if (got < frame_bytes) return damaged("the file ends too early");
    const auto kind = load<std::uint32_t>(frame);
    const auto bytes = load<std::uint32_t>(frame + 4);
    const auto checksum = load<std::uint32_t>(frame + 8);
    if (bytes > payload_bytes_max) return damaged("a block does not match its checksum");
    if (position_ + frame_bytes + bytes > size_) return damaged("the file ends too early");
    block_.resize(bytes);
    EK_TRY_ASSIGN(const std::size_t read, file_->read(position_ + frame_bytes, block_));
    if (read < bytes) return damaged("the file ends too early");
    if (block_checksum(kind, block_) != checksum) {
        return damaged("a block does not match its checksum");
    }
    position_ += frame_bytes + bytes;
    // The last block tells the checksum of those before it.
    if (kind != end_kind) checksum_ = joined(checksum_, checksum);
    return Block{kind, block_};
}

Result<BackupReader::Item> BackupReader::next() {
    if (ended_) return Item{};
    if (count_left_ > 0) return take_event();
    EK_TRY_ASSIGN(const Block block, read_block());
    if (block.kind == partition_kind) return take_partition_end(block.payload);
    if (block.kind == end_kind) return take_end(block.payload);
    if (block.kind != events_kind || block.payload.size() < 8 ||
        load<std::uint32_t>(block.payload.data()) != current_.partition ||
        current_.partition >= hub_.partitions) {
        return damaged("a block is out of place");
    }
    count_left_ = load<std::uint32_t>(block.payload.data() + 4);
    events_left_ = block.payload.subspan(8);
    if (count_left_ == 0) return damaged("a block of events is empty");
    return take_event();
}

Result<BackupReader::Item> BackupReader::take_event() {
    if (events_left_.size() < event_head_bytes) return damaged("an event is cut off");
    const std::byte* const head = events_left_.data();
    const std::uint64_t key_bytes = load<std::uint32_t>(head + 24);
    const std::uint64_t section_bytes = load<std::uint32_t>(head + 28);
    if (event_head_bytes + key_bytes + section_bytes > events_left_.size()) {
        return damaged("an event is cut off");
    }
    Item item;
    item.kind = Item::Kind::event;
    item.partition = current_.partition;
    item.event = {load<std::int64_t>(head), load<std::int64_t>(head + 8),
                  load<std::int64_t>(head + 16),
                  as_text(events_left_.subspan(event_head_bytes, key_bytes)),
                  events_left_.subspan(event_head_bytes + key_bytes, section_bytes)};
    const bool is_first = current_.events == 0;
    if (item.event.sequence_number < 0 ||
        (!is_first && item.event.sequence_number <= current_.last_sequence_number)) {
        return damaged("events are out of order");
    }
    events_left_ = events_left_.subspan(event_head_bytes + key_bytes + section_bytes);
    if (--count_left_ == 0 && !events_left_.empty()) return damaged("a block has odd bytes");
    if (is_first) current_.first_sequence_number = item.event.sequence_number;
    current_.last_sequence_number = item.event.sequence_number;
    ++current_.events;
    ++events_;
    return item;
}

Result<BackupReader::Item> BackupReader::take_partition_end(ByteView payload) {
    const bool is_whole =
        payload.size() == 32 && load<std::uint32_t>(payload.data()) == current_.partition &&
        load<std::uint64_t>(payload.data() + 8) == current_.events &&
        load<std::int64_t>(payload.data() + 16) == current_.first_sequence_number &&
        load<std::int64_t>(payload.data() + 24) == current_.last_sequence_number;
    if (!is_whole) return damaged("events of the partition are missing");
    Item item;
    item.kind = Item::Kind::partition_end;
    item.partition = current_.partition;
    item.ended = current_;
    current_ = {};
    current_.partition = item.partition + 1;
    return item;
}

Result<BackupReader::Item> BackupReader::take_end(ByteView payload) {
    if (payload.size() != 16 || current_.partition != hub_.partitions || current_.events > 0 ||
        load<std::uint64_t>(payload.data()) != events_ ||
        load<std::uint32_t>(payload.data() + 8) != checksum_) {
        return damaged("blocks are missing");
    }
    if (position_ != size_) return damaged("there is more behind its end");
    ended_ = true;
    return Item{};
}

Error BackupReader::damaged(std::string_view why) const {
    std::string good = fmt::format("byte {}: {}", position_, why);
    if (hub_.partitions > 0 && current_.partition < hub_.partitions) {
        good += current_.partition == 0
                    ? std::string("; no partition is whole")
                    : fmt::format("; {} whole", current_.partition == 1
                                                    ? std::string("partition 0 is")
                                                    : fmt::format("partitions 0 to {} are",
                                                                  current_.partition - 1));
        if (current_.events > 0) {
            good += fmt::format(", and of partition {} the events {} to {} are good",
                                current_.partition, current_.first_sequence_number,
                                current_.last_sequence_number);
        }
    }
    return {ErrorCode::corrupt, good};
}

}  // namespace evenkeel::cli
