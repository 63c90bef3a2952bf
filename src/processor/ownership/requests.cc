#include "processor/ownership/requests.h"

#include <algorithm>

#include "base/number.h"
#include "processor/pump/retry.h"

namespace evenkeel::processor {

using checkpoint::Record;

std::string encode(const Paused& paused) {
    if (paused.all) return "all";
    std::string text;
    for (const std::uint32_t partition : paused.partitions) {
        text += (text.empty() ? "" : ",") + std::to_string(partition);
    }
    return text;
}

Paused decode_paused(std::string_view text) {
    Paused paused;
    paused.all = text == "all";
    while (!paused.all && !text.empty()) {
        const std::string_view word = text.substr(0, text.find(','));
        const auto partition = parse_number<std::uint32_t>(word);
        if (!partition) return {};
        paused.partitions.insert(*partition);
        text.remove_prefix(std::min(text.size(), word.size() + 1));
    }
    return paused;
}

std::string drain_key(std::string_view incarnation) {
    return std::string(drain_prefix) + std::string(incarnation);
}

Requests read_requests(const std::vector<Record>& records, std::string_view incarnation) {
    Requests requests;
    requests.store = read_store_signs(records);
    for (const Record& record : records) {
        if (record.key == pause_key) requests.paused = decode_paused(record.value);
        if (record.key == drain_key(incarnation)) requests.drain = record;
        if (const auto partition = partition_of_parked(record.key)) {
            requests.parked[*partition] = decode_parked(record.value);
        }
    }
    return requests;
}

RequestWatch::RequestWatch(io::Loop& loop, checkpoint::Store& store, std::string incarnation,
                           Duration period, Told told, Random random)
    : loop_(loop),
      store_(store),
      incarnation_(std::move(incarnation)),
      period_(period),
      told_(std::move(told)),
      random_(random) {}

void RequestWatch::stop() {
    lifetime_.end();
    timer_.cancel();
}

void RequestWatch::look() {
    store_.list_records(
        request_prefix, lifetime_.guard([this](const Result<std::vector<Record>>& listed) {
            if (!listed.ok()) {
                const Duration delay = std::min(restart_delay(++failures_, random_), period_);
                look_after(delay);
                return told_.failed(listed.error(), delay);
            }
            failures_ = 0;
            look_after(Duration(random_.between(period_.count() * 9 / 10, period_.count())));
            told_.seen(read_requests(*listed, incarnation_));
        }));
}

void RequestWatch::look_now() {
    if (!timer_.is_pending()) return;
    timer_.cancel();
    look();
}

void RequestWatch::look_after(Duration delay) {
    timer_.run_after(delay, [this] { look(); });
}

}  // namespace evenkeel::processor
