#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "daemon/daemon_fixture.hpp"
#include "daemon/submission/file_without_secrets.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/jobs/yaml/read_text.hpp"

// The experiment file as its user wrote it, without its secrets, and the state of its Git checkout.

namespace hpsearch::daemon {
namespace {

using engine::Value;

const std::string canary = "canary-5f1c93d2";

Value tree_of(const std::string& text) {
  const yaml::ReadText read = yaml::read_experiment_text(text);
  EXPECT_TRUE(read.tree && read.problems.empty()) << text;
  return read.tree.value_or(Value());
}

/// The file as it is kept if its configuration is what the text says; "" if it is not kept.
std::string kept(const std::string& text) {
  return file_without_secrets(text, tree_of(text)).text.value_or("");
}

std::string why_not(const std::string& text) {
  return file_without_secrets(text, tree_of(text)).why_not;
}

TEST(FileWithoutSecrets, KeepsEveryByteButTheSecrets) {
  EXPECT_EQ(kept("# As Ann wants it: canary-5f1c93d2\r\n"
                 "name:   digits\r\n"
                 "environment:\n"
                 "  environment_variables:\n"
                 "    API_KEY: canary-5f1c93d2   # A note\n"
                 "    BELOW:\n"
                 "      canary-77ab04e1\n"
                 "    N: 4\n"
                 "    QUOTED: 'it''s'\n"
                 "    ESCAPED: \"a\\\"b\"\n"
                 "    SILENT: \"true\"\n"
                 "checkpoint_storage: {type: s3, access_key: AKIA, secret_key: 8_675_309}\n"
                 "max_restarts: 4\n"
                 "debug: true\n"
                 "description: see https://canary-5f1c93d2@host/AKIA and 8_675_309\n"),
            "# As Ann wants it: <hidden>\r\n"
            "name:   digits\r\n"
            "environment:\n"
            "  environment_variables:\n"
            "    API_KEY: <hidden>   # A note\n"
            "    BELOW:\n"
            "      <hidden>\n"
            "    N: <hidden>\n"
            "    QUOTED: '<hidden>'\n"
            "    ESCAPED: \"<hidden>\"\n"
            "    SILENT: \"<hidden>\"\n"
            "checkpoint_storage: {type: s3, access_key: <hidden>, secret_key: <hidden>}\n"
            "max_restarts: 4\n"
            "debug: true\n"
            "description: see https://<hidden>@host/<hidden> and <hidden>\n");
}

TEST(FileWithoutSecrets, HideVariablesInEveryForm) {
  EXPECT_EQ(kept("environment: {environment_variables: [A=canary-5f1c93d2, \"B=x y\", C=]}\n"),
            "environment: {environment_variables: [A=<hidden>, \"B=<hidden>\", C=]}\n");
  EXPECT_EQ(kept("environment:\n  environment_variables:\n    cpu: [A=1]\n    cuda:\n      - A=1\n"),
            "environment:\n  environment_variables:\n    cpu: [A=<hidden>]\n    cuda:\n      - A=<hidden>\n");
  EXPECT_EQ(kept("{\"environment\": {\"environment_variables\": {\"K\": \"c\\u0061nary-5f1c93d2\"}}}"),
            "{\"environment\": {\"environment_variables\": {\"K\": \"<hidden>\"}}}");
  EXPECT_EQ(kept("environment:\n  environment_variables: {A: &key canary-5f1c93d2, B: *key}\n"),
            "environment:\n  environment_variables: {A: &key <hidden>, B: *key}\n");
}

TEST(FileWithoutSecrets, LongerSecretMayBeginWithAShorterOne) {
  EXPECT_EQ(
      kept("environment: {environment_variables: {A: canary-5f, B: canary-5f1c93d2}}\n# canary-5f1c93d2\n"),
      "environment: {environment_variables: {A: <hidden>, B: <hidden>}}\n# <hidden>\n");
}

TEST(FileWithoutSecrets, ShortSecretIsHiddenAsAWord) {
  EXPECT_EQ(
      kept("environment: {environment_variables: {A: cuda}}\nname: cudann\ndescription: on cuda-1\n"),
      "environment: {environment_variables: {A: <hidden>}}\nname: cudann\ndescription: on <hidden>-1\n");
}

TEST(FileWithoutSecrets, SecretsOfTheConfigurationAreHiddenToo) {
  const std::string text = "name: x  # It was canary-5f1c93d2\n";
  const Value config =
      Value::Map{{"environment", Value::Map{{"environment_variables", Value::Map{{"API_KEY", canary}}}}}};
  EXPECT_EQ(file_without_secrets(text, config).text, "name: x  # It was <hidden>\n");
}

TEST(FileWithoutSecrets, FileIsNotKeptIfASecretCannotBeFound) {
  const std::string variables = "environment:\n  environment_variables:\n";
  EXPECT_EQ(
      why_not(variables + "    KEY: |\n      canary-5f1c93d2\n      and more\n"),
      "the secret environment.environment_variables.KEY cannot be replaced in it; write it on the line of "
      "its name");
  EXPECT_EQ(
      why_not(variables + "    KEY: canary-5f1c93d2\n      and more\n"),
      "the secret environment.environment_variables.KEY cannot be replaced in it; write it on the line of "
      "its name");
  EXPECT_EQ(why_not(variables + "    KEY: canary-5f1c93d2\ndescription: \"c\\x61nary-5f1c93d2\"\n"),
            "a secret of it stands in it a second time, in another spelling");
  EXPECT_EQ(file_without_secrets("import hpsearch\n", Value(Value::Map{})).why_not,
            "it is not an experiment file in YAML");
  const Value config =
      Value::Map{{"environment", Value::Map{{"environment_variables", Value::Map{{"PIN", "123"}}}}}};
  EXPECT_EQ(file_without_secrets("name: x 123\n", config).why_not,
            "the secret environment.environment_variables.PIN is too short to be found in it");
  EXPECT_EQ(file_without_secrets("name: x 1234\n", config).text, "name: x 1234\n");
}

class AsWritten : public testing::Test {
 protected:
  DaemonFixture::Answer get(const std::string& target) { return daemon_.ask("GET", target); }

