#include "processor/ownership/group_listing.h"

#include <utility>

#include "base/check.h"

namespace evenkeel::processor {

using checkpoint::Member;
using checkpoint::Ownership;

void GroupListing::ask(What what, std::function<void(Answer)> done) {
    EK_CHECK(pending_ == 0, "one look at the group at a time");
    pending_ = what == What::both ? 2 : 1;
    answer_ = {.asked = loop_.clock().now(), .members = {}, .ownerships = {}, .error = {}};
    done_ = std::move(done);
    if (what != What::ownerships) {
        ++requests_;
        store_.list_members(steps_.wrap([this](Result<std::vector<Member>> listed) {
            if (listed) {
                answer_.members = std::move(*listed);
            } else {
                answer_.error = listed.error();
            }
            answered();
        }));
    }
    if (what != What::members) {
        ++requests_;
        wants_ownerships_ = false;
        store_.list_ownerships(steps_.wrap([this](Result<std::vector<Ownership>> listed) {
            if (listed) {
                answer_.ownerships = std::move(*listed);
            } else {
                answer_.error = listed.error();
                wants_ownerships_ = true;
            }
            answered();
        }));
    }
}

void GroupListing::answered() {
    check_state();
    if (--pending_ > 0) return;
    std::exchange(done_, {})(std::exchange(answer_, {}));
}

void GroupListing::check_state() const {
    EK_CHECK(pending_ > 0 && pending_ <= 2, "an answer that was not asked for");
    EK_CHECK(done_ != nullptr, "nobody waits for the answer");
}

}  // namespace evenkeel::processor
