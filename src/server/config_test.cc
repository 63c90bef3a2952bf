#include "server/config.h"

#include <gtest/gtest.h>

#include "io/sim/disk.h"
#include "io/system/files.h"
#include "support/paths.h"

namespace evenkeel::server {
namespace {

Config good(const std::string& text) {
    auto parsed = parse_config(text, "f");
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().detail);
    return parsed.ok() ? parsed->config : Config{};
}

std::string wrong(const std::string& text) {
    auto parsed = parse_config("data = 'd'\n" + text, "f");
    return parsed.ok() ? "nothing" : parsed.error().detail;
}

TEST(Config, needs_only_the_data_folder) {
    const Config config = good("data = 'd'");

    const ServerOptions& server = config.server;
    EXPECT_EQ(server.hub.directory, "d");
    EXPECT_TRUE(server.hub.sync_to_disk);
    EXPECT_EQ(server.amqp, (std::vector<io::Endpoint>{{"127.0.0.1", 5672}}));
    EXPECT_EQ(server.http, (std::vector<io::Endpoint>{{"127.0.0.1", 8080}}));
    EXPECT_TRUE(server.amqps.empty());
    EXPECT_TRUE(server.https.empty());
    EXPECT_TRUE(server.rules.empty());
    EXPECT_TRUE(server.make_first_rule);
    EXPECT_FALSE(server.trust_this_host);
    EXPECT_FALSE(server.door.accept_any_token);
    EXPECT_EQ(parse_config("", "f").error().detail, "f:1: data: is missing: the data folder");
}

TEST(Config, reads_groups_to_watch) {
    const auto parsed = parse_config(
        "data = 'd'\n[[group]]\nhub = 'homes'\ngroup = 'billing'\nstore = 'sqlite:p.db'\n"
        "[[group]]\nhub = 'homes'\nstore = 'redis://h'\nnamespace = 'hub.example.org'\n",
        "/etc/keel/f.toml");
    ASSERT_TRUE(parsed.ok()) << parsed.error().detail;
    const auto& groups = parsed->config.server.groups.groups;
    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0], (dashboard::GroupWish{"homes", "billing", "sqlite:/etc/keel/p.db"}));
    EXPECT_EQ(groups[1],
              (dashboard::GroupWish{"homes", "$Default", "redis://h", "hub.example.org"}));
}

TEST(Config, refuses_groups_that_cannot_be_watched_without_their_secrets) {
    EXPECT_EQ(wrong("[[group]]\nhub = 'homes'\n"),
              "f:2: group[0].store: is missing; where the group keeps its progress, such as "
              "\"sqlite:progress.db\"");
    const std::string twice = wrong(
        "[[group]]\nhub = 'homes'\nstore = 'redis://:s3cret@h'\n"
        "[[group]]\nhub = 'Homes'\nstore = 'redis://:s3cret@h'\n");
    EXPECT_NE(twice.find("is already watched"), std::string::npos) << twice;
    EXPECT_EQ(twice.find("s3cret"), std::string::npos) << twice;
}

TEST(Config, reads_limits_of_unauthenticated_clients) {
    const Config config = good(
        "data = 'd'\n[limits]\nunauthenticated_max = 7\nconnections_per_address_max = 8\n"
        "open_time_max = '5s'\nlogin_time_max = '1m'");

    const auto& door = config.server.door;
    EXPECT_EQ(door.unauthenticated_max, 7u);
    EXPECT_EQ(door.connections_per_address_max, 8u);
    EXPECT_EQ(door.times.open, std::chrono::seconds(5));
    EXPECT_EQ(door.times.login, std::chrono::minutes(1));
    EXPECT_EQ(needs_restart(good("data = 'd'"), config),
              (std::vector<std::string>{"limits.unauthenticated_max",
                                        "limits.connections_per_address_max",
                                        "limits.open_time_max", "limits.login_time_max"}));
    EXPECT_NE(wrong("[limits]\nlogin_time_max = '0s'"), "nothing");
}

