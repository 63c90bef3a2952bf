#include "cli/commands/deadletter_replay.h"

#include <fmt/core.h>

#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/text/amqp_value.h"
#include "cli/text/letter_view.h"
#include "eventhubs/forward.h"
#include "producer/batch_access.h"
#include <evenkeel/producer.h>

namespace evenkeel::cli {
namespace {

using checkpoint::DeadLetter;

class LetterReplay {
public:
    LetterReplay(LetterBox& box, Producer& producer, std::string event_hub,
                 std::uint32_t partitions, bool as_json)
        : box_(box),
          producer_(producer),
          event_hub_(std::move(event_hub)),
          partitions_(partitions),
          as_json_(as_json) {}

    Result<> replay(const DeadLetter& letter) {
        const std::string id = to_string(id_of(letter));
        const auto sent = send(letter);
        if (!sent.ok()) {
            const bool never = sent.error().code == ErrorCode::invalid_argument ||
                               sent.error().code == ErrorCode::corrupt;
            if (!never) return Error{sent.error().code, id + ": " + sent.error().detail};
            fail(fmt::format("dead letter {} cannot be sent, and stays", id), sent.error());
            ++refused;
            return {};
        }
        ++count;
        tell(id, *sent);
        const auto removed = box_.remove(letter);
        if (removed.ok()) return {};
        return Error{removed.error().code,
                     fmt::format("{} was sent, but not removed from the dead letters: {}", id,
                                 removed.error().detail)};
    }

    std::size_t count = 0;
    std::size_t refused = 0;

private:
    Result<SendReceipt> send(const DeadLetter& letter) {
        EK_TRY(event_of(letter).check());
        Route route;
        if (!letter.partition_key.empty()) {
            route.partition_key = letter.partition_key;
        } else if (letter.partition.value < partitions_) {
            route.partition = letter.partition.value;
        }
        EK_TRY_ASSIGN(auto batch, producer_.make_batch(route));
        const auto section =
            producer::BatchAccess::in_batch(eventhubs::without_hub_annotations(letter.sections));
        if (!producer::BatchAccess::try_add(batch, section)) {
            return Error{ErrorCode::invalid_argument,
                         fmt::format("it has {} bytes, and event hub '{}' accepts {}",
                                     section.size(), event_hub_, batch.bytes_max())};
        }
        return producer_.send_with_receipt(batch);
    }

    // A hub that is not ours does not say where it stored it.
    void tell(const std::string& id, const SendReceipt& receipt) const {
        const bool is_known = receipt.partition && receipt.first_sequence_number;
        if (as_json_) {
            fmt::print("{{\"id\":\"{}\",\"event_hub\":{}{}}}\n", id, json_quoted(event_hub_),
                       is_known ? fmt::format(",\"partition\":{},\"sequence_number\":{}",
                                              *receipt.partition, *receipt.first_sequence_number)
                                : "");
            return;
        }
        fmt::print("{} -> {}{}\n", id, printable(event_hub_),
                   is_known
                       ? fmt::format(" {}/{}", *receipt.partition, *receipt.first_sequence_number)
                       : "");
    }

    LetterBox& box_;
    Producer& producer_;
    const std::string event_hub_;
    const std::uint32_t partitions_;
    const bool as_json_;
};

}  // namespace

ExitCode replay_letters(LetterBox& box, const std::vector<checkpoint::DeadLetterId>& ids,
                        const Remote& remote, const std::string& event_hub, bool as_json) {
    Interrupt interrupt;
    const std::string what = fmt::format("nothing was replayed to event hub '{}'", event_hub);
    const auto contact = first_contact(remote, event_hub);
    if (!contact.ok()) return fail_remote(what, contact.error(), remote);
    const auto producer =
        Producer::open(client_options(remote, event_hub, "evenkeel deadletter", Patience::usual),
                       {.receipts = true});
    if (!producer.ok()) return fail_remote(what, producer.error(), remote);
    LetterReplay replay(box, **producer, event_hub, contact->partitions, as_json);
    const auto done = box.each(ids, [&](const DeadLetter& letter) -> Result<> {
        if (interrupt.wait(Duration(0))) return Error{ErrorCode::cancelled, "interrupted"};
        return replay.replay(letter);
    });
    const std::string text = fmt::format("{} to event hub '{}'",
                                         plural(replay.count, "dead letter"), printable(event_hub));
    if (!done.ok() && !interrupt.requested()) {
        const ExitCode code =
            fail_remote(replay.count == 0 ? what : "only replayed " + text, done.error(), remote,
                        "repeat the command: it goes on with those that are left");
        return replay.count == 0 ? code : ExitCode::partly_done;
    }
    fmt::print(stderr, "replayed {}, behind newer events of {}\n", text,
               replay.count == 1 ? "its partition" : "their partitions");
    if (interrupt.requested()) return ExitCode::interrupted;
    if (replay.refused == 0) return ExitCode::done;
    return replay.count == 0 ? ExitCode::failed : ExitCode::partly_done;
}

}  // namespace evenkeel::cli
