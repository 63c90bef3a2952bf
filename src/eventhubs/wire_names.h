// The strings that Event Hubs' AMQP dialect fixes, each once. Conditions that AMQP itself defines
// are in amqp/performatives.h. Tests write the strings out: they check that no name changes here.
#pragma once

#include <cstdint>
#include <string_view>

namespace evenkeel::eventhubs {

// Annotations of an event.
namespace annotation {
inline constexpr std::string_view vendor_prefix = "x-opt-", partition_key = "x-opt-partition-key",
                                  sequence_number = "x-opt-sequence-number",
                                  sequence_number_epoch = "x-opt-sequence-number-epoch",
                                  offset = "x-opt-offset", enqueued_time = "x-opt-enqueued-time",
                                  partition_id = "x-opt-partition-id",
                                  publisher = "x-opt-publisher";
}  // namespace annotation

// Link properties. Those of a producer are annotations of its events, too.
namespace property {
inline constexpr std::string_view vendor_prefix = "com.microsoft:", epoch = "com.microsoft:epoch",
                                  receiver_name = "com.microsoft:receiver-name",
                                  receiver_name_alias = "com.microsoft.com:receiver-name",
                                  producer_id = "com.microsoft:producer-id",
                                  producer_epoch = "com.microsoft:producer-epoch",
                                  producer_sequence = "com.microsoft:producer-sequence-number";
}  // namespace property

// Whether the annotation says what only the hub knows.
constexpr bool is_hub_annotation(std::string_view key) {
    return key == annotation::partition_key || key == annotation::sequence_number ||
           key == annotation::offset || key == annotation::enqueued_time ||
           key == annotation::sequence_number_epoch || key == annotation::partition_id ||
           key == annotation::publisher;
}
// Whether an idempotent producer numbers its events with it.
constexpr bool is_producer_annotation(std::string_view key) {
    return key == property::producer_id || key == property::producer_epoch ||
           key == property::producer_sequence;
}

// What a link may ask for when it attaches.
namespace capability {
inline constexpr std::string_view runtime_metric = "com.microsoft:enable-receiver-runtime-metric",
                                  idempotent_producer = "com.microsoft:idempotent-producer";
}  // namespace capability

// Error conditions of the vendor.
namespace condition {
inline constexpr std::string_view argument_error = "com.microsoft:argument-error",
                                  argument_out_of_range = "com.microsoft:argument-out-of-range",
                                  server_busy = "com.microsoft:server-busy",
                                  timeout = "com.microsoft:timeout",
                                  auth_failed = "com.microsoft:auth-failed",
                                  entity_disabled = "com.microsoft:entity-disabled",
                                  epoch_stolen = "com.microsoft:producer-epoch-stolen",
                                  out_of_order = "com.microsoft:out-of-order-sequence",
                                  invalid_offset = "com.microsoft:georeplication:invalid-offset";
}  // namespace condition

// Where a reader begins: a filter of its source that compares one annotation with a value.
namespace filter {
inline constexpr std::string_view name = "apache.org:selector-filter:string",
                                  annotation_prefix = "amqp.annotation.", latest = "@latest";
inline constexpr std::uint64_t descriptor = 0x0000468C00000004;
}  // namespace filter

// The nodes that answer requests, and what requests and replies consist of.
namespace node {
inline constexpr std::string_view cbs = "$cbs", management = "$management";
}  // namespace node

namespace request {
inline constexpr std::string_view operation = "operation", type = "type", name = "name",
                                  partition = "partition", security_token = "security_token",
                                  expiration = "expiration", put_token = "put-token", read = "READ",
                                  sas_token = "servicebus.windows.net:sastoken",
                                  json_web_token = "jwt", event_hub_type = "com.microsoft:eventhub",
                                  partition_type = "com.microsoft:partition";
}  // namespace request

// The second spellings are those of the AMQP management draft.
namespace reply {
inline constexpr std::string_view status_code = "status-code", status_code_draft = "statusCode",
                                  status_description = "status-description",
                                  status_description_draft = "statusDescription",
                                  error_condition = "error-condition",
                                  error_condition_draft = "errorCondition",
                                  created_at = "created_at", partition_count = "partition_count",
                                  partition_ids = "partition_ids",
                                  begin_sequence_number = "begin_sequence_number",
                                  begin_sequence_number_epoch = "begin_sequence_number_epoch",
                                  is_partition_empty = "is_partition_empty",
                                  georeplication_factor = "georeplication_factor",
                                  identity = "evenkeel_identity";  // ours; SDKs ignore it
}  // namespace reply

// The end of a partition: in replies, and as annotations of a delivery with the runtime metric.
namespace metric {
inline constexpr std::string_view last_sequence_number = "last_enqueued_sequence_number",
                                  last_sequence_number_epoch =
                                      "last_enqueued_sequence_number_epoch",
                                  last_offset = "last_enqueued_offset",
                                  last_time = "last_enqueued_time_utc",
                                  retrieved = "runtime_info_retrieval_time_utc";
}  // namespace metric

}  // namespace evenkeel::eventhubs