TEST(Config, reads_quotas_of_keys_and_event_hubs) {
    const Config config = good(
        "data = 'd'\n[[quota]]\nkey = 'App'\nevents_per_second = 5\nconnections_max = 2\n"
        "[[quota]]\nhub = 'Orders'\nbytes_per_second = '1MiB'\n"
        "[[quota]]\nkey = 'App'\nhub = 'Orders'\nevents_per_second = 1");

    EXPECT_EQ(config.server.door.quotas,
              (std::vector<door::QuotaOptions>{{"App", "", {.events_per_second = 5}, 2},
                                               {"", "orders", {.bytes_per_second = 1 << 20}},
                                               {"App", "orders", {.events_per_second = 1}}}));
    EXPECT_EQ(needs_restart(good("data = 'd'"), config), std::vector<std::string>{});
}

TEST(Config, says_what_is_wrong_with_a_quota_and_where) {
    EXPECT_EQ(wrong("[[quota]]\nevents_per_second = 5"),
              "f:2: quota[0].key: is missing, and so is hub; a quota applies to a key, to an event "
              "hub, or to a key on an event hub");
    EXPECT_EQ(wrong("[[quota]]\nkey = 'a'\nhub = 'b'\nconnections_max = 1"),
              "f:5: quota[0].connections_max: applies to a key or to an event hub, not to both");
    EXPECT_EQ(wrong("[[quota]]\nhub = 'b'\n[[quota]]\nhub = 'B'"),
              "f:5: quota[1].hub: already has a quota");
    for (const auto* bad :
         {"[[quota]]\nkey = 'a'\nevents_per_second = -1", "[[quota]]\nkey = ''",
          "[[quota]]\nkey = 'a'\nbytes_per_second = 'much'", "[[quota]]\nhub = '?'",
          "[[quota]]\nkey = 'a'\nconnections_max = 4294967296", "[[quota]]\nkey = 'a'\nevents = 1",
          "[quota]\nkey = 'a'"}) {
        EXPECT_TRUE(wrong(bad).starts_with("f:")) << bad << ": " << wrong(bad);
    }
}

TEST(Config, reads_allowed_host_names_and_origins) {
    const Config config = good(
        "data = 'd'\n[listen]\nnames = ['hub', '*.example.org']\norigins = 'https://console:1'");

    EXPECT_EQ(config.server.site.names, (std::vector<std::string>{"hub", "*.example.org"}));
    EXPECT_EQ(config.server.site.origins, std::vector<std::string>{"https://console:1"});
    EXPECT_EQ(wrong("[listen]\nnames = 'hub:80'"),
              "f:3: listen.names: 'hub:80' is not a host name such as \"hub.example.org\" or "
              "\"*.example.org\", without a port");
    EXPECT_EQ(wrong("[listen]\norigins = '*'"),
              "f:3: listen.origins: '*' is not an origin such as \"https://console.example.org\"");
}

TEST(Config, lists_valid_keys_for_an_unknown_key) {
    EXPECT_EQ(wrong("jtw = 1"),
              "f:2: jtw: is not a known key, did you mean jwt?; valid keys: data, durability, "
              "group, hub, jwt, "
              "limits, listen, log, quota, ready_file, rule, storage, throttle, tls");
    EXPECT_EQ(parse_config("data = 1", "f").error().detail,
              "f:1: data: must be a string in quotes, not a number");
    EXPECT_NE(parse_config("data = ''", "f").error().detail.find("is missing"), std::string::npos);
}

TEST(Config, example_is_valid_and_states_the_defaults) {
    io::system::SystemFiles files;
    const auto config = load_config(files, test::source_path("examples/evenkeel.toml"));

    ASSERT_TRUE(config.ok()) << config.error().detail;
    const ServerOptions plain;
    EXPECT_EQ(config->server.hub.event_bytes_max, plain.hub.event_bytes_max);
    EXPECT_EQ(config->server.hub.segment_bytes_max, plain.hub.segment_bytes_max);
    EXPECT_EQ(config->server.hub.event_hubs_max, plain.hub.event_hubs_max);
    EXPECT_EQ(config->server.hub.partitions_max, plain.hub.partitions_max);
    EXPECT_EQ(config->server.hub.groups_max, plain.hub.groups_max);
    EXPECT_EQ(config->server.hub.disk_threads, plain.hub.disk_threads);
    EXPECT_EQ(config->server.hub.retention_interval, plain.hub.retention_interval);
    EXPECT_EQ(config->server.door.connections_max, plain.door.connections_max);
    EXPECT_EQ(config->server.door.message_bytes_max, plain.door.message_bytes_max);
    ASSERT_EQ(config->server.event_hubs.size(), 1u);
    EXPECT_EQ(config->server.event_hubs[0].options.partitions, EventHubOptions{}.partitions);
    EXPECT_EQ(config->server.event_hubs[0].options.retention, EventHubOptions{}.retention);
    EXPECT_EQ(needs_restart(*config, good("data = '/var/lib/evenkeel'")),
              std::vector<std::string>{});
}

