// Linked into programs labelled `single_threaded`, which the stage `tsan` leaves out: a thread in
// one of them ends the program.
#include <cstdio>
#include <cstdlib>

#include <pthread.h>

extern "C" int pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) noexcept {
    std::fputs("a program labelled single_threaded started a thread that tsan misses: ", stderr);
    std::fputs("remove the label, or list the test's file in THREAD_TESTS\n", stderr);
    std::abort();
}
