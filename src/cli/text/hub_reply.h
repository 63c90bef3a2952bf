// What a hub says over AMQP, in the words of the commands. Ours says it as Azure Event Hubs does,
// so that the SDKs understand it; its sentences and numbers for a service's log help nobody here.
//
//   "The messaging entity 'sb://localhost/eh1' could not be found. TrackingId:9ab..., ..."
//   "event hub 'eh1' does not exist"
//
// Pure.
#pragma once

#include <string>
#include <string_view>

namespace evenkeel::cli {

// What is not known stays as it is.
std::string plain_reply(std::string_view text);

// The hub does not accept the key, or does not know its name; more rights would not help.
bool is_wrong_key(std::string_view text);

}  // namespace evenkeel::cli