  DaemonFixture::Answer submit(Value::Map more, const net::HttpHeaders& headers = {}) {
    Value config = small_search(1);
    (*config.as_map())["environment"] =
        Value::Map{{"environment_variables", Value::Map{{"API_KEY", canary}}}};
    more["config"] = std::move(config);
    return daemon_.ask("POST", "/api/v1/experiments", engine::compact_json(Value(std::move(more))), headers);
  }

  DaemonFixture daemon_;
};

Value git_state(const std::string& branch, bool dirty) {
  return Value::Map{{"commit", std::string(40, 'c')}, {"branch", branch}, {"dirty", dirty}};
}

TEST_F(AsWritten, FileAndGitStateOutliveTheDaemon) {
  const std::string text =
      "name: small\nenvironment:\n  environment_variables:\n    API_KEY: " + canary + "  # secret\n";
  const auto made = submit(
      {{"file", Value::Map{{"name", "small.yaml"}, {"text", text}}}, {"git", git_state("main", true)}});
  ASSERT_EQ(made.status, 201U) << made.text;
  EXPECT_EQ(made.at("note"), "");
  for (int life = 0; life < 2; ++life) {
    const auto file = get("/api/v1/experiments/1/file");
    ASSERT_EQ(file.status, 200U) << file.text;
    EXPECT_EQ(file.at("name"), "\"small.yaml\"");
    EXPECT_EQ(*file.body.at_path("text")->as_text(),
              "name: small\nenvironment:\n  environment_variables:\n    API_KEY: <hidden>  # secret\n");
    const auto detail = get("/api/v1/experiments/1");
    EXPECT_EQ(detail.at("git.commit"), "\"" + std::string(40, 'c') + "\"");
    EXPECT_EQ(detail.at("git.branch"), "\"main\"");
    EXPECT_EQ(detail.at("git.dirty"), "true");
    EXPECT_EQ(get("/api/v1/experiments").text.find("\"git\""), std::string::npos);
    EXPECT_EQ(get("/api/v1/events").text.find(R"(canary-5f1c93d2  # secret)"), std::string::npos);
    daemon_.restart();
  }
}

TEST_F(AsWritten, YamlSubmissionIsItsOwnFile) {
  const std::string text =
      "name: from yaml  # with a comment\nentrypoint: [python3, train.py]\n"
      "hyperparameters: {lr: {type: double, minval: 0, maxval: 1}}\n"
      "searcher: {name: random, metric: loss, max_trials: 4, max_length: {epochs: 4}}\n";
  ASSERT_EQ(daemon_.ask("POST", "/api/v1/experiments", text, {{"Content-Type", "application/yaml"}}).status,
            201U);
  const auto file = get("/api/v1/experiments/1/file");
  ASSERT_EQ(file.status, 200U) << file.text;
  EXPECT_EQ(file.at("name"), "\"\"");
  EXPECT_EQ(*file.body.at_path("text")->as_text(), text);
}

TEST_F(AsWritten, SubmissionWithoutThemHasNeither) {
  ASSERT_EQ(submit({{"file", Value()}, {"git", Value()}}).status, 201U);
  EXPECT_EQ(get("/api/v1/experiments/1").at("git"), "");
  const auto file = get("/api/v1/experiments/1/file");
  EXPECT_EQ(file.status, 404U);
  EXPECT_NE(file.text.find("experiment 1 was submitted without its file, or with one that could not be kept"),
            std::string::npos)
      << file.text;
  EXPECT_EQ(get("/api/v1/experiments/2/file").status, 404U);
}

TEST_F(AsWritten, FileThatShowsASecretIsNotKept) {
  const auto made = submit({{"file", Value::Map{{"text", "description: \"c\\x61nary-5f1c93d2\"\n"}}}});
  ASSERT_EQ(made.status, 201U) << made.text;
  EXPECT_EQ(
      made.at("note"),
      "\"the experiment file is not kept as written: a secret of it stands in it a second time, in another "
      "spelling\"");
  EXPECT_EQ(get("/api/v1/experiments/1/file").status, 404U);
}

TEST_F(AsWritten, RepeatedRequestMayHaveOthers) {
  const net::HttpHeaders key{{"Idempotency-Key", "key-1"}};
  EXPECT_EQ(submit({{"git", git_state("main", false)}}, key).at("experiment"), "1");
  const auto again =
      submit({{"git", git_state("main", true)}, {"file", Value::Map{{"text", "name: small\n"}}}}, key);
  EXPECT_EQ(again.at("experiment"), "1") << again.text;
  EXPECT_EQ(get("/api/v1/experiments/1").at("git.dirty"), "false");
}

TEST_F(AsWritten, WrongValuesAreNamed) {
  const std::string commit = "\"commit\":\"" + std::string(40, 'c') + "\"";
  const std::pair<std::string, const char*> wrong[] = {
      {R"("file":"name: x")", "file"},
      {R"("file":{"name":"x.yaml"})", "file.text"},
      {R"("file":{"text":3})", "file.text"},
      {R"("file":{"text":")" + std::string(256 * 1024 + 1, 'x') + "\"}", "file.text"},
      {R"("file":{"text":"","name":"a\nb"})", "file.name"},
      {R"("file":{"text":"","path":"x"})", "file.path"},
      {R"("git":[])", "git"},
      {R"("git":{"dirty":false})", "git.commit"},
      {R"("git":{"commit":"main","dirty":false})", "git.commit"},
      {R"("git":{)" + commit + "}", "git.dirty"},
      {R"("git":{"dirty":3,)" + commit + "}", "git.dirty"},
      {R"("git":{"dirty":true,"branch":7,)" + commit + "}", "git.branch"},
      {R"("git":{"dirty":true,"tag":"v1",)" + commit + "}", "git.tag"},
  };
  for (const auto& [part, path] : wrong) {
    const auto answer =
        daemon_.ask("POST", "/api/v1/experiments",
                    R"({"config":)" + engine::compact_json(small_search(1)) + "," + part + "}");
    EXPECT_EQ(answer.status, 400U) << part.substr(0, 100);
    EXPECT_EQ(answer.count("error.problems"), 1U) << answer.text;
    EXPECT_NE(answer.text.find(std::string(R"("path":")") + path + "\""), std::string::npos) << answer.text;
  }
  EXPECT_TRUE(daemon_.runtime->engine().experiments().empty());
}

}  // namespace
}  // namespace hpsearch::daemon
