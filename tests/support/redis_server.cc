#include "support/redis_server.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace evenkeel::test {
namespace {

constexpr const char* program = "/usr/bin/redis-server";
constexpr const char* client = "/usr/bin/redis-cli";

}  // namespace

std::unique_ptr<RedisServer> RedisServer::start(std::string& why,
                                                const std::vector<std::string>& options) {
    if (::access(program, X_OK) != 0) {
        why = "Redis is not installed (Debian: redis-server)";
        return nullptr;
    }
    std::unique_ptr<RedisServer> server(new RedisServer());
    server->options_ = options;
    for (int attempt = 0; attempt < 3; ++attempt) {  // the port may be taken meanwhile
        server->port_ = free_port();
        if (server->launch(why)) return server;
    }
    return nullptr;
}

std::string RedisServer::url(int database) const {
    return "redis://127.0.0.1:" + std::to_string(port_) + "/" + std::to_string(database);
}

std::string RedisServer::answer(const std::vector<std::string>& command) const {
    std::vector<std::string> words = {client, "-p", std::to_string(port_)};
    words.insert(words.end(), command.begin(), command.end());
    const std::string output = directory_.path() + "/cli.log";
    ServerProcess process(words, output, std::nullopt, SIGKILL);
    process.wait();
    return read_whole_file(output);
}

bool RedisServer::run(const std::vector<std::string>& command) const {
    const std::string said = answer(command);
    return said.find("ERR") == std::string::npos && said.find("Could not") == std::string::npos;
}

void RedisServer::kill() {
    process_->signal(SIGKILL);
    process_->wait();
    process_.reset();
}

bool RedisServer::start_again() {
    std::string ignored;
    return launch(ignored);
}

bool RedisServer::launch(std::string& why) {
    std::vector<std::string> command = {program,           "--port",      std::to_string(port_),
                                        "--bind",          "127.0.0.1",   "--dir",
                                        directory_.path(), "--save",      "",
                                        "--appendonly",    "yes",         "--appendfsync",
                                        "always",          "--daemonize", "no"};
    command.insert(command.end(), options_.begin(), options_.end());
    const std::string log = directory_.path() + "/server.log";
    process_ = std::make_unique<ServerProcess>(command, log, std::nullopt, SIGKILL);
    if (process_->wait_for_output("eady to accept")) return true;
    why = "Redis does not start: " + read_whole_file(log);
    process_.reset();
    return false;
}

}  // namespace evenkeel::test
