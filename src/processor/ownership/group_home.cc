#include "processor/ownership/group_home.h"

#include <fmt/core.h>

#include "processor/pump/retry.h"

namespace evenkeel::processor {

using checkpoint::GroupName;
using checkpoint::Record;
using checkpoint::Store;

GroupName identity_group(const GroupName& name, std::string_view identity) {
    return {std::string(identity), name.event_hub, name.group};
}

GroupHome::GroupHome(Place place, Store& given, GroupName name, std::string identity, Random random)
    : place_(std::move(place)),
      given_(given),
      name_(checkpoint::lower_cased(std::move(name))),
      identity_(std::move(identity)),
      random_(random) {}

GroupHome::~GroupHome() = default;

template <typename F>
auto GroupHome::guarded(F function) {
    return lifetime_.guard(std::move(function));
}

void GroupHome::find(Found found) {
    place_.loop.check_here();
    found_ = std::move(found);
    if (identity_.empty()) return done(&given_);
    begin();
}

void GroupHome::begin() {
    read(given_, home_hub_key, [this](const std::string& owner) {
        if (owner == identity_) return settle_in(given_, name_.hub_namespace);
        if (given_.pace() == checkpoint::Pace::thrifty) {
            return claim(given_, name_.hub_namespace);
        }
        look_for_name(owner.empty());
    });
}

void GroupHome::look_for_name(bool is_free) {
    if (!by_identity_) {
        auto opened = place_.open(identity_group(name_, identity_));
        if (!opened.ok()) return fail(opened.error());
        by_identity_ = std::move(*opened);
    }
    read(*by_identity_, home_name_key, [this, is_free](const std::string& host) {
        if (host == name_.hub_namespace) return claim(given_, host);
        if (!host.empty()) return move_to(host);
        // Not ours to take: claim() says whose they are.
        if (!is_free) return claim(given_, name_.hub_namespace);
        take_name();
    });
}

// First the name, then the entries: of two that begin at once under two names, one wins.
void GroupHome::take_name() {
    create(*by_identity_, home_name_key, name_.hub_namespace,
           [this] { claim(given_, name_.hub_namespace); });
}

void GroupHome::move_to(const std::string& host) {
    if (!moved_) {
        auto opened = place_.open({host, name_.event_hub, name_.group});
        if (!opened.ok()) return fail(opened.error());
        moved_ = std::move(*opened);
    }
    claim(*moved_, host);
}

void GroupHome::claim(Store& store, const std::string& host) {
    read(store, home_hub_key, [this, &store, host](const std::string& owner) {
        if (owner == identity_) return settle_in(store, host);
        if (!owner.empty()) return refuse(host, owner);
        create(store, home_hub_key, identity_, [this, &store, host] { settle_in(store, host); });
    });
}

void GroupHome::settle_in(Store& store, const std::string& host) {
    home_ = &store;
    host_ = host;
    done(&store);
}

void GroupHome::restore() {
    place_.loop.check_here();
    if (home_ == nullptr) return;
    home_->write_record({std::string(home_hub_key), identity_}, [](const Result<std::string>&) {});
    if (given_.pace() == checkpoint::Pace::thrifty) return;
    if (!by_identity_) {
        auto opened = place_.open(identity_group(name_, identity_));
        if (!opened.ok()) return;
        by_identity_ = std::move(*opened);
    }
    by_identity_->write_record({std::string(home_name_key), host_},
                               [](const Result<std::string>&) {});
}

void GroupHome::refuse(const std::string& host, const std::string& owner) {
    done(Error{
        ErrorCode::invalid_argument,
        fmt::format("the entries of '{}' in group '{}' under '{}' belong to another hub ({}; this "
                    "one is {}): two hubs with one name. Give each a store or a group of its own. "
                    "If this hub has taken the place of the other: evenkeel checkpoint adopt {} "
                    "--group '{}' --namespace {} --store STORE",
                    name_.event_hub, name_.group, host, owner, identity_, name_.event_hub,
                    name_.group, host)});
}

void GroupHome::read(Store& store, std::string_view key,
                     std::function<void(const std::string&)> then) {
    store.list_records(
        key,
        guarded([this, key, then = std::move(then)](const Result<std::vector<Record>>& listed) {
            if (!listed.ok()) return fail(listed.error());
            std::string value;
            for (const Record& record : *listed) {
                if (record.key == key) value = record.value;
            }
            then(value);
        }));
}

void GroupHome::create(Store& store, std::string_view key, const std::string& value,
                       std::function<void()> then) {
    store.write_record({std::string(key), value},
                       guarded([this, then = std::move(then)](const Result<std::string>& written) {
                           if (written.ok()) return then();
                           // Somebody was faster: look again.
                           if (written.error().code == ErrorCode::conflict) return begin();
                           fail(written.error());
                       }));
}

void GroupHome::fail(const Error& error) {
    if (!is_retriable(error)) return done(error);
    const Duration delay = restart_delay(++failures_, random_);
    place_.loop.run_after(delay, guarded([this] { begin(); }));
    if (place_.failed) place_.failed(error, delay);
}

void GroupHome::done(Result<Store*> result) {
    place_.loop.post(guarded([this, result = std::move(result)]() mutable {
        auto found = std::move(found_);
        found_ = nullptr;
        if (found) found(std::move(result));
    }));
}

}  // namespace evenkeel::processor
