#include "cli/remote/entries.h"

#include <fmt/core.h>

#include "base/text.h"
#include "cli/remote/dialer.h"
#include "client/options.h"
#include "processor/ownership/group_home.h"

namespace evenkeel::cli {
namespace {

using checkpoint::GroupName;
using checkpoint::Record;

// "" if there is none.
Result<std::string> record_in(const std::string& store, const GroupName& group,
                              std::string_view key) {
    EK_TRY_ASSIGN(const auto session, StoreSession::open(store, group, {.may_create = false}));
    if (!session) return std::string();
    EK_TRY_ASSIGN(const auto records,
                  session->ask<std::vector<Record>>([key](checkpoint::Store& opened, auto answer) {
                      opened.list_records(key, std::move(answer));
                  }));
    for (const Record& record : records) {
        if (record.key == key) return record.value;
    }
    return std::string();
}

// "" if the hub has none. It is that of the server, which tells it also if it has no such event
// hub any more, or does not accept the key.
Result<std::string> identity_of(const Remote& remote, const std::string& event_hub) {
    auto hub = first_contact(remote, event_hub);
    if (hub.ok()) return std::move(hub->identity);
    const bool is_reached =
        hub.error().code == ErrorCode::not_found || hub.error().code == ErrorCode::not_allowed;
    if (!is_reached) return hub.error();
    EK_TRY_ASSIGN(const auto options, client::connection_options(client_options(
                                          remote, event_hub, "evenkeel", Patience::none)));
    EK_TRY_ASSIGN(auto said, Dialer(remote.ca_pem).greet(options, remote.timeout));
    return std::move(said.identity);
}

}  // namespace

Result<GroupName> entries_of(const std::string& store, GroupName named,
                             const std::string& identity) {
    if (identity.empty()) return named;
    EK_TRY_ASSIGN(const std::string owner, record_in(store, named, processor::home_hub_key));
    if (owner == identity) return named;
    EK_TRY_ASSIGN(
        const std::string host,
        record_in(store, processor::identity_group(named, identity), processor::home_name_key));
    if (!host.empty() && host != named.hub_namespace) {
        return GroupName{host, named.event_hub, named.group};
    }
    if (owner.empty()) return named;
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("the entries of '{}' in group '{}' under '{}' belong to another hub ({}; "
                    "this one is {}); --namespace {} takes them all the same",
                    named.event_hub, named.group, named.hub_namespace, owner, identity,
                    named.hub_namespace)};
}

Result<GroupName> entries_of(const std::string& store, const Remote& remote,
                             const std::string& event_hub, const std::string& group,
                             EntriesFor purpose) {
    GroupName named{remote.target.endpoint.host, event_hub, group};
    const auto identity = identity_of(remote, event_hub);
    if (identity.ok()) return entries_of(store, std::move(named), *identity);
    EK_TRY_ASSIGN(const std::string owner, record_in(store, named, processor::home_hub_key));
    if (owner.empty()) return named;
    const std::string unknown = fmt::format(
        "the entries of '{}' in group '{}' under '{}' are those of the hub {}, and the hub at {} "
        "cannot be asked whether it is that one ({})",
        event_hub, group, named.hub_namespace, owner, io::to_string(remote.target.endpoint),
        identity.error().detail);
    if (purpose == EntriesFor::changing) {
        return Error{ErrorCode::conflict,
                     fmt::format("{}; nothing was changed. Start that hub or name the right one "
                                 "with --hub; --namespace {} takes the entries all the same",
                                 unknown, named.hub_namespace)};
    }
    fmt::print(stderr, "warning: {}\n", visible(unknown));
    return named;
}

Result<std::unique_ptr<StoreSession>> open_entries(const std::string& store, GroupName wanted,
                                                   const RemoteOptions& remote, EntriesUse use) {
    EK_TRY(check_file_of_store(store));
    if (wanted.hub_namespace.empty()) {
        EK_TRY_ASSIGN(const Remote hub, remote_of(remote));
        EK_TRY_ASSIGN(wanted, entries_of(store, hub, wanted.event_hub, wanted.group, use.purpose));
    }
    return StoreSession::open(store, wanted, {.may_create = use.may_create});
}

}  // namespace evenkeel::cli
