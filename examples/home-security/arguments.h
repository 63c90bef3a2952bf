// The options of a program: "--name value", each with a default that the usage shows.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace homes {

class Arguments {
public:
    // `program` is what the usage calls it, `about` one sentence.
    Arguments(std::string program, std::string about);

    // What is in `to` is the default. `variable`: from the environment, where the list of processes
    // does not show it; "" for none.
    void add(const std::string& name, std::string& to, const std::string& help,
             const char* variable = "");
    void add(const std::string& name, std::uint32_t& to, const std::string& help);
    void add(const std::string& name, std::uint64_t& to, const std::string& help);
    // Must not be empty after parse().
    void require(const std::string& name) { required_.push_back(name); }

    // False if the program should end with exit code 2: stderr has what is wrong, and the usage.
    bool parse(int count, char** arguments);

private:
    struct Option {
        std::string name, help, shown_default;
        std::function<bool(const std::string&)> set;
        std::function<bool()> is_empty;
    };
    bool fail(const std::string& what) const;

    const std::string program_, about_;
    std::vector<Option> options_;
    std::vector<std::string> required_;
};

}  // namespace homes
