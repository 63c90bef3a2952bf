#include "door/auth/access.h"

#include <gtest/gtest.h>

#include "base/percent.h"
#include "door/auth/claim_fixture.h"
#include "eventhubs/address.h"
#include "eventhubs/names.h"
#include "eventhubs/sas.h"

namespace evenkeel::door {
namespace {

using namespace std::chrono_literals;

using eventhubs::make_sas, eventhubs::path_of, eventhubs::sas_signature, eventhubs::sas_word;

const Secret key("k3y=");
const Secret second("second");

AccessRules rules() {
    return AccessRules({{"root", "", key, second, {true, true, true}},
                        {"sender", "", Secret("s"), {}, {true, false, false}},
                        {"hub-rule", "eh1", Secret("h"), {}, {false, true, false}}});
}

Entity entity(std::string_view hub, std::string_view path) {
    return {eventhubs::folded(hub), path_of(path)};
}

TEST(Sas, is_good_with_either_key_used_as_it_is_written) {
    for (const Secret& each : {key, second}) {
        const auto claim =
            rules().check_sas(make_sas("sb://h/Eh1", "root", each, now + 1h), "h", now);

        ASSERT_TRUE(claim.ok());
        EXPECT_EQ(claim->path, "eh1");
        EXPECT_EQ(claim->expires, now + 1h);
    }
}

TEST(Sas, is_checked_over_the_characters_as_they_were_sent) {
    // The same URL with escapes in upper and lower case, signed each as it is.
    for (const std::string resource : {"sb%3A%2F%2Fh%2Feh1", "sb%3a%2f%2fh%2feh1", "sb://h/eh1"}) {
        const std::string expiry = std::to_string((now + 1h).milliseconds / 1000);
        const std::string sign = percent_encoded(sas_signature(resource + "\n" + expiry, key));

        const auto claim = rules().check_sas(
            "SharedAccessSignature se=" + expiry + "&skn=root&sr=" + resource + "&sig=" + sign, "h",
            now);

        ASSERT_TRUE(claim.ok()) << resource;
        EXPECT_EQ(claim->path, "eh1");
    }
}

TEST(Sas, of_a_wrong_key_name_or_signature_is_refused) {
    const std::string good = make_sas("sb://h/eh1", "root", key, now + 1h);

    EXPECT_EQ(
        begin_of(rules().check_sas(make_sas("sb://h", "root", Secret("x"), now + 1h), "h", now)),
        "InvalidSignature");
    EXPECT_EQ(begin_of(rules().check_sas(make_sas("sb://h", "nobody", key, now + 1h), "h", now)),
              "InvalidSignature");
    EXPECT_EQ(begin_of(rules().check_sas(make_sas("sb://h", "Root", key, now + 1h), "h", now)),
              "InvalidSignature");
    std::string longer = good;  // another time, the same signature
    longer.replace(longer.find("&se=") + 4, 1, "9");
    EXPECT_EQ(begin_of(rules().check_sas(longer, "h", now)), "InvalidSignature");
}

TEST(Sas, ends_when_it_says_so) {
    const std::string token = make_sas("sb://h/eh1", "root", key, now + 1s);

    EXPECT_TRUE(rules().check_sas(token, "h", now).ok());
    const auto claim = rules().check_sas(token, "h", now + 1s);
    ASSERT_FALSE(claim.ok());
    EXPECT_EQ(claim.error().detail,
              "ExpiredToken: The token is expired. Expiration time: 2026-01-01T00:00:01.000Z");
}

TEST(Sas, that_is_malformed_is_never_good_for_ever) {
    const auto with_expiry = [&](const std::string& expiry) {
        const std::string sign = percent_encoded(sas_signature("r\n" + expiry, key));
        return rules().check_sas(
            "SharedAccessSignature sr=r&sig=" + sign + "&se=" + expiry + "&skn=root", "h", now);
    };
    for (const char* const expiry : {"", "x", "-1", "9223372036854775808", "1.5", " 9999999999",
                                     "9999999999 ", "+9999999999", "9e9", "1152921504606846977"}) {
        EXPECT_EQ(begin_of(with_expiry(expiry)), "MalformedToken") << "'" << expiry << "'";
    }
    EXPECT_EQ(begin_of(rules().check_sas("", "h", now)), "MalformedToken");
    EXPECT_EQ(begin_of(rules().check_sas("Bearer x", "h", now)), "MalformedToken");
    EXPECT_EQ(begin_of(rules().check_sas("SharedAccessSignature ", "h", now)), "MalformedToken");
    EXPECT_EQ(begin_of(rules().check_sas("SharedAccessSignature &&==&sr&se", "h", now)),
              "MalformedToken");
    EXPECT_EQ(
        begin_of(rules().check_sas(
            make_sas("sb://h/eh1", "root", key, now + 1h) + "&sr=sb%3A%2F%2Fh%2Feh2", "h", now)),
        "MalformedToken");
    EXPECT_EQ(begin_of(rules().check_sas(make_sas(std::string(9000, 'x'), "root", key, now + 1h),
                                         "h", now)),
              "MalformedToken");
}

TEST(Sas, has_each_of_its_four_fields_once_and_nothing_else) {
    const std::string good = make_sas("sb://h/eh1", "root", key, now + 1h);
    const std::string fields = good.substr(sas_word.size());
    ASSERT_TRUE(rules().check_sas(good, "h", now).ok());

    for (const std::string& bad :
         {good + "&", good + "&x=1", good + "&x", good + "&=", good + "&sr=h", good + "&skn=root",
          std::string(sas_word) + "&" + fields, std::string(sas_word) + "x=1&" + fields,
          std::string(sas_word) + "SR=h&" + fields}) {
        EXPECT_EQ(begin_of(rules().check_sas(bad, "h", now)), "MalformedToken") << bad;
    }
}

TEST(Sas, has_no_zeros_in_front_of_its_time) {
    const std::string expiry = "0" + std::to_string((now + 1h).milliseconds / 1000);
    const std::string sign = percent_encoded(sas_signature("h\n" + expiry, key));

    EXPECT_EQ(
        begin_of(rules().check_sas(
            "SharedAccessSignature sr=h&sig=" + sign + "&se=" + expiry + "&skn=root", "h", now)),
        "MalformedToken");
}

TEST(Sas, names_its_host_with_and_without_a_scheme_and_a_port) {
    const std::vector<std::array<std::string_view, 3>> good = {
        {"a.b.net", "a.b.net", ""},
        {"a.b.net/", "a.b.net", ""},
        {"a.b.net/Eh1", "a.b.net", "eh1"},
        {"a.b.net:5671/eh1", "A.B.net", "eh1"},
        {"A.b.net/eh1", "a.b.net:5672", "eh1"},
        {"sb://a.b.net:1/eh1", "a.b.net:2", "eh1"},
        {"https://a.b.net./eh1", "a.b.net", "eh1"},
        {"127.0.0.1/eh1", "127.0.0.1:5672", "eh1"},
        {"[::1]:5671/eh1", "[::1]", "eh1"},
        {"eh1/eh1", "eh1", "eh1"}};
    for (const auto& [resource, host, path] : good) {
        const auto claim = rules().check_sas(make_sas(resource, "root", key, now + 1h), host, now);

        ASSERT_TRUE(claim.ok()) << resource << ": " << claim.error().detail;
        EXPECT_EQ(claim->path, path) << resource;
    }
}

TEST(Sas, of_another_host_is_refused) {
    const std::vector<std::array<std::string_view, 2>> bad = {{"sb://other.net/eh1", "a.b.net"},
                                                              {"other.net", "a.b.net"},
                                                              {"eh1", "a.b.net"},
                                                              {"a.b/eh1", "a.b.net"},
                                                              {"sb:///eh1", "a.b.net"},
                                                              {"/eh1", "a.b.net"},
                                                              {"sb://a.b.net@other/", "other"},
                                                              {"sb://a.b.net/", ""},
                                                              {"sb:///", ""}};
    for (const auto& [resource, host] : bad) {
        const auto claim = rules().check_sas(make_sas(resource, "root", key, now + 1h), host, now);

        EXPECT_EQ(begin_of(claim), "InvalidAudience") << resource;
    }
    EXPECT_EQ(rules()
                  .check_sas(make_sas("sb://other.net/eh1", "root", key, now + 1h), "a.b.net", now)
                  .error()
                  .detail,
              "InvalidAudience: The token's sr 'sb://other.net/eh1' is not on this connection's "
              "host, 'a.b.net'.");
}

TEST(Sas, of_a_hubs_rule_reaches_that_hub_only) {
    const Secret hub_key("h");
    const auto wide =
        rules().check_sas(make_sas("sb://h/", "hub-rule", hub_key, now + 1h), "h", now);
    const auto other =
        rules().check_sas(make_sas("sb://h/eh2", "hub-rule", hub_key, now + 1h), "h", now);

    ASSERT_TRUE(wide.ok());
    EXPECT_TRUE(is_allowed({*wide}, Right::listen, entity("eh1", "eh1/x"), now));
    EXPECT_FALSE(is_allowed({*wide}, Right::listen, entity("eh2", "eh2"), now));
    EXPECT_EQ(begin_of(other), "InvalidSignature");
}

TEST(Sas, of_one_hub_does_not_reach_a_hub_with_the_same_prefix) {
    const auto claim =
        rules().check_sas(make_sas("sb://h/eh1/b", "hub-rule", Secret("h"), now + 1h), "h", now);

    ASSERT_TRUE(claim.ok());
    EXPECT_FALSE(is_allowed({*claim}, Right::listen, entity("eh1/b", "eh1/b"), now));
}

// A prefix that is no whole name is not covered: "eh1" must not open "eh10".
TEST(Claims, cover_whole_names_only) {
    const Claim claim{"eh1", {true, true, true}, now + 1h};

    EXPECT_TRUE(is_allowed({claim}, Right::send, entity("eh1", "eh1"), now));
    EXPECT_TRUE(is_allowed({claim}, Right::send, entity("eh1", "eh1/partitions/0"), now));
    EXPECT_FALSE(is_allowed({claim}, Right::send, entity("eh10", "eh10"), now));
    EXPECT_FALSE(is_allowed({claim}, Right::send, entity("eh", "eh"), now));
    EXPECT_FALSE(is_allowed({claim}, Right::send, entity("", ""), now));
}

TEST(Claims, are_none_at_first_and_end_with_time) {
    const Claim claim{"", {true, false, false}, now + 1h};

    EXPECT_FALSE(is_allowed({}, Right::send, entity("eh1", "eh1"), now));
    EXPECT_FALSE(is_allowed({claim}, Right::send, entity("eh1", "eh1"), now + 1h));
    EXPECT_FALSE(is_allowed({claim}, Right::listen, entity("eh1", "eh1"), now));
    EXPECT_FALSE(is_allowed({claim}, Right::manage, entity("eh1", "eh1"), now));
}

TEST(Rules, take_a_name_and_a_key_instead_of_a_token) {
    EXPECT_TRUE(rules().check_key("root", "k3y=").ok());
    EXPECT_TRUE(rules().check_key("root", "second").ok());
    EXPECT_FALSE(rules().check_key("root", "k3y").ok());
    EXPECT_FALSE(rules().check_key("root", "").ok());
    EXPECT_FALSE(rules().check_key("sender", "k3y=").ok());
    EXPECT_EQ(rules().check_key("hub-rule", "h")->path, "eh1");
}

TEST(Rules, forget_claims_of_a_key_that_was_rotated_and_keep_the_other) {
    AccessRules all = rules();
    auto first = *all.check_sas(make_sas("sb://h", "root", key, now + 1h), "h", now);
    auto other = *all.check_sas(make_sas("sb://h", "root", second, now + 1h), "h", now);
    const auto before = all.generation();

    all.replace({{"root", "", Secret("new"), second, {false, true, false}}});

    EXPECT_NE(all.generation(), before);
    EXPECT_FALSE(all.refresh(first));
    EXPECT_TRUE(all.refresh(other));
    EXPECT_FALSE(other.rights.send);
    EXPECT_TRUE(other.rights.listen);
}

TEST(Rules, never_take_an_empty_key) {
    const AccessRules none({{"r", "", {}, {}, {true, true, true}}});

    EXPECT_FALSE(none.check_sas(make_sas("sb://h", "r", Secret(), now + 1h), "h", now).ok());
    EXPECT_FALSE(none.check_key("r", "").ok());
}

// AUTH-1: rule x token's fault x token's path x right x entity, against what the words above say.
TEST(Authorization, matrix_has_no_wrong_answer) {
    struct Faulty {
        const char* fault;
        bool good;
    };
    const std::vector<Rule> all = {{"all", "", Secret("1"), Secret("2"), {true, true, true}},
                                   {"send", "", Secret("3"), {}, {true, false, false}},
                                   {"listen", "", Secret("4"), {}, {false, true, false}},
                                   {"none", "", Secret("5"), {}, {false, false, false}},
                                   {"hub-all", "eh1", Secret("6"), {}, {true, true, true}},
                                   {"hub-send", "eh1", Secret("7"), {}, {true, false, false}},
                                   {"hub-ten", "eh10", Secret("8"), {}, {true, true, true}}};
    const AccessRules access(all);
    const std::vector<std::string> paths = {"",     "eh1", "EH1/", "eh1/partitions/0",
                                            "eh10", "eh2", "eh1/b"};
    const std::vector<std::pair<std::string, std::string>> entities = {
        {"eh1", "eh1"},
        {"eh1", "eh1/partitions/0"},
        {"eh1", "eh1/consumergroups/$default/partitions/0"},
        {"eh10", "eh10"},
        {"eh2", "eh2/partitions/1"},
        {"eh1/b", "eh1/b"}};
    const std::vector<Faulty> faults = {{"", true},      {"expired", false}, {"signature", false},
                                        {"name", false}, {"key", false},     {"cut", false}};
    const auto covered = [](std::string claim, const std::string& path) {
        claim = path_of(claim);
        return claim.empty() || path == claim || path.rfind(claim + "/", 0) == 0;
    };
    int combinations = 0;
    for (const auto& rule : all) {
        for (const auto& [fault, good] : faults) {
            for (const auto& path : paths) {
                const std::string_view kind = fault;
                std::string token =
                    make_sas("sb://h/" + path, kind == "name" ? "nobody" : rule.name,
                             kind == "key" ? Secret("wrong") : rule.primary,
                             kind == "expired" ? now - 1s : now + 1h);
                if (kind == "signature") token[token.find("&sig=") + 5] ^= 1;
                if (kind == "cut") token.resize(token.find("&se="));
                const auto claim = access.check_sas(token, "h", now);
                for (const auto& [hub, at] : entities) {
                    for (const Right right : {Right::send, Right::listen, Right::manage}) {
                        const bool has = right == Right::send     ? rule.rights.send
                                         : right == Right::listen ? rule.rights.listen
                                                                  : rule.rights.manage;
                        const bool in_hub = rule.hub.empty() || rule.hub == hub;
                        const bool expected = good && has && in_hub && covered(path, at);
                        const bool allowed =
                            claim.ok() && is_allowed({*claim}, right, {hub, at}, now);
                        EXPECT_EQ(allowed, expected) << rule.name << " fault '" << fault
                                                     << "' token '" << path << "' on " << at;
                        ++combinations;
                    }
                }
            }
        }
    }
    EXPECT_GE(combinations, 5000);
}

}  // namespace
}  // namespace evenkeel::door
