// The program evenkeel: the list of its commands. Each declares its options itself.
#include "cli/commands/commands.h"
#include "demo/options.h"

namespace {

constexpr const char* examples = R"(
Examples:
  evenkeel dev                         a hub for work on this machine, for any Event Hubs SDK
  evenkeel serve --config evenkeel.toml   the server
  evenkeel send eh1 "hello"            an event to the hub of 'evenkeel dev'
  evenkeel read eh1 -o json            all events of a hub, a JSON object a line
  evenkeel hub create orders --partitions 8   an event hub more; 'hub ls' lists them
  evenkeel conn orders --test          a connection string for other programs, tried
  evenkeel check                       what is wrong, if something is
  evenkeel process eh1 --exec ./handle an instance of an event processor; start as many as you like
  evenkeel status eh1                  who owns which partition, and how far it is behind
  evenkeel demo --for 30s              processors share a stream, one is killed, two more start
  evenkeel demo --data ./data --rate 0 as fast as it goes, and keep the data
  evenkeel checkpoint ls homes --store sqlite:progress.db    how far a group's processors are
  evenkeel bench log                   how fast the commit log is on this machine
  evenkeel bench log -o json | jq .    the same for programs

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 not allowed, 5 cannot reach,
6 conflict, 7 partly done, 8 check: warning, 9 check: failed, 10 dry run: would change something,
130 interrupted. docs/cli.md says more.)";

}  // namespace

int main(int count, char** arguments) {
    using namespace evenkeel;
    const cli::Program program{.name = "evenkeel",
                               .description = "Evenkeel: partitioned, durable event streams.",
                               .version = "evenkeel " EVENKEEL_VERSION,
                               .examples = examples,
                               .commands = {
                                   cli::add_dev,
                                   cli::add_send,
                                   cli::add_read,
                                   cli::add_hub,
                                   cli::add_group,
                                   cli::add_key,
                                   cli::add_conn,
                                   cli::add_check,
                                   cli::add_completion,
                                   cli::add_checkpoint,
                                   cli::add_serve,
                                   cli::add_process,
                                   cli::add_status,
                                   cli::add_processor,
                                   demo::add_demo,
                                   demo::add_producer,
                                   demo::add_member,
                                   cli::add_bench,
                               }};
    return static_cast<int>(cli::run(program, count, arguments));
}
