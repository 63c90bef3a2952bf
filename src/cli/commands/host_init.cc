#include "cli/commands/host_init.h"

#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/bytes.h"
#include "base/result.h"
#include "io/system/files.h"

namespace evenkeel::cli {
namespace {

using AppFile = std::pair<std::string, std::string>;  // name, text

constexpr const char* settings_of_dev =
    R"({
  "IsEncrypted": false,
  "Values": {
    "FUNCTIONS_WORKER_RUNTIME": "@KIND@",
    "AzureWebJobsStorage": "",
    "HUB": "Endpoint=sb://localhost;SharedAccessKeyName=RootManageSharedAccessKey;)"
    R"(SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true"
  }
}
)";

constexpr const char* python_text = R"(import logging

import azure.functions as func

app = func.FunctionApp()


@app.event_hub_message_trigger(arg_name="events", event_hub_name="eh1", connection="HUB",
                               cardinality="many")
def show(events: list[func.EventHubEvent]):
    for event in events:
        logging.info("%s: %s", event.sequence_number, event.get_body().decode())
)";

constexpr const char* node_text = R"(const { app } = require("@azure/functions");

app.eventHub("show", {
    connection: "HUB",
    eventHubName: "eh1",
    cardinality: "many",
    handler: async (events, context) => {
        for (const event of events) context.log(event);
    },
});
)";

constexpr const char* exec_text = R"({
  "bindings": [
    {"type": "eventHubTrigger", "direction": "in", "name": "events", "eventHubName": "eh1",
     "connection": "HUB"}
  ],
  "evenkeel": {"command": "cat >> events.ndjson"}
}
)";

constexpr const char* cpp_function = R"({
  "bindings": [
    {"type": "eventHubTrigger", "direction": "in", "name": "events", "eventHubName": "eh1",
     "connection": "HUB"}
  ],
  "evenkeel": {"command": "./show", "answers": "line"}
}
)";

constexpr const char* cpp_text =
    R"(// One process for each partition. An event is a line of JSON; the answer to it
// is a line too: "ok", or "error" and what is wrong.
#include <iostream>
#include <string>

int main() {
    for (std::string event; std::getline(std::cin, event);) {
        std::cerr << event << '\n';
        std::cout << "ok" << std::endl;  // flushed: the host waits for it
    }
}
)";

std::string settings_for(const std::string& kind) {
    const bool is_command = kind == "exec" || kind == "cpp";
    std::string text = settings_of_dev;
    const std::string mark = "@KIND@";
    return text.replace(text.find(mark), mark.size(), is_command ? "custom" : kind);
}

std::vector<AppFile> files_of(const std::string& kind) {
    std::vector<AppFile> files = {{"host.json", "{\n  \"version\": \"2.0\"\n}\n"},
                                  {"local.settings.json", settings_for(kind)}};
    if (kind == "python") {
        files.push_back({"function_app.py", python_text});
        files.push_back({"requirements.txt", "azure-functions\n"});
    } else if (kind == "node") {
        files.push_back({"package.json",
                         "{\n  \"main\": \"src/functions/*.js\",\n"
                         "  \"dependencies\": {\"@azure/functions\": \"^4.0.0\"}\n}\n"});
        files.push_back({"src/functions/show.js", node_text});
    } else if (kind == "cpp") {
        files.push_back({"show/function.json", cpp_function});
        files.push_back({"show/show.cc", cpp_text});
    } else {
        files.push_back({"show/function.json", exec_text});
    }
    return files;
}

Result<> write_files(const HostInitOptions& options) {
    io::system::SystemFiles files;
    EK_TRY(files.make_directory(options.folder));
    for (const auto& [name, text] : files_of(options.kind)) {
        for (auto slash = name.find('/'); slash != std::string::npos;
             slash = name.find('/', slash + 1)) {
            auto made = files.make_directory(options.folder + "/" + name.substr(0, slash));
            // Several files may be in one folder.
            if (!made.ok() && made.error().code != ErrorCode::already_exists) return made;
        }
        EK_TRY(io::replace_file(files, options.folder + "/" + name, as_bytes(text)));
    }
    return {};
}

}  // namespace

ExitCode host_init(const HostInitOptions& options) {
    if (const auto written = write_files(options); !written.ok()) {
        return fail(fmt::format("cannot write an app to '{}'", options.folder), written.error(),
                    "give a folder that does not exist yet");
    }
    fmt::print("{} is a small app that shows the events of the event hub eh1. Next:\n",
               options.folder);
    if (options.kind == "python")
        fmt::print(
            "  python3 -m venv {0}/.venv && {0}/.venv/bin/pip install -r {0}/requirements.txt\n",
            options.folder);
    if (options.kind == "cpp") {
        fmt::print("  c++ -O2 -o {0}/show/show {0}/show/show.cc\n", options.folder);
    }
    if (options.kind == "node") fmt::print("  npm install --prefix {}\n", options.folder);
    fmt::print(
        "  evenkeel dev                  in another terminal: a local hub\n"
        "  evenkeel host {}\n"
        "  evenkeel send eh1 '{{\"hello\": 1}}'\n",
        options.folder);
    return ExitCode::done;
}

}  // namespace evenkeel::cli
