// What EventData can send, Event can read.
#include <chrono>
#include <cstdint>
#include <vector>

#include "package/interface/check.h"
#include <evenkeel/event.h>

int main() {
    using namespace std::chrono_literals;
    const evenkeel::Timestamp noon{1'000'000ms};
    const std::vector<evenkeel::Property> properties = {
        {"room", "hall"}, {"degrees", 21.5}, {"count", std::int32_t{7}}};
    const auto batch = evenkeel::EventBatch::of(
        {{.body = "door opened",
          .content_type = "text/plain",
          .message_id = "m-1",
          .correlation_id = std::uint64_t{42},
          .properties = properties,
          .subject = "doors",
          .reply_to = "answers",
          .group_sequence = 3,
          .creation_time = noon}},
        {.first_sequence_number = 8, .enqueued_time = noon, .partition_key = "home-17"});
    const auto kept = evenkeel::EventBatch::copy_of(batch.events());
    const evenkeel::Event& event = kept[0];

    check(event.check().ok(), "it is well-formed");
    check(event.sequence_number == 8 && event.enqueued_time == noon,
          "it has a position and a time");
    check(event.text() == "door opened" && event.partition_key == "home-17",
          "it has a body and a key");
    check(event.content_type() == "text/plain", "it has a content type");
    check(event.message_id().text() == "m-1", "it has a message id");
    check(event.correlation_id().integer() == 42, "it has a correlation id");
    check(event.properties()["room"].text() == "hall", "it has a text");
    check(event.properties()["degrees"].number() == 21.5, "it has a number");
    check(event.properties()["count"].integer() == 7, "it has an integer");
    check(event.properties()["none"].is_null(), "what is not there is null");
    const evenkeel::EventData data = event.data();
    check(data.subject == "doors" && data.reply_to == "answers",
          "it has the other AMQP properties");
    check(data.group_sequence == 3 && data.creation_time == noon, "numbers and times among them");
    check(!event.section(evenkeel::Section::application_properties).empty(), "it has raw sections");
}
