// SIGHUP: what is taken in while clients stay connected, and what a bad file changes: nothing.
#include <chrono>

#include <sys/stat.h>

#include "eventhubs/sas.h"
#include "io/tls.h"
#include "process/serve/serve_process.h"
#include <evenkeel/producer.h>

namespace evenkeel::serve {
namespace {

Result<std::unique_ptr<Producer>> encrypted_producer(const ServeProcess& server,
                                                     const std::string& ca_pem) {
    return Producer::open(ClientOptions{
        .connection = "Endpoint=sb://localhost:" + std::to_string(server.amqps_port) +
                      ";SharedAccessKeyName=root;SharedAccessKey=" + root_key + ";EntityPath=eh1",
        .retry = {.retries_max = 0},
        .tls_ca_pem = ca_pem});
}

class EncryptedServer {
public:
    EncryptedServer() {
        use(first);
        server = std::make_unique<ServeProcess>(
            ServeProcess::Wish{.extra = "[tls]\ncertificate_file = '" + folder.path() +
                                        "/cert.pem'\nkey_file = '" + folder.path() + "/key.pem'\n",
                               .listen = "amqps = '127.0.0.1:0'\n"});
    }
    void use(const io::TlsIdentity& identity) const {
        write_file(folder.path() + "/cert.pem", identity.certificate_pem);
        write_file(folder.path() + "/key.pem", identity.key_pem);
    }

    const io::TlsIdentity first = io::make_self_signed().value();
    const io::TlsIdentity second = io::make_self_signed().value();
    const test::TemporaryDirectory folder;
    std::unique_ptr<ServeProcess> server;
};

TEST(ServeReload, gives_new_clients_a_new_certificate) {
    EncryptedServer world;
    auto old_client = encrypted_producer(*world.server, world.first.certificate_pem);
    ASSERT_TRUE(old_client.ok()) << to_string(old_client.error());
    ASSERT_TRUE((*old_client)->send("one").ok());

    world.use(world.second);
    const std::string line = world.server->reload();

    EXPECT_EQ(member(line, "level"), "info") << line;
    EXPECT_TRUE((*old_client)->send("two").ok()) << "its connection goes on";
    EXPECT_FALSE(encrypted_producer(*world.server, world.first.certificate_pem).ok());
    const auto new_client = encrypted_producer(*world.server, world.second.certificate_pem);
    EXPECT_TRUE(new_client.ok()) << to_string(new_client.error());
}

// What a pipe in the place of a file does: opening it waits for a writer that never comes.
TEST(ServeReload, refuses_a_pipe_and_serves_signals_all_the_while) {
    EncryptedServer world;
    const std::string pipe = world.folder.path() + "/key.pem";
    ASSERT_EQ(::unlink(pipe.c_str()), 0);
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);

    for (int i = 0; i < 2; ++i) {
        const std::string line = world.server->reload();
        EXPECT_EQ(member(line, "level"), "error") << line;
        EXPECT_TRUE(has(line, pipe) && has(line, "not a regular file")) << line;
    }
    ASSERT_EQ(::unlink(pipe.c_str()), 0);
    world.use(world.second);
    EXPECT_EQ(member(world.server->reload(), "level"), "info");
    EXPECT_TRUE(encrypted_producer(*world.server, world.second.certificate_pem).ok());
    ASSERT_EQ(::unlink(pipe.c_str()), 0);
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    world.server->process().signal(SIGHUP);
    EXPECT_EQ(world.server->stop().code, 0);
}

TEST(ServeReload, refuses_a_pipe_as_configuration_key_file_and_key_set) {
    ServeProcess server;
    const std::string pipe = server.folder() + "/pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    for (const char* const extra :
         {"[[rule]]\nname = 'a'\nrights = 'Send'\nprimary_key_file = 'pipe'\n",
          "[jwt]\nissuers = 'i'\naudiences = 'a'\nkey_set_file = 'pipe'\n"}) {
        server.write_config(extra);
        const std::string line = server.reload();
        EXPECT_TRUE(has(line, "not a regular file")) << line;
    }
    ASSERT_EQ(::rename(pipe.c_str(), server.config_path().c_str()), 0);
    EXPECT_TRUE(has(server.reload(), "not a regular file"));
    EXPECT_EQ(server.stop().code, 0);
}

TEST(ServeReload, keeps_the_old_certificate_if_the_new_one_is_not_good) {
    EncryptedServer world;
    write_file(world.folder.path() + "/key.pem", world.second.key_pem);  // of another certificate

    const std::string line = world.server->reload();

    EXPECT_EQ(member(line, "level"), "error") << line;
    EXPECT_TRUE(has(line, "the previous one stays in effect")) << line;
    EXPECT_TRUE(encrypted_producer(*world.server, world.first.certificate_pem).ok());
}

