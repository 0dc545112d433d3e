#include "hpsearch/jobs/fields/secrets.hpp"

#include <gtest/gtest.h>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::jobs {
namespace {

TEST(Secrets, KeysAndPasswordsAreHiddenAndNothingElseChanges) {
  const Value config = Value::Map{
      {"name", "secret_key"},
      {"checkpoint_storage", Value::Map{{"access_key", "AKIA"},
                                        {"bucket", "models"},
                                        {"secret_key", "s3cret"},
                                        {"connection_string", nullptr}}},
      {"environment",
       Value::Map{{"image", "a/b"}, {"registry_auth", Value::Map{{"password", "p"}, {"username", "u"}}}}}};
  EXPECT_EQ(
      compact_json(without_secrets(config)),
      R"({"checkpoint_storage":{"access_key":"********","bucket":"models","connection_string":null,"secret_key":"********"},)"
      R"("environment":{"image":"a/b","registry_auth":{"password":"********","username":"u"}},"name":"secret_key"})");
}

TEST(Secrets, ConfigurationWithoutSecretsIsUnchanged) {
  for (const Value& config :
       {Value(Value::Map{{"checkpoint_storage", "none"}, {"environment", 3}}), Value(), Value(7)}) {
    EXPECT_EQ(without_secrets(config), config);
  }
}

}  // namespace
}  // namespace hpsearch::jobs
