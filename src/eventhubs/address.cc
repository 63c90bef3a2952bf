#include "eventhubs/address.h"

#include <algorithm>

#include "base/percent.h"
#include "base/text.h"
#include "eventhubs/wire_names.h"

namespace evenkeel::eventhubs {
namespace {

// Without scheme, host, query and slashes at the ends, in the case it came.
std::string plain_path(std::string_view address) {
    if (const auto scheme = address.find("://"); scheme != std::string_view::npos) {
        address.remove_prefix(scheme + 3);
        const auto slash = address.find('/');
        address = slash == std::string_view::npos ? std::string_view() : address.substr(slash);
    }
    if (const auto query = address.find('?'); query != std::string_view::npos) {
        address = address.substr(0, query);
    }
    std::string path = percent_decoded(address);
    while (!path.empty() && path.back() == '/') path.pop_back();
    return path.substr(std::min(path.size(), path.find_first_not_of('/')));
}

// Cuts "/word/value" off the end of `path`, if it is there.
bool cut_pair(std::string& path, std::string_view word, std::string& value) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos || slash == 0) return false;
    const auto before = path.rfind('/', slash - 1);
    const std::size_t word_at = before == std::string::npos ? 0 : before + 1;
    if (lower_case(std::string_view(path).substr(word_at, slash - word_at)) != word) return false;
    if (word_at == 0) return false;  // there must be a hub before it
    value = path.substr(slash + 1);
    path.resize(before);
    return true;
}

}  // namespace

std::string path_of(std::string_view address) {
    return lower_case(plain_path(address));
}

std::string host_name_of(std::string_view authority) {
    const bool bracketed = authority.starts_with('[');
    if (bracketed) authority.remove_prefix(1);
    std::string name = lower_case(authority.substr(0, authority.find(bracketed ? ']' : ':')));
    if (name.ends_with('.')) name.pop_back();
    return name;
}

std::optional<std::string> path_on(std::string_view host, std::string_view resource) {
    if (const auto scheme = resource.find("://"); scheme != std::string_view::npos) {
        resource.remove_prefix(scheme + 3);
    }
    const std::size_t end = std::min(resource.find_first_of("/?"), resource.size());
    const std::string name = host_name_of(resource.substr(0, end));
    if (name.empty() || name != host_name_of(host)) return std::nullopt;
    return path_of(resource.substr(end));
}

Address parse_address(std::string_view text) {
    Address address;
    std::string path = plain_path(text);
    const std::string folded = lower_case(path);
    const auto is_node = [&](std::string_view name) {
        return folded == name || folded.ends_with("/" + std::string(name));
    };
    if (is_node(node::cbs)) {
        address.kind = Address::Kind::cbs;
        return address;
    }
    if (is_node(node::management)) {
        address.kind = Address::Kind::management;
        const auto slash = path.rfind('/');
        if (slash == std::string::npos) return address;
        path.resize(slash);
        cut_pair(path, "consumergroups", address.group);  // of a consumer, about its hub
        address.hub = path;
        return address;
    }
    if (cut_pair(path, "partitions", address.partition)) {
        address.kind = Address::Kind::partition;
        if (cut_pair(path, "consumergroups", address.group)) {
            address.kind = Address::Kind::consumer;
        }
    } else if (cut_pair(path, "consumergroups", address.group)) {
        address.kind = Address::Kind::consumer;  // without a partition: the caller refuses it
    }
    address.hub = path;
    return address;
}

}  // namespace evenkeel::eventhubs
