#include <algorithm>

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/jobs/yaml/read_text.hpp"

// An experiment file is a tree or problems on its lines. A tree that is written as JSON, which is YAML too,
// is read as the same tree.

namespace hpsearch::fuzz {
namespace {

void run_yaml(std::string_view bytes) {
  const yaml::ReadText read = yaml::read_experiment_text(bytes);
  const auto lines = static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '\n')) + 1;
  for (const yaml::FileProblem& problem : read.problems) {
    HPSEARCH_CHECK(!problem.problem.what.empty(), "a problem has a text");
    HPSEARCH_CHECK(problem.line <= lines, "a problem is on a line of the file");
  }
  HPSEARCH_CHECK(read.tree || !read.problems.empty(), "no tree without a problem");
  if (!read.problems.empty()) {
    return;
  }
  const std::string json = engine::compact_json(*read.tree);
  // Numbers and escapes may be longer in JSON.
  const std::size_t most = json.size() + 1;
  const yaml::ReadText again =
      yaml::read_experiment_text(json, {.bytes = most, .scalar_bytes = most, .text_bytes = most});
  HPSEARCH_CHECK(again.problems.empty() && again.tree, "a tree that is written as JSON can be read");
  HPSEARCH_CHECK(engine::compact_json(*again.tree) == json, "and it is the same");
}

Seeds yaml_seeds() {
  Seeds all = files_in("tests/fuzz/corpus/yaml");
  for (const std::string& text : files_in("tests/fuzz/corpus/json")) {
    all.push_back(text);
  }
  return all;
}

const Registered yaml_target({"yaml", run_yaml, yaml_seeds});

}  // namespace
}  // namespace hpsearch::fuzz