TEST(Config, has_an_example_whose_samples_are_known_keys) {
    io::system::SystemFiles files;
    const auto bytes = io::read_file(files, test::source_path("examples/evenkeel.toml"), 1 << 20);
    ASSERT_TRUE(bytes.ok());
    // With every "# key = value" and "# [table]" taken in.
    std::string text;
    std::string_view left = as_text(*bytes);
    int samples = 0;
    while (!left.empty()) {
        std::string_view line = left.substr(0, left.find('\n'));
        left.remove_prefix(std::min(left.size(), line.size() + 1));
        const bool is_sample =
            line.starts_with("# [") ||
            (line.starts_with("# ") && line.find(" = ") != std::string_view::npos);
        if (is_sample) line.remove_prefix(2);
        samples += is_sample ? 1 : 0;
        text += std::string(line) + "\n";
    }

    const auto parsed = parse_config(text, "f");

    EXPECT_GE(samples, 15);
    ASSERT_TRUE(parsed.ok()) << parsed.error().detail;
    EXPECT_EQ(parsed->config.server.amqps.size(), 2u);
    EXPECT_EQ(parsed->config.server.rules.at(0).name, "app");
    EXPECT_EQ(parsed->key_files.size(), 2u);
    EXPECT_TRUE(parsed->config.jwt.has_value());
}

TEST(Config, plain_listeners_for_others_must_be_allowed) {
    for (const std::string key : {"amqp", "http"}) {
        const std::string text = "[listen]\n" + key + " = '0.0.0.0:0'\n";
        const std::string problem = wrong(text);
        EXPECT_TRUE(problem.starts_with("f:3: listen." + key + ": 0.0.0.0:0 is reachable from"))
            << problem;
        EXPECT_NE(problem.find("plain_for_others = true"), std::string::npos) << problem;
        EXPECT_EQ(wrong(text + "plain_for_others = true"), "nothing");
    }
    EXPECT_EQ(wrong("[listen]\namqp = ['localhost:0', '[::1]:0', '127.0.0.2:1']"), "nothing");
}

TEST(Config, requires_a_certificate_for_tls_listeners) {
    EXPECT_NE(wrong("[listen]\namqps = '0.0.0.0:5671'").find("tls.certificate_file: is missing"),
              std::string::npos);
    EXPECT_NE(wrong("[tls]\ncertificate_file = 'c'").find("f:2: tls.key_file: is missing"),
              std::string::npos);
    EXPECT_NE(wrong("[listen]\namqp = []\nhttp = []").find("no client could connect"),
              std::string::npos);
    EXPECT_NE(wrong("[listen]\namqp = '5672'").find("'5672' is not ADDRESS:PORT"),
              std::string::npos);
}

TEST(Config, reads_rules_and_never_shows_a_key) {
    const std::string rule = "[[rule]]\nname = 'app'\nrights = 'Send'\n";
    const Config config = good("data = 'd'\n" + rule + "primary_key = 'top-secret'\nhub = 'EH1'");
    ASSERT_EQ(config.server.rules.size(), 1u);
    EXPECT_EQ(config.server.rules[0].primary.reveal(), "top-secret");
    EXPECT_EQ(config.server.rules[0].hub, "eh1");
    EXPECT_EQ(config.server.rules[0].rights, (door::Rights{.send = true}));

    EXPECT_NE(wrong(rule).find("rule[0].primary_key: is missing"), std::string::npos);
    for (const std::string bad :
         {"primary_key = 'top secret'", "primary_key = 'top;secret'", "primary_key = ['secret']",
          "primary_key = 'secret'\nprimary_key_file = 'f'", "primry_key = 'secret'"}) {
        const std::string problem = wrong(rule + bad);
        EXPECT_NE(problem.find("primary_key"), std::string::npos) << problem;
        EXPECT_EQ(problem.find("secret"), std::string::npos) << problem;
    }
    EXPECT_NE(wrong("[[rule]]\nname = 'a b'\nrights = ['Read']\nprimary_key = 'k'")
                  .find("'Read' is no right"),
              std::string::npos);
    const std::string one = rule + "primary_key = 'k'\n";
    EXPECT_NE(wrong(one + one).find("rule[1].name: is already used by another rule"),
              std::string::npos);
}

