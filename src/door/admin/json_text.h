// Text as Boost.JSON wants to see it. Its sources include <boost/json.hpp> themselves.
#pragma once

#include <string_view>

#include <boost/json/string_view.hpp>  // tidy: allow heavy-header: only an alias

namespace evenkeel::door {

inline boost::json::string_view json_text(std::string_view view) {
    return {view.data(), view.size()};
}

}  // namespace evenkeel::door
