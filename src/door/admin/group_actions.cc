#include "door/admin/group_actions.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "base/number.h"
#include "base/redacted.h"
#include "base/text.h"
#include "checkpoint/dead_letter.h"
#include "dashboard/explain.h"
#include "dashboard/letters.h"
#include "dashboard/seek.h"
#include "door/admin/gate.h"
#include "door/admin/query.h"
#include "door/admin/sent_events.h"
#include "eventhubs/names.h"
#include "processor/ownership/operator_requests.h"

namespace evenkeel::door {
namespace {

using checkpoint::DeadLetter;
using checkpoint::DeadLetterId;
using checkpoint::Store;
using dashboard::JsonWriter;
using dashboard::WatchedGroup;
using http::Response;

Response store_error(const Error& error) {
    return error_of({error.code, without_secrets(error.detail)});
}

Response written(JsonWriter json, int status = 200) {
    return {.status = status, .body = json.take() + "\n"};
}

Result<DeadLetterId> letter_of(const AdminCall& call) {
    return checkpoint::parse_letter_id(call.partition + "/" + call.sequence);
}

// As it is stored again.
Result<std::string> message_of(const DeadLetter& letter, const std::optional<std::string>& body) {
    EK_TRY(eventhubs::check_partition_key(letter.partition_key));
    if (!body) return storable(letter.sections);
    Event event;
    event.sections = letter.sections;
    return storable(as_bytes(with_body(event, *body)));
}

// Which count is wanted depends on what the caller says in the query.
Result<host::ScalePolicy> scale_policy_of(std::string_view text) {
    EK_TRY_ASSIGN(const auto query, parse_query(text, {"target", "min", "max", "standby"}));
    host::ScalePolicy policy;
    policy.step_min = 0;  // the autoscaler has its own steps
    for (const auto& [name, value] : query) {
        const auto number = parse_number<std::uint32_t>(value);
        if (!number) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("{} must be a whole number, not '{}'", name, shown(value))};
        }
        if (name == "target") policy.target = *number;
        if (name == "min") policy.min = *number;
        if (name == "max") policy.max = *number;
        if (name == "standby") policy.standby = *number;
    }
    EK_TRY(check_policy(policy));
    return policy;
}

}  // namespace

Result<const WatchedGroup*> GroupActions::group_of(const AdminCall& call) const {
    const auto* const group =
        dashboard_ ? dashboard_->groups().find(call.hub, call.group) : nullptr;
    if (group) return group;
    return Error{ErrorCode::not_found,
                 fmt::format("group '{}' of event hub '{}' is not watched; add a [[group]] to the "
                             "server's file, or start 'evenkeel dev' with --watch-store",
                             shown(call.group), shown(call.hub))};
}

Response GroupActions::explain(const AdminCall& call) const {
    const auto group = group_of(call);
    if (!group.ok()) return error_of(group.error());
    auto query = parse_query(call.request.query, {"p"});
    if (!query.ok()) return error_of(query.error());
    const auto partition = parse_number<std::uint32_t>((*query)["p"]);
    if (!partition) return bad_request("p must be the number of a partition");
    const auto view = dashboard_->groups().view(**group);
    const auto sentences = dashboard::explain(view, *partition);
    if (sentences.empty()) {
        return error_of(
            {ErrorCode::not_found, fmt::format("there is no partition {}", *partition)});
    }
    JsonWriter json;
    json.object([&] {
        json.member("p", *partition).member("owner", view.partitions[*partition].owner);
        json.member("epoch", view.partitions[*partition].epoch);
        json.key("sentences").array([&] {
            for (const auto& sentence : sentences) json.value(sentence);
        });
    });
    return written(std::move(json));
}

Response GroupActions::lag(const AdminCall& call) const {
    const auto group = group_of(call);
    if (!group.ok()) return error_of(group.error());
    auto query = parse_query(call.request.query, {"range"});
    if (!query.ok()) return error_of(query.error());
    const std::string& range = (*query)["range"];
    if (!range.empty() && range != "1h" && range != "24h") {
        return bad_request("range must be 1h or 24h");
    }
    JsonWriter json;
    json.object([&] { dashboard_->write_lag(json, **group, range == "24h" ? 24 * 60 : 60); });
    return written(std::move(json));
}

