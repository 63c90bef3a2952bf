#include "processor/options.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"

namespace evenkeel::processor {
namespace {

// For the receivers to look, and for the last checkpoints and transfers to be stored.
constexpr std::chrono::seconds hand_over_margin{10};

Error wrong(std::string_view option, std::string_view should_be) {
    return {ErrorCode::invalid_argument, fmt::format("{}: {}", option, should_be)};
}

}  // namespace

Result<> check(const ProcessorOptions& options) {
    if (options.hub.empty() && !options.hub_here) {
        return wrong("hub", "name one: a connection string, amqp://... or embedded:FOLDER/HUB");
    }
    if (options.hub_here && !options.hub.empty()) {
        return wrong("hub_here", "there is a hub too; give one of them");
    }
    if (options.hub_here && options.event_hub.empty()) {
        return wrong("event_hub", "name the one to read");
    }
    if (options.group.empty()) return wrong("group", "name a consumer group, such as $Default");
    if (options.own_store && !options.store.empty()) {
        return wrong("own_store", "there is a store too; give one of them");
    }
    if (options.store.empty() && !options.own_store) {
        return wrong("store",
                     "name one: sqlite:FILE, postgresql://HOST/DATABASE, redis://HOST, azblob:..., "
                     "or memory: within one "
                     "process");
    }
    if (options.batch_events_max == 0) return wrong("batch_events_max", "1 or more");
    if (options.batch_events_min > options.batch_events_max) {
        return wrong("batch_events_min", "at most batch_events_max");
    }
    if (options.batch_events_min > 1 && options.max_wait.count() <= 0) {
        return wrong("max_wait", "say how long to wait for batch_events_min events");
    }
    if (options.prefetch_events == 0) return wrong("prefetch_events", "1 or more");
    if (options.prefetch_bytes == 0) return wrong("prefetch_bytes", "1 or more");
    if (options.retry.attempts_max == 0) return wrong("retry.attempts_max", "1 or more");
    if (options.retry.delay.count() < 0 || options.retry.delay_max < options.retry.delay) {
        return wrong("retry.delay_max", "at least retry.delay, which is 0 or more");
    }
    if (options.drain_max.count() <= 0) return wrong("drain_max", "more than 0");
    const bool is_automatic = !options.checkpoints.manual;
    if (!is_automatic && options.delivery != Delivery::at_least_once) {
        return wrong("checkpoints.manual",
                     "goes with at_least_once only; the others store each batch by themselves");
    }
    if (is_automatic && options.checkpoints.every_events == 0 &&
        options.checkpoints.every.count() == 0) {
        return wrong("checkpoints", "set every_events or every, or manual");
    }
    return {};
}

Result<> check_store(const ProcessorOptions& options, checkpoint::Store& store) {
    if (options.delivery == Delivery::exactly_once && !store.transactions()) {
        const std::string kind = options.store.substr(0, options.store.find(':'));
        return wrong("delivery", fmt::format("exactly_once needs a store with transactions, such "
                                             "as sqlite:FILE; '{}' has none",
                                             options.own_store ? "own_store" : kind));
    }
    return {};
}

Result<> check_letters(const ProcessorOptions& options, const source::Name& read) {
    if (!equal_without_case(options.dead_letter_hub, read.event_hub)) return {};
    return wrong("dead_letter_hub",
                 fmt::format("'{}' is the event hub that is read: its dead letters would come "
                             "round for ever; name another",
                             read.event_hub));
}

source::OutletOptions letter_options(const ProcessorOptions& options, Hub* hub_here) {
    source::OutletOptions result;
    const std::string& to = options.dead_letter_hub;
    const bool is_address = to.find("://") != std::string::npos;
    result.client = source_options(options).client;
    result.client.connection = is_address ? to : options.hub;
    if (is_address) result.client.credential = {};  // it has a key of its own
    result.client.name = "evenkeel dead letters";
    result.client.retry.retries_max = 1;  // the pump tries again, and tells
    if (!is_address) result.event_hub = to;
    if (!is_address) result.embedded = hub_here;
    return result;
}

source::OpenOptions source_options(const ProcessorOptions& options) {
    source::OpenOptions result;
    result.hub = options.hub_here ? options.event_hub : options.hub;
    result.embedded = options.hub_here;
    result.group = options.group;
    result.client.event_hub = options.event_hub;
    result.client.name = "evenkeel processor";
    result.client.credential = options.credential;
    result.client.tls_ca_pem = options.tls_ca_pem;
    result.client.tls_verify = options.tls_verify;
    // The pump goes on trying for ever; it hears of changes soon, and looks often.
    result.client.retry.retries_max = 5;
    result.client.retry.delay_max = std::chrono::milliseconds(2000);
    result.client.retry.try_timeout = std::chrono::milliseconds(15'000);
    return result;
}

CoordinatorOptions coordination(const ProcessorOptions& options, checkpoint::Pace pace,
                                std::string incarnation, const std::string& note) {
    CoordinatorOptions result;
    result.id = options.id;
    result.incarnation = std::move(incarnation);
    result.strategy = options.strategy;
    const bool is_thrifty = pace == checkpoint::Pace::thrifty;
    result.may_be_mixed = is_thrifty;
    result.timing = options.profile == Profile::fast ? fast_timing()
                    : is_thrifty                     ? thrifty_timing()
                                                     : standard_timing();
    result.note = note_with_profile(note, options.profile == Profile::fast ? "fast"
                                          : is_thrifty                     ? "thrifty"
                                                                           : "standard");
    // Whoever leaves waits for its handlers as long as it may, and hands over after that.
    result.timing.leave_max =
        std::max<Duration>(result.timing.leave_max, options.drain_max + hand_over_margin);
    return result;
}

std::string to_text(const Failure& failure) {
    std::string text;
    if (failure.partition) text = fmt::format("partition {}: ", *failure.partition);
    text += fmt::format("{}: {}", failure.operation, to_string(failure.error));
    if (failure.is_retried) text += fmt::format("; again in {} ms", failure.retried_in.count());
    return text;
}

}  // namespace evenkeel::processor
