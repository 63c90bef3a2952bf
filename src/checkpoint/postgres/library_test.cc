#include "checkpoint/postgres/library.h"

#include <gtest/gtest.h>

namespace evenkeel::checkpoint {
namespace {

TEST(PostgresLibrary, is_loaded_once_with_all_that_we_use) {
    const auto library = PostgresLibrary::load();
    if (!library.ok()) GTEST_SKIP() << to_string(library.error());
    EXPECT_EQ(*library, *PostgresLibrary::load());
    EXPECT_NE((*library)->connectStartParams, nullptr);
    EXPECT_NE((*library)->notifies, nullptr);
}

}  // namespace
}  // namespace evenkeel::checkpoint
