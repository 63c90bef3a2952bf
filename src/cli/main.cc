// The program evenkeel: the list of its commands. Each declares its options itself.
#include "cli/commands/commands.h"
#include "demo/options.h"
#include <evenkeel/log.h>

namespace {

constexpr const char* first_steps = R"(
First steps:
  evenkeel dev                a local hub; then, in another terminal:
  evenkeel send eh1 "hello"   send an event to it
  evenkeel read eh1           read it back

'evenkeel --help' shows more examples, 'evenkeel COMMAND --help' the options of a command.)";

constexpr const char* examples = R"(
Examples:
  evenkeel dev                         a local hub for development, for any Event Hubs SDK
  evenkeel serve --config evenkeel.toml   the server
  evenkeel send eh1 "hello"            send an event to the hub of 'evenkeel dev'
  evenkeel read eh1 -o json            all events of a hub, one JSON object per line
  evenkeel hub create orders --partitions 8   create an event hub; 'hub ls' lists them
  evenkeel conn orders --test          print a connection string, and test it
  evenkeel check                       diagnose problems with the hub
  evenkeel process eh1 --exec ./handle run an instance of an event processor
  evenkeel status eh1                  owner and lag of each partition
  evenkeel top eh1                     the same live, with rates and moves
  evenkeel scale eh1 --max 8           how many instances its lag needs, and why
  evenkeel demo --for 30s              processors share a stream, one is killed, two more start
  evenkeel demo --data ./data --rate 0 no rate limit, and keep the data
  evenkeel checkpoint ls homes --store sqlite:progress.db    checkpoints of a group
  evenkeel deadletter ls homes         events that could not be handled
  evenkeel bench log                   how fast the commit log is on this machine
  evenkeel bench log -o json | jq .    the same as JSON

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 not allowed, 5 cannot reach,
6 conflict, 7 partly done, 8 check: warning, 9 check: failed, 10 dry run: would change something,
130 interrupted. See docs/cli.md for details.)";

}  // namespace

int main(int count, char** arguments) {
    using namespace evenkeel;
    set_log(LogLevel::info);
    const cli::Program program{
        .name = "evenkeel",
        .description = "Evenkeel: partitioned, durable event streams.",
        .version = "evenkeel " EVENKEEL_VERSION,
        .first_steps = first_steps,
        .examples = examples,
        .groups = {{"Run a hub", {cli::add_dev, cli::add_serve}},
                   {"Events", {cli::add_send, cli::add_read}},
                   {"Event hubs and access",
                    {cli::add_hub, cli::add_group, cli::add_key, cli::add_conn}},
                   {"Event processors",
                    {cli::add_process, cli::add_host, cli::add_status, cli::add_top, cli::add_scale,
                     cli::add_processor, cli::add_checkpoint, cli::add_deadletter}},
                   {"Diagnosis",
                    {cli::add_check, cli::add_doctor, cli::add_bench, demo::add_demo,
                     demo::add_producer, demo::add_member, demo::add_program}},
                   {"Settings", {cli::add_context, cli::add_completion}}},
        .synonyms = {{"topic", "hub"},       {"topics", "hub"},     {"stream", "hub"},
                     {"produce", "send"},    {"publish", "send"},   {"pub", "send"},
                     {"consume", "read"},    {"subscribe", "read"}, {"sub", "read"},
                     {"tail", "read"},       {"consumer", "group"}, {"lag", "status"},
                     {"start", "dev"},       {"server", "serve"},   {"acl", "key"},
                     {"profile", "context"}, {"login", "context"},  {"add", "create"},
                     {"new", "create"},      {"info", "show"},      {"get", "show"},
                     {"update", "alter"},    {"seek", "set"},       {"deadletters", "deadletter"},
                     {"autoscale", "scale"}, {"retry", "replay"},   {"resend", "replay"},
                     {"redrive", "replay"}}};
    return static_cast<int>(cli::run(program, count, arguments));
}
