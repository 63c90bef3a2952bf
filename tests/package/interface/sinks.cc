// Exactly once with the database's own handle, without a cast.
#include <future>
#include <string>

#include <libpq-fe.h>
#include <sqlite3.h>

#include "package/interface/check.h"
#include <evenkeel/hub.h>
#include <evenkeel/processor.h>

int main(int, char** arguments) {
    const std::string folder = arguments[1];
    auto hub = evenkeel::Hub::open({.directory = folder + "/hub"}).value();
    hub->create("homes", {.partitions = 1}).value();
    hub->send("homes", "door opened").value();
    std::promise<bool> handled;
    evenkeel::ProcessorOptions options;
    options.hub_here = hub.get();
    options.event_hub = "homes";
    options.store = "sqlite:" + folder + "/results.db";
    options.delivery = evenkeel::Delivery::exactly_once;
    options.on_error = [](const evenkeel::Failure&) {};
    auto processor = evenkeel::Processor::open(options).value();
    processor
        ->start([&](evenkeel::Partition& partition, evenkeel::Events) -> evenkeel::Result<> {
            sqlite3* const database = partition.sqlite();
            PGconn* const other = partition.postgres();
            handled.set_value(other == nullptr &&
                              sqlite3_exec(database, "CREATE TABLE done (a)", nullptr, nullptr,
                                           nullptr) == SQLITE_OK);
            return {};
        })
        .value();
    check(handled.get_future().get(), "the handler has the store's database");
    check(processor->stop().is_clean, "it stops");
}
