#pragma once

namespace evenkeel {

// For a unique_ptr to what a C library frees with a function of its own.
template <auto Free>
struct Freed {
    template <typename T>
    void operator()(T* held) const {
        Free(held);
    }
};

}  // namespace evenkeel
