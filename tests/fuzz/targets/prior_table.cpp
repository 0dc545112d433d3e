#include "cli/experiment/prior_table.hpp"

#include "fuzz/target.hpp"
#include "hpsearch/engine/base/check.hpp"

// Files of earlier results. Each is a list of maps with hparams, a length and perhaps a metric, or an error
// with a reason.

namespace hpsearch::fuzz {
namespace {

using engine::Value;

engine::Space prior_space() {
  engine::Problems problems;
  engine::Problems notes;
  const Value hyperparameters =
      Value::Map{{"lr", Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 1}}},
                 {"opt", Value::Map{{"type", "categorical"},
                                    {"vals", Value::List{"sgd", 7, true, Value::List{1, 2}, Value()}}}},
                 {"size", 5}};
  return engine::Space::parse(hyperparameters, "", problems, notes);
}

void run_prior_table(std::string_view bytes) {
  static const engine::Space space = prior_space();
  for (const auto& read : {cli::prior_of_csv(bytes, space), cli::prior_of_json_lines(bytes)}) {
    HPSEARCH_CHECK(read || !read.error().message.empty(), "an error has a reason");
    for (const Value& result : read ? *read : Value::List()) {
      HPSEARCH_CHECK(result.at_path("hparams") != nullptr && result.at_path("hparams")->as_map() != nullptr,
                     "a result is of a configuration");
      HPSEARCH_CHECK(result.at_path("length")->number_or(0) >= 1, "it was trained for");
    }
  }
}

Seeds prior_table_seeds() {
  return {
      "trial,length,reached,metric,hparams.lr,hparams.opt\n0,9,3,0.5,0.1,\"[1, 2]\"\n1,9,9,nan,1e-3,True\n",
      "\xef\xbb\xbfmetric , length,hparams.size\r\n,,5\r\n\"1\",\"2\",\"a\"\"\n\"b\r\n",
      "{\"hparams\":{\"lr\":0.1},\"length\":9,\"reached\":3,\"metric\":{\"class\":\"nan\"}}\n\n{\"hparams\":{"
      "}}"};
}

const Registered prior_table_target({"prior_table", run_prior_table, prior_table_seeds});

}  // namespace
}  // namespace hpsearch::fuzz
