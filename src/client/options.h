// What a user says about a connection, as the connection wants it.
#pragma once

#include "base/result.h"
#include "client/connection.h"
#include <evenkeel/client.h>

namespace evenkeel::client {

// `invalid_argument` names what is malformed or missing; never with a key in it.
Result<ConnectionOptions> connection_options(const ClientOptions& options);

}  // namespace evenkeel::client
