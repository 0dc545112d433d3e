#include "hpsearch/jobs/fields/submission.hpp"

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/jobs/fields/patterns.hpp"
#include "hpsearch/jobs/imports/imports.hpp"
#include "hpsearch/jobs/patterns/pattern_check.hpp"
#include "hpsearch/jobs/yaml/read_text.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/searchers/registry.hpp"

// A submitted experiment is a configuration or problems. A configuration that is written with all its
// defaults is accepted again, and is then written the same.

namespace hpsearch::fuzz {
namespace {

void run_submission(std::string_view bytes) {
  const auto tree = proto::parse_json(bytes);
  if (!tree) {
    return;
  }
  if (const auto imported = jobs::import_experiment(*tree); imported.problems.empty()) {
    HPSEARCH_CHECK(!jobs::foreign_file(imported.tree), "what is imported is an experiment of ours");
  }
  const jobs::ParsedExperiment parsed = jobs::parse_submission(*tree, searchers::registry(), "fuzz", 7);
  for (const engine::Problem& problem : patterns::problems_of(jobs::patterns_of(*tree))) {
    HPSEARCH_CHECK(!problem.what.empty(), "a problem has a text");
  }
  for (const engine::Problem& problem : parsed.problems) {
    HPSEARCH_CHECK(!problem.what.empty(), "a problem has a text");
  }
  HPSEARCH_CHECK(parsed.config.has_value() == parsed.problems.empty(), "a configuration or a problem");
  if (!parsed.config) {
    return;
  }
  const engine::Value written = engine::to_value(*parsed.config);
  const jobs::ParsedExperiment again = jobs::parse_submission(written, searchers::registry(), "other", 8);
  HPSEARCH_CHECK(again.config.has_value(), "what is written is accepted");
  HPSEARCH_CHECK(engine::compact_json(engine::to_value(*again.config)) == engine::compact_json(written),
                 "and it is the same");
}

Seeds submission_seeds() {
  Seeds all;
  for (const std::string_view example :
       {"examples/digits/adaptive_asha.yaml", "examples/digits/grid.yaml", "examples/digits/single.yaml",
        "examples/pai/experiment.yaml", "examples/modelarts/experiment.yaml",
        "examples/plain/experiment.yaml", "examples/component/experiment.yaml"}) {
    const yaml::ReadText read = yaml::read_experiment_text(file_at(example));
    HPSEARCH_CHECK(read.tree.has_value(), "examples can be read");
    all.push_back(engine::compact_json(*read.tree));
  }
  // Files of other products.
  all.emplace_back(R"({"method":"bayes","parameters":{"a":{"min":1,"max":9},"b":{"values":[1]}}})");
  all.emplace_back(
      R"({"apiVersion":"kubeflow.org/v1beta1","kind":"Experiment","spec":{"parameters":[{"name":"a",)"
      R"("parameterType":"int","feasibleSpace":{"min":"1","max":"5","step":"2"}}]}})");
  all.emplace_back(R"({"a":{"_type":"quniform","_value":[0,1,0.1]}})");
  all.emplace_back(R"({"a":{"type":"float","low":0.1,"high":1,"log":true}})");
  return all;
}

const Registered submission_target({"submission", run_submission, submission_seeds});

}  // namespace
}  // namespace hpsearch::fuzz
