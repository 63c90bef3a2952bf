#include "base/memory.h"

#include <malloc.h>

namespace evenkeel {

void release_freed_memory() {
    malloc_trim(0);
}

}  // namespace evenkeel
