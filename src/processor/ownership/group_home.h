// Which entries of a store are those of this hub. Entries are kept under the host that the hub was
// reached by, and hubs on other ports of that host, or behind other names, must not mix them up. So
// each of our hubs has an identity, and two records tie it to its entries:
//
//     <host>/<event hub>/<group>       home/hub   the identity of the hub whose entries these are
//     <identity>/<event hub>/<group>   home/name  the host under which its entries are kept
//
//     host's home/hub     home/name     entries
//     ours                any           the host's
//     none                none          the host's, and both records are written
//     none, another's     other host    the other host's: one hub with several names
//     another's           none          refused: two hubs, one name
//
// A hub without an identity (Azure Event Hubs) is known by its host. Where other SDKs may share the
// group, its entries stay under the host as given, where they look for them.
// Threads: pinned to the loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/lifetime.h"
#include "base/random.h"
#include "base/result.h"
#include "base/task.h"
#include "checkpoint/store.h"
#include "io/loop.h"

namespace evenkeel::processor {

inline constexpr std::string_view home_hub_key = "home/hub";
inline constexpr std::string_view home_name_key = "home/name";

// The group under which the name of a hub's entries is kept.
checkpoint::GroupName identity_group(const checkpoint::GroupName& name, std::string_view identity);

class GroupHome {
public:
    struct Place {
        io::Loop& loop;
        std::function<Result<std::unique_ptr<checkpoint::Store>>(const checkpoint::GroupName&)>
            open;
        std::function<void(const Error&, Duration retried_in)> failed;
    };
    using Found = Callback<void(Result<checkpoint::Store*>)>;

    // `given` is the store of `name`, and outlives this.
    GroupHome(Place place, checkpoint::Store& given, checkpoint::GroupName name,
              std::string identity, Random random);
    ~GroupHome();

    // Once. Answers a store that lives as long as this. `invalid_argument`: the entries are another
    // hub's. Waits as long as the store does not answer.
    void find(Found found);
    // After find(): the store was emptied, and entries are stored again. Writes the records that
    // tie them to the hub, unless others are there by now, so that they are found by every name.
    void restore();

private:
    void begin();
    void look_for_name(bool is_free);
    void take_name();
    void move_to(const std::string& host);
    void claim(checkpoint::Store& store, const std::string& host);
    void fail(const Error& error);
    void refuse(const std::string& host, const std::string& owner);
    void done(Result<checkpoint::Store*> result);
    void settle_in(checkpoint::Store& store, const std::string& host);
    // The value of a record, "" if there is none.
    void read(checkpoint::Store& store, std::string_view key,
              std::function<void(const std::string&)> then);
    void create(checkpoint::Store& store, std::string_view key, const std::string& value,
                std::function<void()> then);
    template <typename F>
    auto guarded(F function);

    const Place place_;
    checkpoint::Store& given_;
    const checkpoint::GroupName name_;
    const std::string identity_;
    Random random_;
    Found found_;
    std::unique_ptr<checkpoint::Store> by_identity_;
    std::unique_ptr<checkpoint::Store> moved_;
    checkpoint::Store* home_ = nullptr;  // found
    std::string host_;                   // under which the entries are there
    std::uint32_t failures_ = 0;
    Lifetime lifetime_;
};

}  // namespace evenkeel::processor
