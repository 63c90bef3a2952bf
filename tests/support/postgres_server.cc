#include "support/postgres_server.h"

#include <filesystem>
#include <fstream>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace evenkeel::test {
namespace {

// Debian keeps them out of the way, by version.
std::string find_programs() {
    std::string best;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", ignored)) {
        const std::string folder = entry.path().string() + "/bin";
        if (::access((folder + "/initdb").c_str(), X_OK) == 0 && folder > best) best = folder;
    }
    return best;
}

bool succeeds(const std::vector<std::string>& command, const std::string& output_file) {
    ServerProcess process(command, output_file, unprivileged_user(), SIGKILL);
    const int status = process.wait();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::unique_ptr<PostgresServer> PostgresServer::start(std::string& why) {
    std::unique_ptr<PostgresServer> server(new PostgresServer());
    server->programs_ = find_programs();
    if (server->programs_.empty()) {
        why = "PostgreSQL is not installed (Debian: postgresql)";
        return nullptr;
    }
    const std::string& folder = server->directory_.path();
    if (const auto user = unprivileged_user()) {
        if (::chown(folder.c_str(), user->user, user->group) != 0) {
            why = "the server's folder cannot be given to another user";
            return nullptr;
        }
    } else if (::geteuid() == 0) {
        why = "PostgreSQL does not run as root, and there is no other user";
        return nullptr;
    }
    const std::string log = folder + "/initdb.log";
    if (!succeeds({server->programs_ + "/initdb", "-D", folder + "/data", "-A", "trust", "-U",
                   "evenkeel", "-E", "UTF8", "--locale=C", "--no-sync"},
                  log)) {
        why = "initdb failed: " + read_whole_file(log);
        return nullptr;
    }
    // The first line that fits a connection counts.
    const std::string rules = folder + "/data/pg_hba.conf";
    const std::string trusting = read_whole_file(rules);
    std::ofstream(rules) << "host all guarded 127.0.0.1/32 scram-sha-256\n" << trusting;
    for (int attempt = 0; attempt < 3; ++attempt) {  // the port may be taken meanwhile
        server->port_ = free_port();
        if (!server->launch(why)) continue;
        if (server->run("CREATE DATABASE test", "postgres")) return server;
        why = "the server does not make a database";
    }
    return nullptr;
}

std::string PostgresServer::url(const std::string& database) const {
    return "postgresql://evenkeel@127.0.0.1:" + std::to_string(port_) + "/" + database;
}

bool PostgresServer::run(const std::string& script, const std::string& database) const {
    return succeeds({programs_ + "/psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url(database),
                     "-c", script},
                    directory_.path() + "/psql.log");
}

void PostgresServer::kill() {
    process_->signal(SIGQUIT);  // its own way to crash; SIGKILL would leave shared memory behind
    process_->wait();
    process_.reset();
}

bool PostgresServer::start_again() {
    std::string ignored;
    return launch(ignored);
}

bool PostgresServer::launch(std::string& why) {
    const std::string log = directory_.path() + "/server.log";
    // No syncs: what is tested survives the server's crash, not the machine's.
    process_ = std::make_unique<ServerProcess>(
        std::vector<std::string>{programs_ + "/postgres", "-D", directory_.path() + "/data", "-p",
                                 std::to_string(port_), "-c", "listen_addresses=127.0.0.1", "-c",
                                 "unix_socket_directories=" + directory_.path(), "-c", "fsync=off",
                                 "-c", "max_connections=60", "-c", "autovacuum=off"},
        log, unprivileged_user(), SIGQUIT);
    if (process_->wait_for_output("database system is ready to accept connections")) return true;
    why = "PostgreSQL does not start: " + read_whole_file(log);
    process_.reset();
    return false;
}

}  // namespace evenkeel::test