Response GroupActions::scale(const AdminCall& call) const {
    const auto group = group_of(call);
    if (!group.ok()) return error_of(group.error());
    const auto policy = scale_policy_of(call.request.query);
    if (!policy.ok()) return error_of(policy.error());
    const auto decision = dashboard_->scale(**group, *policy);
    JsonWriter json;
    json.object([&] {
        json.member("hub", (*group)->wish().hub).member("group", (*group)->wish().group);
        dashboard::write_scale(json, decision, *policy);
    });
    return written(std::move(json), decision.unknown ? 503 : 200);
}

Result<GroupActions::Wanted> GroupActions::wanted_by(const AdminCall& call) {
    EK_TRY_ASSIGN(auto members, Members::parse(call.request.body));
    Wanted wanted;
    EK_TRY_ASSIGN(const auto action, members.take_text("action"));
    EK_TRY_ASSIGN(const auto partitions, members.take_numbers("partitions", 1'000'000));
    EK_TRY_ASSIGN(const auto member, members.take_text("member"));
    EK_TRY_ASSIGN(const auto to, members.take_text("to"));
    EK_TRY_ASSIGN(const auto preview, members.take_flag("preview"));
    EK_TRY(members.check_empty());
    wanted.action = action.value_or("");
    for (const std::int64_t partition : partitions.value_or(std::vector<std::int64_t>())) {
        wanted.partitions.push_back(static_cast<std::uint32_t>(partition));
    }
    if (partitions && partitions->empty()) {
        return Error{ErrorCode::invalid_argument,
                     "partitions is empty; leave it out to mean all of them"};
    }
    wanted.member = member.value_or("");
    wanted.to = to.value_or("");
    wanted.is_preview = preview.value_or(false);
    return wanted;
}

Callback<void(Result<>)> GroupActions::asked(const std::string& hub, const std::string& group,
                                             AdminAnswer answer) {
    return lifetime_.guard(
        [this, hub, group, answer = std::move(answer)](const Result<>& result) mutable {
            if (const auto* found = dashboard_->groups().find(hub, group)) {
                dashboard_->groups().look_soon(*found);
            }
            if (!result.ok()) return answer(store_error(result.error()));
            answer({.status = 202, .body = "{\"asked\":true}\n"});
        });
}

void GroupActions::request(const AdminCall& call, AdminAnswer answer) {
    const auto group = group_of(call);
    if (!group.ok()) return answer(error_of(group.error()));
    auto wanted = wanted_by(call);
    if (!wanted.ok()) return answer(error_of(wanted.error()));
    for (const std::uint32_t partition : wanted->partitions) {
        const auto hub = hubs_.find(call.hub);
        const auto found = hub.ok() ? (*hub)->partition({partition}) : hub.error();
        if (!found.ok()) return answer(error_of(found.error()));
    }
    auto& groups = dashboard_->groups();
    if (wanted->action == "pause") {
        return groups.with_store<void>(
            **group,
            [partitions = wanted->partitions](Store& store, auto done) mutable {
                processor::pause(store, std::move(partitions),
                                 [done = std::move(done)](const auto& paused) mutable {
                                     done(paused.ok() ? Result<>() : paused.error());
                                 });
            },
            asked(call.hub, call.group, std::move(answer)));
    }
    if (wanted->action == "resume") {
        return groups.with_store<void>(
            **group,
            [partitions = wanted->partitions](Store& store, auto done) mutable {
                processor::resume(store, std::move(partitions),
                                  [done = std::move(done)](const auto& resumed) mutable {
                                      done(resumed.ok() ? Result<>() : resumed.error());
                                  });
            },
            asked(call.hub, call.group, std::move(answer)));
    }
    if (wanted->action == "drain") {
        const auto& seen = (*group)->seen().others();
        const auto found = seen.find(wanted->member);
        if (found == seen.end() || found->second.is_dead) {
            return answer(error_of(
                {ErrorCode::not_found, fmt::format("no running member of the group is called '{}'",
                                                   shown(wanted->member))}));
        }
        return groups.with_store<void>(
            **group,
            [incarnation = found->second.member.incarnation](Store& store, auto done) {
                processor::ask_to_drain(store, incarnation, std::move(done));
            },
            asked(call.hub, call.group, std::move(answer)));
    }
    if (wanted->action == "seek") return seek(call, **group, *wanted, std::move(answer));
    if (wanted->action == "look") return asked(call.hub, call.group, std::move(answer))({});
    answer(bad_request("action must be pause, resume, drain, seek or look"));
}

