// The process's memory as a whole.
#pragma once

namespace evenkeel {

// Gives to the system what was freed and the allocator keeps. Takes milliseconds, for all threads
// that allocate: for moments in which much was freed that is not needed again soon.
void release_freed_memory();

}  // namespace evenkeel
