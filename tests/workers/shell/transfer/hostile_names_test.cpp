// Malicious names: submission refuses them with the field's name, or everything
// that is made from them is intact.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "engine/test_registry.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/jobs/fields/submission.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/workers/core/launch/hyperparameter_forms.hpp"
#include "hpsearch/workers/core/launch/launch_environment.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/channels.hpp"
#include "hpsearch/workers/shell/shim/launch_order.hpp"
#include "scratch.hpp"
#include "workers/core/launch/arguments.hpp"
#include "workers/shell/fake_daemon.hpp"
#include "workers/shell/run_program.hpp"

namespace hpsearch::workers::test {
namespace {

using engine::ExperimentConfig;
using engine::Value;
using jobs::LaunchSpec;

const std::uint64_t first_seed = test_seed(20'261'123);

class HostileNames : public testing::Test {
 protected:
  HostileNames() : chance_(first_seed) { RecordProperty("seed", std::to_string(first_seed)); }

  bool one_in(std::uint64_t n) { return chance_() % n == 0; }

  std::string name() {
    static const std::vector<std::string> plain = {"lr",  "batch-size", "units", "optimizer.name",
                                                   "a_b", "A-B",        "x1",    "train"};
    static const std::vector<std::string> odd = {
        "'",
        "\"",
        "\n",
        "\r\n",
        "$(touch canary)",
        "`touch canary`",
        ";touch canary;",
        "-rf",
        "--",
        "..",
        "/",
        "../x",
        ".",
        "a.b",
        "漢字",
        "é",
        "😀",
        " ",
        "=",
        "%",
        "{x}",
        "}}",
        "\\",
        "\x7f",
        "\x1b[31m",
        "*",
        "~",
        "#",
        "_",
        "",
        "PATH",
        "LD_PRELOAD",
        "HPSEARCH_PARAMS",
        "type",
        "const",
        "args",
        "trial_id",
        "model",
        "checkpoints",
        std::string("a\0b", 3),
    };
    if (one_in(2)) {
      return plain[chance_() % plain.size()];
    }
    std::string text;
    for (std::uint64_t left = 1 + chance_() % 3; left > 0; --left) {
      text += one_in(3) ? plain[chance_() % plain.size()] : odd[chance_() % odd.size()];
    }
    return one_in(40) ? text + std::string(one_in(2) ? 5'000 : 140'000, 'n') : text;
  }

  Value value() {
    const std::vector<Value> all = {Value(name()), Value(3),      Value(-1e-05),
                                    Value(true),   Value(name()), Value("a b")};
    return all[chance_() % all.size()];
  }

  Value::Map map_of(std::uint64_t most, const auto& make) {
    Value::Map map;
    for (std::uint64_t left = chance_() % (most + 1); left > 0; --left) {
      map[name()] = make();
    }
    return map;
  }

  Value experiment() {
    Value::Map hyperparameters = map_of(4, [this] { return value(); });
    if (one_in(3)) {
      hyperparameters[name()] = map_of(2, [this] { return value(); });
    }
    const std::vector<Value> entrypoints = {Value("p {args}"), Value(Value::List{"p", "{args_eq}"}),
                                            Value("p \"{" + name() + "}\""),
                                            Value(Value::List{name(), name()})};
    return Value::Map{
        {"name", name()},
        {"entrypoint", entrypoints[chance_() % entrypoints.size()]},
        {"hyperparameters", std::move(hyperparameters)},
        {"searcher", Value::Map{{"name", "single"}, {"metric", name()}, {"max_length", 3}}},
        {"metrics", map_of(2, [this] { return Value("x=(.*)" + name()); })},
        {"inputs", map_of(2, [this] { return Value(place_); })},
        {"outputs", map_of(2, [] { return Value(); })},
        {"environment", Value::Map{{"environment_variables", map_of(2, [this] { return Value(name()); })}}},
        {"labels", Value::List{name()}},
        {"data", map_of(2, [this] { return Value(name()); })},
    };
  }

