#include <CLI/CLI.hpp>

#include "cli/commands/commands.h"
#include "cli/commands/read.h"
#include "cli/commands/send.h"
#include "cli/commands/shared_options.h"

namespace evenkeel::cli {
namespace {

constexpr const char* send_examples = R"(
Examples:
  evenkeel send eh1 "hello" "world"                 one event for each argument
  tail -f app.log | evenkeel send eh1               one event per line, sent as lines arrive
  evenkeel send eh1 --file orders.ndjson --format ndjson --key-field customerId
  evenkeel send eh1 --file photo.jpg --format file --content-type image/jpeg
  evenkeel send eh1 "tick" --count 1000 --rate 100/s  the same event, repeated
  evenkeel send eh1 "hot" -P room=hall -P celsius:double=31.5 -P count:int=5
  evenkeel send eh1 "hello" -o json                 its partition, sequence number and offset
  evenkeel read eh1 -o json | evenkeel send eh2 --ndjson    copy events with keys and properties

Types of properties: string, symbol, bool, byte, short, int, long, ubyte, ushort, uint, ulong,
float, double, char, timestamp (RFC 3339 or milliseconds), uuid, binary (base64), null, amqp
(an encoded value in base64).

With --ndjson, a line that 'read -o json' printed is sent as that event. Any other line is the body
of an event. With --format events every line is an event: {"body":"hello","partition_key":"k",
"content_type":"text/plain","properties":{"n":5},"property_types":{"n":"int"}}.

The exit code is 7 if only some events were sent.)";

constexpr const char* read_examples = R"(
Examples:
  evenkeel read eh1                                 all stored events, then exit
  evenkeel read eh1 --from -15m --follow            the last 15 minutes, then new events
  evenkeel read eh1 --from -10                      the last ten events of each partition
  evenkeel read eh1 -p 0 --from seq:100 -n 10
  evenkeel read eh1 -f '%p %s %d %k %v\n'           partition, number, time, key and body
  evenkeel read eh1 -o json | jq .body
  evenkeel read eh1 --from -2h --to -1h             from two hours ago to one hour ago
  evenkeel read eh1 --filter 'body.total > 100 and properties.kind == "order"'

Filter: body, key, partition, seq, offset, size, enqueued, content_type, properties.NAME;
body.NAME, body["any name"], body.list[0] in JSON; == != < <= > >= contains; and, or, not, ();
strings and times in quotes. A value alone matches if it exists and is not false or null.

Format: %t event hub, %p partition, %s sequence number, %o offset, %k key, %d time,
%d{strftime[%H:%M:%S]}, %v body, %v{hex}, %v{base64}, %V its length, %h properties,
%c content type, %% and \n \t \r \\.)";

}  // namespace

void add_send(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<SendOptions>();
    auto* command = app.add_subcommand("send", "Send events to an event hub");
    command->footer(send_examples);
    command->add_option("HUB", options.event_hub, "Name of the event hub")->required();
    command->add_option("BODY", options.bodies,
                        "Event bodies; if there are none, events come from --file");
    command->add_option("--file", options.files, "Read events from this file; -: standard input")
        ->type_name("FILE")
        ->take_all()
        ->allow_extra_args(false);
    command
        ->add_option("--format", options.format,
                     "What becomes one event: a line, a JSON line, an event as JSON, or a file")
        ->check(CLI::IsMember({"lines", "ndjson", "events", "file"}))
        ->capture_default_str();
    command->add_flag_callback(
        "--ndjson", [&options] { options.format = "ndjson"; }, "The same as --format ndjson");
    auto* one_key = command->add_option("--key", options.key, "Partition key of all events");
    auto* field = command->add_option("--key-field", options.key_field,
                                      "Field of each JSON line that holds its partition key");
    auto* partition =
        command->add_option("-p,--partition", options.partition, "Partition to send to");
    one_key->excludes(field)->excludes(partition);
    field->excludes(partition);
    command
        ->add_flag("--keep-partition", options.keep_partition,
                   "Send each event to the partition that its JSON names")
        ->excludes(partition);
    command
        ->add_option("-P,--property", options.properties,
                     "Property of all events: NAME=VALUE, or NAME:TYPE=VALUE")
        ->type_name("NAME[:TYPE]=VALUE")
        ->take_all()
        ->allow_extra_args(false);
    command->add_option("--content-type", options.content_type, "Content type of all events");
    command->add_option("--count", options.count,
                        "Stop after this many events; repeats the BODY arguments");
    command->add_option("--rate", options.rate, "Events per second, or 600/m; 0: no limit")
        ->capture_default_str();
    command
        ->add_option("-o,--output", options.output,
                     "json: print where each event was stored, one JSON object per line")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    command->add_flag("--progress", options.progress,
                      "Show progress even if stderr is not a terminal");
    command->add_flag("-q,--quiet", options.quiet, "Do not print a summary");
    add_remote(*command, options.remote);
    command->callback([&options, &chosen] { chosen.exit = send(options); });
}

void add_read(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<ReadOptions>();
    auto* command = app.add_subcommand("read", "Read events from an event hub");
    command->footer(read_examples);
    command->add_option("HUB", options.event_hub, "Name of the event hub")->required();
    command->add_option("--group", options.group, "Consumer group")->capture_default_str();
    command->add_option("-p,--partition", options.partitions, "Partition; default: all")
        ->take_all()
        ->allow_extra_args(false);
    command
        ->add_option("--from", options.from,
                     "start, end, seq:N, offset:N, a time, -15m ago, last -N")
        ->type_name("PLACE")
        ->capture_default_str();
    auto* to = command->add_option("--to", options.to, "Stop before this position");
    to->type_name("PLACE");
    command
        ->add_option("--filter", options.filter, "Only events that match this condition, see below")
        ->type_name("CONDITION");
    command->add_option("-n,--count", options.count, "Stop after this many events");
    auto* follow = command->add_flag("--follow", options.follow, "Keep waiting for new events");
    follow->excludes(to);
    command->add_flag("-e,--exit", options.exit_at_end, "Stop at the last event (the default)")
        ->excludes(follow);
    command->add_option("-f,--format", options.format, "Output format of an event, see below");
    command->add_option("--epoch", options.epoch,
                        "Read as the exclusive reader, with this owner level");
    command
        ->add_option("-o,--output", options.output, "text, raw bytes, or one JSON object per line")
        ->check(CLI::IsMember({"text", "raw", "json"}))
        ->capture_default_str();
    command->add_flag("-q,--quiet", options.quiet, "Print events only, no summary");
    add_remote(*command, options.remote);
    command->callback([&options, &chosen] { chosen.exit = read(options); });
}

}  // namespace evenkeel::cli