void GroupActions::seek(const AdminCall& call, const WatchedGroup& group, const Wanted& wanted,
                        AdminAnswer answer) {
    auto to = dashboard::parse_browse_start(wanted.to.empty() ? "?" : wanted.to);
    if (!to.ok()) return answer(error_of(to.error()));
    if (to->kind == dashboard::BrowseStart::Kind::offset) {
        return answer(bad_request("to must be oldest, newest, seq:N or time:..."));
    }
    dashboard::plan_seek(
        {loop_, reads_, hubs_, call.hub}, dashboard_->groups().view(group), *to, wanted.partitions,
        lifetime_.guard(
            [this, hub = call.hub, name = call.group, is_preview = wanted.is_preview,
             answer = std::move(answer)](Result<std::vector<dashboard::SeekStep>> steps) mutable {
                if (!steps.ok()) return answer(error_of(steps.error()));
                if (is_preview) return answer({.body = dashboard::to_json(*steps) + "\n"});
                const auto* const found = dashboard_->groups().find(hub, name);
                if (!found) return answer(error_of({ErrorCode::not_found, "the group is gone"}));
                dashboard_->groups().with_store<void>(
                    *found,
                    [steps = std::move(*steps)](Store& store, auto done) mutable {
                        dashboard::carry_out(store, std::move(steps), std::move(done));
                    },
                    asked(hub, name, std::move(answer)));
            }));
}

void GroupActions::list_letters(const AdminCall& call, AdminAnswer answer) {
    const auto group = group_of(call);
    if (!group.ok()) return answer(error_of(group.error()));
    auto given = parse_query(call.request.query, {"after", "limit", "cause"});
    if (!given.ok()) return answer(error_of(given.error()));
    dashboard::LetterQuery query{.cause = (*given)["cause"]};
    if (const auto& after = (*given)["after"]; !after.empty()) {
        const auto id = checkpoint::parse_letter_id(after);
        if (!id.ok()) return answer(error_of(id.error()));
        query.after = *id;
    }
    if (const auto& limit = (*given)["limit"]; !limit.empty()) {
        const auto number = parse_number<std::size_t>(limit);
        if (!number || *number == 0 || *number > dashboard::LetterQuery::limit_max) {
            return answer(bad_request(fmt::format("limit must be a number from 1 to {}",
                                                  dashboard::LetterQuery::limit_max)));
        }
        query.limit = *number;
    }
    dashboard_->groups().with_store<std::string>(
        **group,
        [query = std::move(query)](Store& store, auto done) mutable {
            dashboard::list_letters(store, std::move(query), std::move(done));
        },
        lifetime_.guard([answer = std::move(answer)](Result<std::string> json) mutable {
            if (!json.ok()) return answer(store_error(json.error()));
            answer({.body = std::move(*json) + "\n"});
        }));
}

void GroupActions::with_letter(const AdminCall& call, AdminAnswer answer,
                               Callback<void(DeadLetter, AdminAnswer)> then) {
    const auto group = group_of(call);
    if (!group.ok()) return answer(error_of(group.error()));
    const auto id = letter_of(call);
    if (!id.ok()) return answer(error_of(id.error()));
    dashboard_->groups().with_store<DeadLetter>(
        **group,
        [id = *id](Store& store, auto done) { dashboard::find_letter(store, id, std::move(done)); },
        lifetime_.guard([answer = std::move(answer),
                         then = std::move(then)](Result<DeadLetter> letter) mutable {
            if (!letter.ok()) return answer(store_error(letter.error()));
            then(std::move(*letter), std::move(answer));
        }));
}

void GroupActions::show_letter(const AdminCall& call, AdminAnswer answer) {
    with_letter(call, std::move(answer), [](const DeadLetter& letter, AdminAnswer found) {
        found({.body = dashboard::letter_json(letter) + "\n"});
    });
}

