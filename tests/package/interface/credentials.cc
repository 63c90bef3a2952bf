// Tokens by a function of the program: the hub that is given refuses this one.
#include <chrono>
#include <stdexcept>
#include <string>

#include "package/interface/check.h"
#include <evenkeel/producer.h>

int main(int, char** arguments) {
    const auto now = std::chrono::system_clock::now();  // tidy: allow clock: users have no other
    const auto expires = now + std::chrono::hours(1);
    std::string asked_for;
    int calls = 0;
    const auto producer = evenkeel::Producer::open(
        {.connection = arguments[1],
         .credential = [&](const std::string& audience) -> evenkeel::Result<evenkeel::Token> {
             asked_for = audience;
             if (++calls == 1) throw std::runtime_error("no network yet");
             return evenkeel::Token{"eyJhbGciOiJub25lIn0.e30.", expires};
         }});
    check(asked_for.starts_with("sb://localhost/"), "it is asked for the event hub");
    check(calls == 2, "it is asked again after a failure, and not after a refusal");
    check(!producer.ok(), "a token that nobody signed is refused");
    check(producer.error().code == evenkeel::ErrorCode::not_allowed, "as not allowed");
    check(producer.error().detail.find("eyJhbGci") == std::string::npos, "no token in errors");
}
