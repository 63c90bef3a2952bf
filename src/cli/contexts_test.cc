#include "cli/contexts.h"

#include <gtest/gtest.h>

namespace evenkeel::cli {
namespace {

TEST(Contexts, read_back_what_was_written) {
    Contexts contexts;
    contexts.current = "prod";
    contexts.all["prod"] = {"Endpoint=sb://h;SharedAccessKey=a\"\\b=\n\x01", "sqlite:/a b.db",
                            "https://h:8443", "/etc/ca.pem"};
    contexts.all["a.b_c-1"] = {"", "redis://:p\u00e4ss@h", "", ""};

    const auto read = parse_contexts(to_toml(contexts), "f");

    ASSERT_TRUE(read.ok()) << read.error().detail;
    EXPECT_EQ(read->current, "prod");
    ASSERT_EQ(read->all.size(), 2u);
    EXPECT_EQ(read->all.at("prod").hub, contexts.all["prod"].hub);
    EXPECT_EQ(read->all.at("prod").store, "sqlite:/a b.db");
    EXPECT_EQ(read->all.at("prod").url, "https://h:8443");
    EXPECT_EQ(read->all.at("prod").ca, "/etc/ca.pem");
    EXPECT_EQ(read->all.at("a.b_c-1").store, "redis://:p\u00e4ss@h");
}

TEST(Contexts, report_file_and_line_but_no_secret) {
    struct Case {
        const char* text;
        const char* expected;
    };
    for (const auto& [text, expected] : {
             Case{"current = \"a\"\n[[context]]\nname = \"a\"\nhub = \"s3cr", "f:4: not TOML"},
             Case{"[[context]]\nname = \"a\"\nhbu = \"s3cr\"\n", "f:3: "},
             Case{"[[context]]\nname = \"a\"\n", "f:2: "},
             Case{"[[context]]\nname = \"../a\"\nhub = \"s3cr\"\n", "f:2: "},
             Case{"[[context]]\nhub = \"s3cr\"\n", "f:1: "},
             Case{"[[context]]\nname = \"a\"\nhub = \"s3cr\"\n[[context]]\nname = \"a\"\nhub = "
                  "\"s3cr\"\n",
                  "f:5: "},
             Case{"[[context]]\nname = \"a\"\nhub = 7\n", "f:3: "},
             Case{"context = \"s3cr\"\n", "f:1: "},
             Case{"\xff\xfe", "f:1: "},
         }) {
        const auto read = parse_contexts(text, "f");

        ASSERT_FALSE(read.ok()) << text;
        EXPECT_EQ(read.error().code, ErrorCode::corrupt);
        EXPECT_NE(read.error().detail.find(expected), std::string::npos) << read.error().detail;
        EXPECT_EQ(read.error().detail.find("s3cr"), std::string::npos) << read.error().detail;
    }
    EXPECT_TRUE(parse_contexts("", "f").ok());
}

TEST(Contexts, have_names_that_a_shell_and_a_file_take) {
    for (const auto* const name : {"a", "prod", "prod.eu-1_b", "7"}) {
        EXPECT_TRUE(is_context_name(name)) << name;
    }
    for (const auto& name :
         {std::string(), std::string("-x"), std::string(".."), std::string("a/b"),
          std::string("a b"), std::string("\x1b"), std::string(65, 'a'), std::string("a\n")}) {
        EXPECT_FALSE(is_context_name(name)) << name;
    }
}

}  // namespace
}  // namespace evenkeel::cli
