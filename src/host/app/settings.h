// The settings of an app: the environment, and below it the Values of local.settings.json. Names
// are compared without regard to case, and "__" in them is ":", as .NET does it. A value, pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "host/app.h"
#include "host/app/json_file.h"

namespace evenkeel::host {

class Settings {
public:
    explicit Settings(const Environment& environment);

    // Values of local.settings.json; those that the environment has stay.
    Result<> add(const JsonFile& local);

    std::optional<std::string> find(std::string_view name) const;
    // `text` with each %NAME% replaced by its setting. `invalid_argument` names one that is not
    // set.
    Result<std::string> expanded(std::string_view text) const;
    // Paths and values of all settings below the name: {"extensions", "eventHubs", ...}.
    std::vector<std::pair<std::vector<std::string>, std::string>> below(
        std::string_view name) const;
    // The connection string that the binding's `connection` names, for this event hub: with
    // EntityPath, which wins over `event_hub` if the setting has one. Never a key in an error.
    struct Connection {
        std::string text;
        std::string event_hub;
        bool was_in_place = false;  // the binding has a connection string instead of a name
    };
    Result<Connection> connection(std::string_view name, std::string_view event_hub,
                                  bool websockets) const;

    // As the processes of the app get them.
    const Environment& all() const { return all_; }

private:
    Environment all_;
    std::map<std::string, std::string> by_key_;
};

}  // namespace evenkeel::host
