#include "io/system/turnstile.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace evenkeel::io::system {

Turnstile::~Turnstile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

bool Turnstile::try_enter() {
    if (descriptor_ < 0) descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) return true;
    return ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

void Turnstile::leave() {
    if (descriptor_ >= 0) ::flock(descriptor_, LOCK_UN);
}

}  // namespace evenkeel::io::system