TEST(Config, reads_keys_from_files_beside_it) {
    io::sim::Disk disk;
    ASSERT_TRUE(disk.make_directory("etc").ok());
    const auto write = [&](const std::string& path, std::string_view text) {
        ASSERT_TRUE(io::replace_file(disk, path, as_bytes(text)).ok());
    };
    write("etc/f.toml",
          "data = 'd'\n[[rule]]\nname = 'app'\nrights = 'Send'\n"
          "primary_key_file = 'key'\n");
    EXPECT_EQ(load_config(disk, "etc/f.toml").error().code, ErrorCode::not_found);
    write("etc/key", "abc\n");

    const auto config = load_config(disk, "etc/f.toml");

    ASSERT_TRUE(config.ok()) << config.error().detail;
    EXPECT_EQ(config->server.rules[0].primary.reveal(), "abc");
    EXPECT_EQ(config->server.hub.directory, "etc/d");
    write("etc/key", "two words\n");
    const auto bad = load_config(disk, "etc/f.toml");
    EXPECT_TRUE(bad.error().detail.starts_with("etc/key: a key has")) << bad.error().detail;
    EXPECT_EQ(bad.error().detail.find("words"), std::string::npos);
    write("etc/key", "\n");
    EXPECT_EQ(load_config(disk, "etc/f.toml").error().detail, "etc/key: it is empty");
}

TEST(Config, reads_event_hubs_and_reports_errors) {
    const Config config = good(
        "data = 'd'\n[[hub]]\nname = 'a'\npartitions = 3\nretention = 'forever'\n"
        "groups = ['g']\n[[hub]]\nname = 'b'\nretention = '2d'");
    ASSERT_EQ(config.server.event_hubs.size(), 2u);
    EXPECT_EQ(config.server.event_hubs[0].options.partitions, 3u);
    EXPECT_EQ(config.server.event_hubs[0].options.retention.count(), 0);
    EXPECT_EQ(config.server.event_hubs[0].groups, std::vector<std::string>{"g"});
    EXPECT_EQ(config.server.event_hubs[1].options.retention, std::chrono::hours(48));

    for (const std::string bad :
         {"[[hub]]\n", "[[hub]]\nname = '../x'", "[[hub]]\nname = 'a'\npartitions = 0",
          "[[hub]]\nname = 'a'\npartitions = 2049", "[[hub]]\nname = 'a'\ngroups = ['/']",
          "[[hub]]\nname = 'a'\n[[hub]]\nname = 'A'", "[hub]\nname = 'a'",
          "[[hub]]\nname = 'a'\npartition = 1"}) {
        EXPECT_TRUE(wrong(bad).starts_with("f:")) << bad << ": " << wrong(bad);
    }
}

TEST(Config, requires_all_keys_of_an_identity_provider) {
    const std::string problem = wrong("[jwt]\nissuers = []\ndefault_rights = ['X']");
    for (const auto* key :
         {"jwt.issuers", "jwt.audiences", "jwt.key_set_file", "'X' is no right"}) {
        EXPECT_NE(problem.find(key), std::string::npos) << problem;
    }
}

TEST(Config, knows_what_needs_a_restart) {
    const Config before = good("data = 'd'");
    const Config after = good(
        "data = 'd'\ndurability = 'os'\n[listen]\namqp = '127.0.0.1:0'\n"
        "[throttle]\nevents_per_second = 5\n[log]\nlevel = 'debug'");

    EXPECT_EQ(needs_restart(before, before), std::vector<std::string>{});
    EXPECT_EQ(needs_restart(before, after),
              (std::vector<std::string>{"durability", "listen.amqp"}));
}

}  // namespace
}  // namespace evenkeel::server
