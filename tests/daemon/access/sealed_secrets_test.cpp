#include "daemon/access/sealed_secrets.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "daemon/daemon_fixture.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "messages.hpp"
#include "scratch.hpp"

namespace hpsearch::daemon {
namespace {

using engine::compact_json;
using engine::Value;

Value config_with(const std::string& secret) {
  return Value::Map{
      {"name", secret.empty() ? "x" : "named"},
      {"checkpoint_storage", Value::Map{{"type", "s3"}, {"access_key", "AKIA"}, {"secret_key", secret}}},
      {"environment", Value::Map{{"environment_variables", Value::Map{{"API.KEY", secret}, {"N", "1"}}}}}};
}

class SealedSecretsTest : public testing::Test {
 protected:
  [[nodiscard]] SealedSecrets in_folder() const {
    auto secrets = SealedSecrets::in(folder_.path().string());
    EXPECT_TRUE(secrets) << secrets.error().message;
    return *secrets;
  }
  Scratch folder_;
};

TEST_F(SealedSecretsTest, OpenUnchangedAndRevealNothing) {
  for (const std::string& secret :
       {std::string("hunter2"), std::string(), std::string(100'000, 'x'), std::string("\x01\xff two\nlines"),
        std::string("sealed:"), std::string("\0\0", 2)}) {
    const SealedSecrets secrets = in_folder();
    const Value sealed = secrets.seal(config_with(secret));
    if (secret.size() > 2 && secret != "sealed:") {
      EXPECT_EQ(compact_json(sealed).find(secret), std::string::npos);
    }
    EXPECT_NE(*sealed.at_path("checkpoint_storage.access_key")->as_text(), "AKIA");
    EXPECT_NE(*sealed.at_path("environment.environment_variables")->as_map()->find("N")->as_text(), "1");
    const auto opened = secrets.open(sealed);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(*opened, config_with(secret));
  }
}

TEST_F(SealedSecretsTest, SameSecretIsSealedTheSameWayAfterARestart) {
  const Value sealed = in_folder().seal(config_with("hunter2"));
  EXPECT_EQ(in_folder().seal(config_with("hunter2")), sealed)
      << "a repeated submission is compared with the first one";
  EXPECT_FALSE(in_folder().seal(config_with("hunter3")) == sealed);
}

TEST_F(SealedSecretsTest, TwoFieldsOfTheSameSecretDiffer) {
  const Value sealed = in_folder().seal(config_with("hunter2"));
  EXPECT_NE(*sealed.at_path("checkpoint_storage.secret_key")->as_text(),
            *sealed.at_path("environment.environment_variables")->as_map()->find("API.KEY")->as_text());
}

TEST_F(SealedSecretsTest, OpenOnlyInTheirOwnField) {
  const SealedSecrets secrets = in_folder();
  Value sealed = secrets.seal(config_with("hunter2"));
  Value::Map& variables =
      *sealed.as_map()->find("environment")->as_map()->find("environment_variables")->as_map();
  variables["PRINTED"] = *variables.find("API.KEY");
  const auto opened = secrets.open(sealed);
  ASSERT_FALSE(opened) << "who moves a secret to a variable that he prints must not read it";
  EXPECT_NE(opened.error().message.find("environment.environment_variables.PRINTED"), std::string::npos)
      << opened.error().message;
}

TEST_F(SealedSecretsTest, AnotherKeyOrAChangedTextIsRefused) {
  const SealedSecrets secrets = in_folder();
  const Value sealed = secrets.seal(config_with("hunter2"));
  std::array<unsigned char, SealedSecrets::key_bytes> other{};
  const auto by_another = SealedSecrets(other).open(sealed);
  ASSERT_FALSE(by_another);
  EXPECT_NE(by_another.error().message.find("secrets.key"), std::string::npos);
  std::string text = *sealed.at_path("checkpoint_storage.secret_key")->as_text();
  for (std::size_t at = 0; at < text.size(); ++at) {
    Value changed = sealed;
    std::string other_text = text;
    other_text[at] = other_text[at] == 'A' ? 'B' : 'A';
    (*changed.as_map()->find("checkpoint_storage")->as_map())["secret_key"] = other_text;
    EXPECT_FALSE(secrets.open(changed)) << other_text;
  }
  EXPECT_FALSE(secrets.open(config_with("never sealed")));
}

TEST_F(SealedSecretsTest, InvalidKeyFileIsRefused) {
  static_cast<void>(in_folder());
  const std::string path = folder_.path("secrets.key");
  EXPECT_EQ(text_of(path).size(), 32U);
  struct stat found {};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  EXPECT_FALSE(SealedSecrets::in(folder_.path().string())) << "others may read it";
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  write_text(path, "short");
  const auto secrets = SealedSecrets::in(folder_.path().string());
  ASSERT_FALSE(secrets);
  EXPECT_NE(secrets.error().message.find(path), std::string::npos);
}

TEST_F(SealedSecretsTest, MissingKeyOfStoredSecretsIsNotReplaced) {
  const auto refused = SealedSecrets::in(folder_.path().string(), SealedSecrets::Missing::refused);
  ASSERT_FALSE(refused);
  EXPECT_MESSAGE(refused.error().message);
  EXPECT_FALSE(std::filesystem::exists(folder_.path("secrets.key")));
  EXPECT_TRUE(SealedSecrets::are_in(in_folder().seal(config_with("hunter2"))));
  EXPECT_FALSE(SealedSecrets::are_in(config_with("hunter2")));
}

TEST_F(SealedSecretsTest, CopiesFromAnswersAreNamed) {
  EXPECT_TRUE(secrets_copied_from_answers(config_with("hunter2")).empty());
  EXPECT_EQ(secrets_copied_from_answers(config_with("********")).size(), 2U);
  EXPECT_EQ(secrets_copied_from_answers(config_with("<hidden>")).size(), 2U);
  const engine::Problems problems = secrets_copied_from_answers(in_folder().seal(config_with("hunter2")));
  ASSERT_EQ(problems.size(), 4U);
  EXPECT_EQ(problems.front().path, "checkpoint_storage.access_key");
}

constexpr const char* canary = "canary-7f3a";

std::string submission_with(const std::string& value) {
  Value config = small_search(1);
  (*config.as_map())["max_restarts"] = 0;
  (*config.as_map())["environment"] = Value::Map{{"environment_variables", Value::Map{{"API_KEY", value}}}};
  (*config.as_map())["checkpoint_storage"] =
      Value::Map{{"type", "s3"}, {"bucket", "b"}, {"access_key", "a"}, {"secret_key", value}};
  return compact_json(Value::Map{{"config", config}});
}

class SecretsOfADaemon : public SealedSecretsTest {
 protected:
  SecretsOfADaemon() : secrets_(in_folder()) {
    daemon_.secrets = &secrets_;
    daemon_.restart();
  }
  SealedSecrets secrets_;
  DaemonFixture daemon_;
};

TEST_F(SecretsOfADaemon, AreInNoAnswerButReachTheWorker) {
  const auto made = daemon_.ask("POST", "/api/v1/experiments", submission_with(canary));
  ASSERT_EQ(made.status, 201U) << made.text;
  ScriptedWorker worker(daemon_);
  worker.join();
  const auto lease = worker.wait_for<proto::Lease>();
  EXPECT_EQ(lease.spec.environment_variables.at("API_KEY"), canary);
  EXPECT_EQ(lease.spec.storage_environment.at("RCLONE_CONFIG_HPSEARCH_SECRET_ACCESS_KEY"), canary);
  worker.send(proto::Started{lease.spec.key});
  for (const char* target :
       {"/api/v1/events", "/api/v1/experiments", "/api/v1/experiments/1", "/api/v1/experiments/1/config",
        "/api/v1/experiments/1/trials", "/api/v1/experiments/1/trials/0",
        "/api/v1/experiments/1/trials/0/explain", "/api/v1/workers", "/api/v1/status"}) {
    const auto answer = daemon_.ask("GET", target);
    EXPECT_EQ(answer.status, 200U) << target << answer.text;
    EXPECT_EQ(answer.text.find(canary), std::string::npos) << target << answer.text;
  }
  const auto config = daemon_.ask("GET", "/api/v1/experiments/1/config");
  EXPECT_EQ(config.at("environment.environment_variables.API_KEY"), "\"********\"");
}

TEST_F(SecretsOfADaemon, ARepeatedSubmissionIsTheSameExperiment) {
  const net::HttpHeaders key{{"Idempotency-Key", "k"}};
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments", submission_with(canary), key).at("experiment"), "1");
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments", submission_with(canary), key).at("experiment"), "1");
  const auto other = daemon_.ask("POST", "/api/v1/experiments", submission_with("swordfish"), key);
  EXPECT_EQ(other.status, 422U);
  EXPECT_EQ(other.text.find("swordfish"), std::string::npos)
      << "the difference must not be visible: " << other.text;
  EXPECT_EQ(other.text.find(canary), std::string::npos) << other.text;
}

TEST_F(SecretsOfADaemon, CopyFromAnAnswerIsRefused) {
  const auto refused = daemon_.ask("POST", "/api/v1/experiments", submission_with("********"));
  EXPECT_EQ(refused.status, 400U) << refused.text;
  EXPECT_NE(refused.text.find("environment.environment_variables.API_KEY"), std::string::npos)
      << refused.text;
  EXPECT_EQ(daemon_.ask("POST", "/api/v1/experiments", submission_with("sealed:AAAA")).status, 400U);
}

TEST_F(SecretsOfADaemon, WithAnotherKeyTheTrialFailsWithTheReason) {
  ASSERT_EQ(daemon_.ask("POST", "/api/v1/experiments", submission_with(canary)).status, 201U);
  const SealedSecrets other(std::array<unsigned char, SealedSecrets::key_bytes>{});
  daemon_.secrets = &other;
  daemon_.restart();
  ScriptedWorker worker(daemon_);
  worker.join();
  daemon_.pump_until([&] {
    const auto& trials = daemon_.runtime->engine().find(engine::ExperimentId(1))->trials;
    return trials.size() > 0 && trials[0].state == engine::TrialState::failed;
  });
  const auto trial = daemon_.ask("GET", "/api/v1/experiments/1/trials/0");
  EXPECT_NE(trial.text.find("secrets.key"), std::string::npos) << trial.text;
  EXPECT_TRUE(worker.all<proto::Lease>().empty());
}

}  // namespace
}  // namespace hpsearch::daemon
