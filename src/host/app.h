// An Azure Functions app folder as plain values: which functions it has, which event hubs they read
// and write, and how the host treats them.
//
//     app/host.json              settings of the host
//     app/local.settings.json    settings for local runs; the environment wins over them
//     app/FUNCTION/function.json bindings of one function; Python v2 and Node v4 have them in code
//
// Names of members are compared without regard to case, names that are not known are warnings.
// docs/functions.md lists what is supported. Connections hold keys: they are never printed.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include <evenkeel/event.h>

namespace evenkeel::host {

// Names and values, such as those of environ.
using Environment = std::map<std::string, std::string>;

enum class Cardinality : std::uint8_t { one, many };
// automatic: as Azure does it, text for one event and JSON values for many.
enum class DataType : std::uint8_t { automatic, text, binary };
// What runs the function.
enum class Kind : std::uint8_t { command, custom_handler, python, node, cloud_events };
// on_success: a failed execution is tried again, then its events are dead-lettered, then the
// checkpoint advances. functions: it advances after the execution, whether or not that failed.
enum class CheckpointRule : std::uint8_t { on_success, functions };

// A retry policy of Azure Functions.
struct RetryRule {
    bool is_exponential = false;
    std::optional<std::uint32_t> retries_max = 0;  // none: for ever
    std::chrono::milliseconds delay{0};            // fixed, or the smallest
    std::chrono::milliseconds delay_max{0};        // of an exponential one
    bool operator==(const RetryRule&) const = default;
};

// An output binding of type eventHub.
struct EventHubOutput {
    std::string name;  // "$return" is what the function returns
    std::string event_hub;
    std::string connection;
    bool is_binary = false;
};

struct Function {
    std::string name;
    Kind kind = Kind::custom_handler;
    std::string folder = {};   // of its function.json; empty if its bindings are in code
    std::string trigger = {};  // the parameter's name
    std::string event_hub = {};
    std::string connection = {};  // a whole connection string, found by the name of its setting
    std::string consumer_group = "$Default";
    Cardinality cardinality = Cardinality::one;
    DataType data_type = DataType::automatic;
    std::size_t max_batch = 1;  // events of one execution
    // How many unread events one instance is to have, for scaling; none: max_batch of the host.
    std::optional<std::uint64_t> target_unprocessed_threshold = {};
    std::optional<RetryRule> retry = {};
    std::vector<EventHubOutput> outputs = {};
    bool disabled = false;
    std::string command = {};    // Kind::command: for /bin/sh
    bool answers_lines = false;  // it answers each event with a line, else by its exit code
    std::string url = {};        // Kind::cloud_events
    std::string script_file = {};
    std::string entry_point = {};
};

// host.json, customHandler.
struct CustomHandler {
    std::string executable;
    std::vector<std::string> arguments = {};
    std::string working_directory = {};
    std::chrono::milliseconds initialization_timeout{30'000};
};

struct HostOptions {
    std::size_t max_batch = 100;
    std::size_t min_batch = 1;
    std::chrono::milliseconds max_wait{60'000};  // for min_batch events, if that is more than 1
    std::uint32_t checkpoint_every_batches = 1;
    bool writes_checkpoints = true;
    std::uint32_t prefetch_events = 300;
    std::optional<std::uint64_t> prefetch_bytes = {};
    bool track_end = false;
    bool websockets = false;
    Position start = Position::earliest();
    std::optional<std::uint64_t> target_unprocessed_threshold = {};
    std::optional<std::chrono::milliseconds> function_timeout = std::chrono::minutes(30);
    std::optional<RetryRule> retry = {};  // of functions that have none of their own
    std::optional<CustomHandler> custom_handler = {};
    std::optional<std::vector<std::string>> only = {};  // the functions that are run
    // The section "evenkeel", which Azure ignores.
    CheckpointRule checkpoint_rule = CheckpointRule::on_success;
    bool strict_json = false;          // a body that is not JSON fails its batch, as in Azure
    bool base64_outputs = true;        // outputs that are base64 are decoded, as in Azure
    std::string dead_letter_hub = {};  // empty: the store
    // Of each process that runs functions; none: no limit. See limit_memory().
    std::optional<std::uint64_t> memory_max = {};
    std::string store = {};
};

struct App {
    std::string folder;
    std::vector<Function> functions = {};  // those with an event hub trigger, also disabled ones
    std::string store = {};                // as ProcessorOptions::store
    HostOptions options = {};
    Environment settings = {};               // what its processes find in their environment
    std::vector<std::string> warnings = {};  // what is ignored, or probably a mistake
    // Functions that could not be loaded, and why: file and line, or a traceback. The others run.
    std::vector<std::string> failures = {};
};

// Reads the app. An app of Python v2 or Node v4 is loaded by its interpreter to find its functions,
// which runs code of the app. `store` wins over what the app says; empty: the app's, else SQLite.
// `invalid_argument` names file and line, and says what is allowed; `not_found`: no such folder. A
// function that is wrong is an error only if there is no other one.
Result<App> load_app(const std::string& folder, const Environment& environment,
                     const std::string& store = {});

// Limits the memory of every process that runs functions, to at least memory_floor. Each process
// has its own limit, so also those that it starts.
inline constexpr std::uint64_t memory_floor = std::uint64_t{16} << 20;
void limit_memory(App& app, std::uint64_t bytes);

// The variables of this process.
Environment process_environment();
// "NAME=value" each, as exec() wants them.
std::vector<std::string> variables_of(const Environment& environment);

}  // namespace evenkeel::host
