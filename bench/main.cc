// The program evenkeel-bench. `evenkeel bench` starts it, so it is called that here.
#include <string>
#include <string_view>

#include "bench/host.h"
#include "bench/options.h"
#include <evenkeel/log.h>

int main(int count, char** arguments) {
    using namespace evenkeel;
    set_log(LogLevel::info);
    // As users ask for it: `bench --against redis` is `bench against redis`.
    std::string against = "against";
    if (count > 1 && std::string_view(arguments[1]) == "--against") arguments[1] = against.data();
    const cli::Program program{
        .name = "evenkeel bench",
        .description = "Benchmark this build on this machine",
        .examples = bench::examples,
        .groups = {
            {"Subcommands",
             {bench::add_log, bench::add_amqp, bench::add_restart, bench::add_processor,
              bench::add_host, bench::add_against, bench::add_remote_hub, bench::add_children}}}};
    return static_cast<int>(cli::run(program, count, arguments));
}
