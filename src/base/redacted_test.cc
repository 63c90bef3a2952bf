#include "base/redacted.h"

#include <gtest/gtest.h>

namespace evenkeel {
namespace {

TEST(WithoutSecrets, hides_passwords_in_addresses_of_stores) {
    EXPECT_EQ(without_secrets("postgresql://ada:s3cret@db/keel"), "postgresql://ada:***@db/keel");
    EXPECT_EQ(without_secrets("postgresql://db/keel?user=ada&password=s3cret&x=1"),
              "postgresql://db/keel?user=ada&password=***&x=1");
    EXPECT_EQ(without_secrets("azblob:AccountName=a;AccountKey=QUJD==;Container=c"),
              "azblob:AccountName=a;AccountKey=***;Container=c");
    EXPECT_EQ(without_secrets("sqlite:progress.db"), "sqlite:progress.db");
}

TEST(WithoutSecrets, hides_overlapping_spans_once) {
    EXPECT_EQ(without_secrets("SharedAccessSignature=sr=a&sig=AbC&se=1;x"),
              "SharedAccessSignature=***;x");
}

}  // namespace
}  // namespace evenkeel
