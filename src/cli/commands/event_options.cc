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
  tail -f app.log | evenkeel send eh1               one event for each line, as they come
  evenkeel send eh1 --file orders.ndjson --format ndjson --key-field customerId
  evenkeel send eh1 --file photo.jpg --format file --content-type image/jpeg
  evenkeel send eh1 "tick" --count 1000 --rate 100/s  the same event again and again

The exit code is 7 if some events were sent and some not.)";

constexpr const char* read_examples = R"(
Examples:
  evenkeel read eh1                                 all there is, then it ends
  evenkeel read eh1 --from -15m --follow            the last quarter of an hour, and what comes
  evenkeel read eh1 --from -10                      the last ten of each partition
  evenkeel read eh1 -p 0 --from seq:100 -n 10
  evenkeel read eh1 -f '%p %s %d %k %v\n'           partition, number, time, key and body
  evenkeel read eh1 -o json | jq .body
  evenkeel read eh1 --from -2h --to -1h             an hour, an hour ago
  evenkeel read eh1 --filter 'body.total > 100 and properties.kind == "order"'

Filter: body, key, partition, seq, offset, size, enqueued, content_type, properties.NAME;
body.NAME, body["any name"], body.list[0] in JSON; == != < <= > >= contains; and, or, not, ();
texts and times in quotes. A value alone is met if it is there and not false or null.

Format: %t event hub, %p partition, %s sequence number, %o offset, %k key, %d time,
%d{strftime[%H:%M:%S]}, %v body, %v{hex}, %v{base64}, %V its length, %h properties,
%c content type, %% and \n \t \r \\.)";

}  // namespace

void add_send(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<SendOptions>();
    auto* command = app.add_subcommand("send", "Send events to an event hub");
    command->footer(send_examples);
    command->add_option("HUB", options.event_hub, "Name of the event hub")->required();
    command->add_option("BODY", options.bodies, "Events; without any, those of --file");
    command->add_option("--file", options.files, "Read events from there; -: standard input")
        ->type_name("FILE")
        ->take_all()
        ->allow_extra_args(false);
    command->add_option("--format", options.format, "What an event is: a line, a JSON line, a file")
        ->check(CLI::IsMember({"lines", "ndjson", "file"}))
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
    command->add_option("-P,--property", options.properties, "Property of all events: NAME=VALUE")
        ->type_name("NAME=VALUE")
        ->take_all()
        ->allow_extra_args(false);
    command->add_option("--content-type", options.content_type, "Content type of all events");
    command->add_option("--count", options.count, "Stop after so many; repeats the BODY arguments");
    command->add_option("--rate", options.rate, "Events a second, or 600/m; 0: as fast as it goes")
        ->capture_default_str();
    command->add_flag("--progress", options.progress,
                      "Say how far it is, where no terminal is too");
    command->add_flag("-q,--quiet", options.quiet, "Say nothing at the end");
    add_remote(*command, options.remote);
    command->callback([&options, &chosen] { chosen.exit = send(options); });
}

void add_read(CLI::App& app, Chosen& chosen) {
    auto& options = chosen.keep<ReadOptions>();
    auto* command = app.add_subcommand("read", "Read events of an event hub");
    command->footer(read_examples);
    command->add_option("HUB", options.event_hub, "Name of the event hub")->required();
    command->add_option("--group", options.group, "Consumer group")->capture_default_str();
    command->add_option("-p,--partition", options.partitions, "Partition; all without it")
        ->take_all()
        ->allow_extra_args(false);
    command
        ->add_option("--from", options.from,
                     "start, end, seq:N, offset:N, a time, -15m ago, last -N")
        ->type_name("PLACE")
        ->capture_default_str();
    auto* to = command->add_option("--to", options.to, "Only what lies before this place");
    to->type_name("PLACE");
    command->add_option("--filter", options.filter, "Only events that meet this, see below")
        ->type_name("CONDITION");
    command->add_option("-n,--count", options.count, "Stop after so many events");
    auto* follow = command->add_flag("--follow", options.follow, "Wait for more at the end");
    follow->excludes(to);
    command->add_flag("-e,--exit", options.exit_at_end, "Stop at the end, as it does anyway")
        ->excludes(follow);
    command->add_option("-f,--format", options.format, "How an event is shown, see below");
    command->add_option("--epoch", options.epoch, "Read alone, with this owner level");
    command->add_option("-o,--output", options.output, "text, or a JSON object a line")
        ->check(CLI::IsMember({"text", "json"}))
        ->capture_default_str();
    command->add_flag("-q,--quiet", options.quiet, "Only events, no word about them");
    add_remote(*command, options.remote);
    command->callback([&options, &chosen] { chosen.exit = read(options); });
}

}  // namespace evenkeel::cli