  Scratch scratch_;
  std::string place_ = scratch_.path().string();
  std::mt19937_64 chance_;
};

bool names_a_field(const engine::Problem& problem) {
  static const std::vector<std::string> fields = {"name",    "entrypoint", "hyperparameters", "searcher",
                                                  "metrics", "inputs",     "outputs",         "environment",
                                                  "labels",  "data"};
  return std::any_of(fields.begin(), fields.end(),
                     [&](const std::string& field) { return problem.path.starts_with(field); });
}

/// The order of the daemon (jobs::Programs).
LaunchSpec ordered(const ExperimentConfig& config, const jobs::Program& program) {
  LaunchSpec spec = spec_of(key_of(0), program.entrypoint);
  spec.experiment_name = config.name;
  spec.hparams = config.space.sample(1, engine::TrialNumber{0});
  spec.metric = config.searcher.metric;
  spec.environment_variables = program.environment.environment_variables;
  spec.contract = program.contract;
  spec.data = program.data;
  spec.metric_patterns = program.metrics;
  return spec;
}

TEST_F(HostileNames, AreRefusedByFieldOrReachTheProgramIntact) {
  int taken = 0;
  int refused = 0;
  for (int round = 0; round < 300 * test_effort(); ++round) {
    const Value tree = experiment();
    const std::string where = "seed " + std::to_string(first_seed) + ", round " + std::to_string(round) +
                              ": " + engine::compact_json(tree).substr(0, 1'500);
    const jobs::ParsedExperiment parsed = jobs::parse_submission(tree, engine::test_registry(), "stem", 11);
    if (!parsed.config) {
      ++refused;
      for (const engine::Problem& problem : parsed.problems) {
        ASSERT_TRUE(names_a_field(problem)) << where << "\n" << engine::describe(problem);
        const std::string message = engine::describe(problem);
        ASSERT_TRUE(std::none_of(message.begin(), message.end(), [](char c) { return c >= 0 && c < ' '; }))
            << where;
      }
      continue;
    }
    ++taken;
    const LaunchSpec spec = ordered(*parsed.config, parsed.program);
    const AttemptDirectory directory(scratch_.path() / ("attempt" + std::to_string(round)));
    const engine::Status made = directory.make("");
    ASSERT_TRUE(made) << made.error().message;
    const auto channels = make_channels(spec, directory, directory.ml().string());
    ASSERT_TRUE(channels) << where << "\n" << channels.error().message;
    AttemptPlaces places;
    places.ml = directory.ml().string();
    places.inputs = channels->inputs;
    places.outputs = channels->outputs;
    LentMachine machine;
    machine.environment = {{"PATH", "/usr/bin:/bin"}};
    auto launch = plan_launch(spec, places, machine);
    if (!launch && launch.error().message.find("in one piece") != std::string::npos) {
      continue;  // It is longer than the kernel allows for any program, which is reported.
    }
    ASSERT_TRUE(launch) << where << "\n" << launch.error().message;

    // The shim's order, and the program's own view of it.
    LaunchOrder order;
    order.program = launch->program;
    order.metric_patterns = spec.metric_patterns;
    ASSERT_TRUE(write_launch_order(directory.launch(), order));
    const auto read = read_launch_order(directory.launch());
    ASSERT_TRUE(read) << where << "\n" << read.error().message;
    ASSERT_EQ(read->program.argv, launch->program.argv) << where;
    ASSERT_EQ(read->program.environment, launch->program.environment) << where;
    ASSERT_EQ(read->metric_patterns, spec.metric_patterns) << where;
    std::string expected;
    for (const auto& [variable, text] : launch->program.environment) {
      expected += variable + "=" + text + '\0';
    }
    ASSERT_EQ(run_program({"/usr/bin/env", "-0"}, launch->program.environment, scratch_.path()).printed,
              expected)
        << where;
    if (std::get_if<std::string>(&spec.entrypoint.command) != nullptr &&
        engine::compact_json(tree).find("p {args}") != std::string::npos) {
      launch->program.argv[2].replace(0, 1, "/usr/bin/printf '%s\\0'");
      std::string words;
      for (const std::string& word : arguments(HyperparameterForms(spec.hparams, spec.contract.bool_styles),
                                               jobs::ArgumentForm::pair)) {
        words += word + '\0';
      }
      if (!words.empty()) {
        ASSERT_EQ(run_program(launch->program.argv, launch->program.environment, scratch_.path()).printed,
                  words)
            << where;
      }
    }
    ASSERT_FALSE(std::filesystem::exists(scratch_.path() / "canary")) << where;

    // The texts can be read back, too.
    const auto params = proto::parse_json(launch->program.environment.at("HPSEARCH_PARAMS"));
    ASSERT_TRUE(params) << where;
    ASSERT_EQ(*params, spec.hparams) << where;
    const auto data = proto::parse_json(launch->program.environment.at("HPSEARCH_DATA"));
    ASSERT_TRUE(data) << where;
    ASSERT_EQ(*data, spec.data) << where;
    ASSERT_EQ(launch->program.environment.at("HPSEARCH_METRIC"), *tree.at_path("searcher.metric")->as_text())
        << where;
    for (const auto& [variable, text] : spec.environment_variables) {
      ASSERT_EQ(launch->program.environment.at(variable), text) << where;
    }
    for (const jobs::Channel& channel : spec.contract.inputs) {
      ASSERT_TRUE(std::filesystem::is_directory(
          launch->program.environment.at("PAI_INPUT_" + jobs::variable_part(channel.name))))
          << where;
    }
    ASSERT_EQ(launch->files.at("params.json"), launch->program.environment.at("HPSEARCH_PARAMS") + "\n");
    directory.remove_everything();
  }
  EXPECT_GT(taken, 15);
  EXPECT_GT(refused, 15);
  RecordProperty("taken", taken);
}

}  // namespace
}  // namespace hpsearch::workers::test
