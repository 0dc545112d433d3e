#include "daemon/submission/file_without_secrets.hpp"
#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"

// An experiment file is kept without the secrets of its configuration and its own, or it is not kept. A file
// without secrets is kept as it is.

namespace hpsearch::fuzz {
namespace {

using engine::Value;

constexpr std::string_view canary = "canary-5f1c93d2";

void run_written_file(std::string_view bytes) {
  const Value config = Value::Map{
      {"environment", Value::Map{{"environment_variables", Value::Map{{"KEY", std::string(canary)}}}}}};
  const daemon::FileWithoutSecrets kept = daemon::file_without_secrets(std::string(bytes), config);
  HPSEARCH_CHECK(kept.text.has_value() == kept.why_not.empty(), "a text, or why there is none");
  if (!kept.text) {
    return;
  }
  HPSEARCH_CHECK(kept.text->find(canary) == std::string::npos, "no secret is shown");
  HPSEARCH_CHECK(daemon::file_without_secrets(*kept.text, config).text == *kept.text,
                 "a text without secrets stays as it is");
}

Seeds written_file_seeds() {
  Seeds all = files_in("tests/fuzz/corpus/yaml");
  const std::string variables = "environment:\n  environment_variables:\n";
  all.push_back("# canary-5f1c93d2\n" + variables +
                "    KEY: canary-5f1c93d2  # A note\n    N: 4\nname: x\n");
  all.push_back(variables +
                "    KEY: 'it''s'\n    OTHER: \"a\\\"b\"\ndescription: \"c\\x61nary-5f1c93d2\"\n");
  all.push_back(variables + "    KEY: |\n      canary-5f1c93d2\n      and more\n");
  all.push_back(variables + "    - KEY=canary-5f1c93d2\n    - \"N=4\"\n");
  all.push_back(variables + "    cpu: [A=1]\n    cuda: [A=1]\n");
  all.emplace_back(
      R"({"environment": {"environment_variables": {"K": "c\u0061nary-5f1c93d2"}}, "name": "x"})");
  all.emplace_back(
      "environment: {environment_variables: {A: &key canary-5f1c93d2, B: *key, C: canary-5f}}\n"
      "checkpoint_storage: {type: s3, secret_key: 8_675_309}\n");
  return all;
}

const Registered written_file_target({"written_file", run_written_file, written_file_seeds});

}  // namespace
}  // namespace hpsearch::fuzz
