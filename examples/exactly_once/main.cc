// Counts the events of each partition in a table of the store's own database. A count and the
// position behind it commit as one, so no event is counted twice or missed, whatever crashes.
#include <iostream>
#include <string>

#include <sqlite3.h>

#include <evenkeel/processor.h>

namespace {

evenkeel::Result<> execute(sqlite3* database, const std::string& statement) {
    if (sqlite3_exec(database, statement.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) {
        return {};
    }
    return evenkeel::Error{evenkeel::ErrorCode::handler_failed, sqlite3_errmsg(database)};
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::cerr << "usage: exactly_once CONNECTION-STRING DATABASE\n";
        return 2;
    }
    auto processor = evenkeel::Processor::open({
        .hub = arguments[1],
        .store = "sqlite:" + std::string(arguments[2]),
        .delivery = evenkeel::Delivery::exactly_once,
    });
    return evenkeel::run(
        processor,
        [](evenkeel::Partition& partition, evenkeel::Events events) -> evenkeel::Result<> {
            sqlite3* const database = partition.sqlite();
            if (auto made = execute(database,
                                    "CREATE TABLE IF NOT EXISTS counts"
                                    " (partition INTEGER PRIMARY KEY, events INTEGER)");
                !made) {
                return made;
            }
            return execute(database, "INSERT INTO counts VALUES (" +
                                         std::to_string(partition.id()) + ", " +
                                         std::to_string(events.size()) +
                                         ") ON CONFLICT (partition) DO UPDATE"
                                         " SET events = events + excluded.events");
        });
}