TEST(ServeReload, changes_nothing_by_a_bad_file_and_says_what_is_wrong) {
    ServeProcess server;
    server.write_config("[throttle]\nevents_per_second = 1\n[log]\nlevl = 'debug'\n");

    const std::string line = server.reload();

    EXPECT_EQ(member(line, "level"), "error") << line;
    EXPECT_TRUE(has(member(line, "cause"), "evenkeel.toml:")) << line;
    auto producer = Producer::open(ClientOptions{.connection = server.connection(),
                                                 .retry = {.retries_max = 0}})
                        .value();
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(producer->send("x").ok()) << "no throttle";
    server.write_config("");
    EXPECT_EQ(member(server.reload(), "level"), "info") << "a good file is taken again";
}

TEST(ServeReload, leaves_an_audit_line_good_or_refused) {
    ServeProcess server;
    EXPECT_NE(server.reload(), "");
    EXPECT_TRUE(has(server.lines.at(server.lines.size() - 2), "\"did\":\"reload\""));
    EXPECT_TRUE(has(server.lines.at(server.lines.size() - 2), "\"result\":\"ok\""));

    server.write_config("not good");
    EXPECT_NE(server.reload(), "");

    EXPECT_TRUE(has(server.lines.at(server.lines.size() - 2), "\"did\":\"reload\""));
    EXPECT_TRUE(has(server.lines.at(server.lines.size() - 2), "\"result\":\"refused\""));
}

TEST(ServeReload, takes_in_quotas_of_keys_and_event_hubs) {
    ServeProcess server;
    const ClientOptions options{.connection = server.connection(), .retry = {.retries_max = 0}};
    auto producer = Producer::open(options).value();
    ASSERT_TRUE(producer->send("x").ok());
    server.write_config(
        "[[quota]]\nkey = 'root'\nconnections_max = 1\n"
        "[[quota]]\nhub = 'eh1'\nevents_per_second = 1\n");

    ASSERT_EQ(member(server.reload(), "level"), "info");

    const auto second = Producer::open(options);
    ASSERT_FALSE(second.ok());
    EXPECT_TRUE(has(second.error().detail, "The key 'root' has its 1 connections already"))
        << second.error().detail;
    auto batch = producer->make_batch().value();
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(batch.try_add("x"));
    ASSERT_TRUE(producer->send(batch).ok()) << "taken whole, and owed for 1000 s";
    const auto sent = producer->send("x");
    ASSERT_FALSE(sent.ok());
    EXPECT_EQ(sent.error().code, ErrorCode::overloaded);
    EXPECT_TRUE(has(sent.error().detail, "the event hub 'eh1' is being throttled"))
        << sent.error().detail;
    server.write_config("");
    ASSERT_EQ(member(server.reload(), "level"), "info");
    EXPECT_TRUE(producer->send("x").ok());
    EXPECT_TRUE(Producer::open(options).ok());
}

TEST(ServeReload, takes_in_rules_throttle_hubs_and_log_level) {
    ServeProcess server;
    auto producer = Producer::open(ClientOptions{.connection = server.connection(),
                                                 .retry = {.retries_max = 0}})
                        .value();
    ASSERT_TRUE(producer->send("x").ok());
    server.write_config(
        "[[hub]]\nname = 'more'\n[throttle]\nevents_per_second = 1\n"
        "[[rule]]\nname = 'app'\nrights = 'Listen'\nprimary_key = 'abc'\n"
        "[limits]\nconnections_max = 7\n");

    ASSERT_EQ(member(server.reload(), "level"), "info");

    EXPECT_TRUE(has(server.wait_for_line("need a restart"), "limits.connections_max"));
    EXPECT_EQ(server.ask("GET", "/api/v1/hubs/more").status, 200);
    EXPECT_EQ(http(server.http_port, "GET", "/api/v1/hubs",
                   eventhubs::make_sas("sb://localhost/", "app", Secret("abc"),
                                       SystemClock().wall() + std::chrono::hours(1)))
                  .status,
              200);
    bool busy = false;
    for (int i = 0; i < 20 && !busy; ++i) {
        const auto sent = producer->send("x");
        busy = !sent.ok() && sent.error().code == ErrorCode::overloaded;
    }
    EXPECT_TRUE(busy) << "one event a second";
}

}  // namespace
}  // namespace evenkeel::serve
