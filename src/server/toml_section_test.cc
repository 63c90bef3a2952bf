#include "server/toml_section.h"

#include <gtest/gtest.h>

namespace evenkeel::server {
namespace {

using std::chrono::milliseconds;

// The problems of a file that has the keys number, size, time, word, texts and flag.
std::string problems_of(std::string_view text) {
    auto file = TomlFile::parse(text, "f");
    if (!file.ok()) return file.error().detail;
    {
        TomlSection top(**file);
        std::uint32_t number = 0;
        std::uint64_t size = 0;
        milliseconds time{};
        std::vector<std::string> texts;
        bool flag = false;
        top.number("number", 1, 10, number);
        top.bytes("size", 0, 1 << 20, size);
        top.time("time", milliseconds(10), false, time);
        (void)top.choice("word", {"yes", "no"});
        top.texts("texts", texts);
        top.flag("flag", flag);
    }
    return (*file)->problems();
}

TEST(TomlSection, reads_values_and_keeps_defaults) {
    auto file = TomlFile::parse(
        "name = 'x'\n[a]\nsize = '64 KiB'\ntime = '2m'\nkept = 'forever'\n"
        "one = 'p'\nmany = ['q', 'r']\n[[b]]\nn = 1\n[[b]]\nn = 2\n",
        "f");
    ASSERT_TRUE(file.ok());
    std::string name, missing = "as it was";
    std::uint64_t size = 0;
    milliseconds time{}, kept{1};
    std::vector<std::string> one, many;
    std::vector<std::uint32_t> numbers;
    {
        TomlSection top(**file);
        top.text("name", name);
        top.text("missing", missing);
        TomlSection a = top.table("a");
        a.bytes("size", 0, 1 << 20, size);
        a.time("time", milliseconds(1), false, time);
        a.time("kept", milliseconds(1), true, kept);
        a.texts("one", one);
        a.texts("many", many);
        for (auto& b : top.tables("b")) b.number("n", 0, 9, numbers.emplace_back());
    }

    EXPECT_EQ((*file)->problems(), "");
    EXPECT_EQ(name, "x");
    EXPECT_EQ(missing, "as it was");
    EXPECT_EQ(size, 65536u);
    EXPECT_EQ(time, std::chrono::minutes(2));
    EXPECT_EQ(kept, milliseconds(0));
    EXPECT_EQ(one, std::vector<std::string>{"p"});
    EXPECT_EQ(many, (std::vector<std::string>{"q", "r"}));
    EXPECT_EQ(numbers, (std::vector<std::uint32_t>{1, 2}));
}

TEST(TomlSection, names_line_and_key_and_what_is_allowed) {
    EXPECT_EQ(problems_of("\nnumber = 11"), "f:2: number: must be a whole number from 1 to 10");
    EXPECT_EQ(problems_of("word = 'maybe'"),
              "f:1: word: must be one of \"yes\", \"no\", not 'maybe'");
    EXPECT_EQ(problems_of("flag = 'true'"), "f:1: flag: must be true or false");
    EXPECT_EQ(
        problems_of("nunber = 1"),
        "f:1: nunber: is not a known key, did you mean number?; valid keys: flag, number, size, "
        "texts, time, word");
}

TEST(TomlSection, reports_all_errors_in_file_order) {
    const std::string all = problems_of("size = '1MB'\nother = 1\ntime = '1ms'\ntexts = [1]\n");

    EXPECT_LT(all.find("f:1: size"), all.find("f:2: other"));
    EXPECT_LT(all.find("f:2: other"), all.find("f:3: time"));
    EXPECT_NE(all.find("f:4: texts"), std::string::npos) << all;
}

TEST(TomlSection, refuses_numbers_that_do_not_fit) {
    for (const auto* text :
         {"number = -1", "number = 1.5", "number = '5'", "number = 0", "size = -1", "size = '-1'",
          "size = '99999999999999999999'", "size = '9999999999GiB'", "size = 2000000",
          "size = 'MiB'", "time = 10", "time = '9999999999999999d'", "time = 'forever'",
          "time = '1.5s'", "time = ''"}) {
        EXPECT_NE(problems_of(text), "") << text;
    }
}

TEST(TomlSection, reports_the_position_of_a_syntax_error) {
    EXPECT_TRUE(problems_of("number = 1\nsize = \n").starts_with("f:2: not TOML: "));
    EXPECT_TRUE(problems_of("[a").starts_with("f:1: not TOML: "));
    EXPECT_TRUE(problems_of("a = 1\na = 2").starts_with("f:2: not TOML: "));
    EXPECT_NE(problems_of(std::string(100'000, '[')), "");
    EXPECT_NE(problems_of("a = " + std::string(100'000, '[')), "");
}

TEST(TomlSection, requires_tables) {
    auto file = TomlFile::parse("a = 1\nb = 2\nc = [1]\n", "f");
    ASSERT_TRUE(file.ok());
    {
        TomlSection top(**file);
        (void)top.table("a");
        (void)top.tables("b");
        (void)top.tables("c");
    }
    EXPECT_EQ((*file)->problems(),
              "f:1: a: must be a table: [a]\nf:2: b: must be tables: [[b]]\n"
              "f:3: c: must be tables: [[c]]");
}

}  // namespace
}  // namespace evenkeel::server
