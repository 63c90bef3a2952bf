#include "processor/pump/dead_letters.h"

namespace evenkeel::processor {

void HubDeadLetters::put(const checkpoint::DeadLetter& letter, Callback<void(Result<>)> done) {
    outlet_.send(forwarded(letter, origin_), letter.partition_key,
                 lifetime_.guard([this, letter, done = std::move(done)](Result<> sent) mutable {
                     if (!sent.ok() && sent.error().code == ErrorCode::invalid_argument) {
                         return stored_.put(letter, std::move(done));
                     }
                     done(std::move(sent));
                 }));
}

}  // namespace evenkeel::processor