void GroupActions::remove_letter(const AdminCall& call, AdminAnswer answer) {
    const auto group = group_of(call);
    if (!group.ok()) return answer(error_of(group.error()));
    const auto id = letter_of(call);
    if (!id.ok()) return answer(error_of(id.error()));
    dashboard_->groups().with_store<void>(
        **group,
        [id = *id](Store& store, auto done) { store.remove_dead_letter(id, std::move(done)); },
        lifetime_.guard([answer = std::move(answer)](const Result<>& removed) mutable {
            answer(removed.ok() ? no_content() : store_error(removed.error()));
        }));
}

void GroupActions::resend_letter(const AdminCall& call, AdminAnswer answer) {
    auto members = Members::parse(call.request.body);
    if (!members.ok()) return answer(error_of(members.error()));
    const auto hub = members->take_text("hub");
    const auto body = members->take_text("body");
    const auto remove = members->take_flag("remove");
    for (const auto* error :
         {hub.ok() ? nullptr : &hub.error(), body.ok() ? nullptr : &body.error(),
          remove.ok() ? nullptr : &remove.error()}) {
        if (error) return answer(error_of(*error));
    }
    if (const auto rest = members->check_empty(); !rest.ok()) {
        return answer(error_of(rest.error()));
    }
    const std::string to = hub->value_or(call.hub);
    if (!is_allowed({*call.claim}, Right::send, entity_of(to), loop_.clock().wall())) {
        return answer(http::error_response(
            403, "forbidden", "the token does not allow to send to '" + shown(to) + "'"));
    }
    Resending resending{call.hub,    call.group,       to, *body, remove->value_or(true),
                        *call.claim, call.request.peer};
    with_letter(call, std::move(answer),
                lifetime_.guard(
                    [this, resending = std::move(resending)](DeadLetter letter, AdminAnswer found) {
                        resend(resending, std::move(letter), std::move(found));
                    }));
}

void GroupActions::resend(const Resending& wanted, DeadLetter letter, AdminAnswer answer) {
    const auto hub = hubs_.find(wanted.to);
    if (!hub.ok()) return answer(error_of(hub.error()));
    // To its own partition in its own hub, so that it stays with its key; elsewhere by its key.
    const bool is_home = equal_without_case(wanted.hub, wanted.to);
    const auto partition = is_home ? (*hub)->route(letter.partition, "")
                                   : (*hub)->route(std::nullopt, letter.partition_key);
    if (!partition.ok()) return answer(error_of(partition.error()));
    const DeadLetterId id{letter.partition, letter.sequence};
    // Whoever wrote the letter into the store: it must not stop readers of the hub.
    const auto message = message_of(letter, wanted.body);
    if (!message.ok()) {
        return answer(
            error_of({message.error().code, fmt::format("dead letter {} cannot be stored again: {}",
                                                        to_string(id), message.error().detail)}));
    }
    const commitlog::NewEvent event{as_bytes(letter.partition_key), as_bytes(*message)};
    const Intake::Size size{1, message->size()};
    if (auto refusal = intake_.refuse(wanted.claim, wanted.from, wanted.to, size)) {
        return answer(std::move(*refusal));
    }
    (*hub)->append(*partition, {&event, 1},
                   lifetime_.guard([this, wanted, id, size, began = intake_.now(), to = *partition,
                                    answer = std::move(answer)](
                                       const Result<commitlog::Appended>& stored) mutable {
                       if (!stored.ok()) return answer(error_of(stored.error()));
                       intake_.note_stored(wanted.to, size, began);
                       JsonWriter json;
                       json.object([&] {
                           json.member("partition", to.value);
                           json.member("sequence_number", stored->first.value);
                       });
                       resent(wanted, id, written(std::move(json)), std::move(answer));
                   }));
}

// It is stored again: whether the letter could be removed changes nothing of that.
void GroupActions::resent(const Resending& wanted, const DeadLetterId& id, Response response,
                          AdminAnswer answer) {
    const auto* const group = dashboard_->groups().find(wanted.hub, wanted.group);
    if (!wanted.is_removed || !group) return answer(std::move(response));
    dashboard_->groups().with_store<void>(
        *group, [id](Store& store, auto done) { store.remove_dead_letter(id, std::move(done)); },
        lifetime_.guard([response = std::move(response), answer = std::move(answer)](
                            const Result<>&) mutable { answer(std::move(response)); }));
}

}  // namespace evenkeel::door
