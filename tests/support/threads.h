// Threads that a test starts itself. At the end of their scope they are joined, also when the test
// fails before; work that takes a std::stop_token is asked to stop first. Declare them behind all
// that the work refers to.
#pragma once

#include <thread>
#include <utility>
#include <vector>

namespace evenkeel::test {

class Threads {
public:
    template <typename Work>
    explicit Threads(Work work) {
        start(std::move(work));
    }
    Threads() = default;

    template <typename Work>
    void start(Work work) {
        threads_.emplace_back(std::move(work));
    }
    void join() { threads_.clear(); }

private:
    std::vector<std::jthread> threads_;
};

}  // namespace evenkeel::test
