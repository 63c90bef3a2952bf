// tidy: no test: tests/client tests it against a door
#include "client/runtime.h"

#include "base/promise.h"

namespace evenkeel::client {

Runtime::Runtime(ConnectionOptions options)
    : options_(std::move(options)),
      network_(std::make_unique<io::system::SystemNetwork>(loop_)),
      connection_(std::make_unique<Connection>(loop_, *network_, options_)) {
    loop_.start();
}

void Runtime::close() {
    if (is_closed_.exchange(true)) return;
    Promise<bool> stopped;
    loop_.post([&] { connection_->stop([&] { stopped.set(true); }); });
    stopped.wait();
}

Runtime::~Runtime() {
    close();
    loop_.stop();
    connection_.reset();
    network_.reset();
}

}  // namespace evenkeel::client
