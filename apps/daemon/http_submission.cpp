#include "daemon/http_submission.hpp"

#include <sys/random.h>

#include <array>
#include <string_view>
#include <utility>

#include "hpsearch/context/sha256.hpp"
#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/wire.hpp"

namespace hpsearch::daemon {

using engine::Value;

namespace {

constexpr std::uint64_t seeds = std::uint64_t{1} << 31U;

std::uint64_t random_seed() {
  std::uint64_t number = 0;
  HPSEARCH_CHECK(::getrandom(&number, sizeof number, 0) == sizeof number,
                 "the kernel always has random bytes");
  return number % seeds;
}

}  // namespace

Submission read_submission(const Value::Map& body, engine::Problems& problems) {
  static constexpr std::array<std::string_view, 5> known{"config", "name", "context_directory",
                                                         "context_digest", "seed"};
  Submission read;
  read.name = "experiment";
  read.seed = random_seed();
  for (const auto& [key, value] : body) {
    const std::string* text = value.as_text();
    const std::int64_t* number = value.as_integer();
    if (key == "config") {
      if (value.as_map() == nullptr) {
        problems.push_back(
            {key, "is a " + std::string(value.kind_name()), "a map: the experiment's configuration"});
      }
      read.config = value;
    } else if (key == "name") {
      if (text == nullptr || text->empty()) {
        problems.push_back({key, "is not a name", "a text that is not empty"});
      } else {
        read.name = *text;
      }
    } else if (key == "context_directory") {
      if (text == nullptr || (!text->empty() && text->front() != '/')) {
        problems.push_back({key, "is not an absolute path", "a path from / on, or \"\" for none"});
      } else {
        read.context_directory = *text;
      }
    } else if (key == "context_digest") {
      if (text == nullptr || (!text->empty() && !context::is_sha256(*text))) {
        problems.push_back({key, "is not a digest", "64 digits of lower case hexadecimal, or \"\" for none"});
      } else {
        read.context_digest = *text;
      }
    } else if (key == "seed") {
      if (number == nullptr || *number < 0 || static_cast<std::uint64_t>(*number) >= seeds) {
        problems.push_back({key, "is not a seed", "an integer from 0 to 2147483647"});
      } else {
        read.seed = static_cast<std::uint64_t>(*number);
      }
    } else {
      const std::string near(engine::nearest(key, known));
      problems.push_back({key, "is not known",
                          near.empty() ? "config, name, context_directory, context_digest, seed" : near});
    }
  }
  if (!body.contains("config")) {
    problems.push_back({"config", "is missing", "a map: the experiment's configuration"});
  }
  return read;
}

std::size_t lease_bytes(const jobs::ParsedExperiment& parsed, const Submission& submission) {
  const engine::ExperimentConfig& config = *parsed.config;
  const jobs::Program& program = parsed.program;
  jobs::LaunchSpec spec;
  spec.experiment_name = config.name;
  spec.entrypoint = program.entrypoint;
  spec.hparams = config.hyperparameters;
  spec.unit = config.unit;
  spec.metric = config.searcher.metric;
  spec.context_directory = submission.context_directory;
  spec.context_digest = submission.context_digest;
  spec.checkpoint_root = program.checkpoint_storage.host_path + program.checkpoint_storage.storage_path;
  spec.environment_variables = program.environment_variables;
  spec.metric_patterns = program.metrics;
  spec.data = program.data;
  spec.contract = program.contract;
  return proto::encode(proto::Envelope{}, proto::FromDaemon(proto::Lease{std::move(spec)})).size();
}

}  // namespace hpsearch::daemon
