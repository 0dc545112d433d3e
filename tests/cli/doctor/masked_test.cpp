#include "cli/doctor/masked.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hpsearch::cli {
namespace {

TEST(Masked, LeavesNoSecret) {
  const char* texts[] = {
      "the token hps_abcdefgh_CANARYCANARYCANARY is known",
      "join hpi_CANARY-CANARY_1 now",
      "Authorization: Bearer CANARY",
      "authorization: basic CANARY==",
      "https://ann:CANARY@example.org/path",
      "password=CANARY",
      "export AWS_SECRET_ACCESS_KEY=CANARY",
      R"({"secret_key": "CANARY with blanks", "other": 1})",
      "api-key: 'CANARY'",
      "passphrase = CANARY",
      "mount -o username=ann,passwd=CANARY,rw",
      "key AKIACANARYCANARY1234",
      "-----BEGIN EC PRIVATE KEY-----\nCANARY\nCANARY\n-----END EC PRIVATE KEY-----",
  };
  for (const char* text : texts) {
    EXPECT_THAT(masked(text), testing::Not(testing::HasSubstr("CANARY"))) << text;
    EXPECT_THAT(masked(text), testing::HasSubstr("<masked>")) << text;
  }
}

TEST(Masked, KeepsTheRest) {
  const char* texts[] = {
      "hpsearchd --token-file /etc/hpsearch/token --tls-key /etc/tls.key",
      "tcp://10.0.0.1:8078",
      "https://example.org:8077/path",
      "curve.key (0640)",
      "3 tokens expire",
  };
  for (const char* text : texts) {
    EXPECT_EQ(masked(text), text);
  }
  EXPECT_EQ(masked("user=ann password=x host=y"), "user=ann password=<masked> host=y");
  EXPECT_EQ(masked("https://ann:x@example.org/"), "https://ann:<masked>@example.org/");
}

}  // namespace
}  // namespace hpsearch::cli
