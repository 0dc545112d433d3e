// A ported program may read its hyperparameters in any of five forms; a real Python reads all five and
// compares.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/space/space.hpp"
#include "hpsearch/workers/core/launch/launch_environment.hpp"
#include "scratch.hpp"
#include "workers/shell/fake_daemon.hpp"
#include "workers/shell/run_program.hpp"

namespace hpsearch::workers::test {
namespace {

using engine::Value;
using jobs::LaunchSpec;

const std::uint64_t first_seed = test_seed(20'261'124);

/// Prints the value of each hyperparameter that PAI's forms can carry, if all five are equal.
constexpr const char* program = R"(
import argparse, json, os, re, sys

config = os.environ["PAI_CONFIG_DIR"]
in_file = json.load(open(config + "hyperparameters.json"))
in_json = json.loads(os.environ["PAI_HPS"])
styles = json.loads(os.environ["STYLES"])
typed = {}

def flatten(prefix, members):
    for key, value in members.items():
        if isinstance(value, dict):
            flatten(prefix + key + ".", value)
        elif re.fullmatch("[A-Za-z0-9.-][A-Za-z0-9_.-]{0,63}", prefix + key) and isinstance(value, (bool, int, float, str)):
            typed[prefix + key] = value

flatten("", json.load(open(config + "training_job.json"))["hyperparameters"])

def text(name, value):
    by_style = {"lower": str(value).lower(), "int": str(int(value)), "empty_false": str(value) if value else ""} if type(value) is bool else {}
    return by_style.get(styles.get(name), str(value))

parser = argparse.ArgumentParser(allow_abbrev=False)
for name, value in typed.items():
    if type(value) is bool and styles.get(name) == "flag":
        parser.add_argument("--" + name, dest=name, action="store_true")
    else:
        parser.add_argument("--" + name, dest=name, required=True, type=str if type(value) is bool else type(value))
arguments = vars(parser.parse_args())

def same(form, found, wanted):
    if type(found) is not type(wanted) or found != wanted:
        sys.exit("%s: %r, but training_job.json has %r" % (form, found, wanted))

same("names of hyperparameters.json", sorted(in_file), sorted(typed))
same("names of PAI_HPS", sorted(in_json), sorted(typed))
same("names of variables", sorted(n for n in os.environ if n.startswith("PAI_HPS_")),
     sorted("PAI_HPS_" + re.sub("[^A-Za-z0-9_]", "_", n).upper() for n in typed))
for name, value in typed.items():
    same("hyperparameters.json, " + name, in_file[name], text(name, value))
    same("PAI_HPS, " + name, in_json[name], text(name, value) if os.environ["AS_TEXTS"] == "yes" else value)
    same("variable of " + name, os.environ["PAI_HPS_" + re.sub("[^A-Za-z0-9_]", "_", name).upper()], text(name, value))
    flag = type(value) is bool and styles.get(name) == "flag"
    same("argument " + name, arguments[name], text(name, value) if type(value) is bool and not flag else value)
print(len(typed), "agree")
)";

class FiveForms : public testing::Test {
 protected:
  FiveForms() : chance_(first_seed) { RecordProperty("seed", std::to_string(first_seed)); }

  double real() {
    const double size = std::uniform_real_distribution<double>(-12, 12)(chance_);
    return (chance_() % 2 == 0 ? 1 : -1) * std::pow(10, size);
  }

  /// argparse reads a text that begins with - as an option, so no text does.
  std::string text() {
    static const std::vector<std::string> pieces = {"a",
                                                    "'",
                                                    "\"",
                                                    "\n",
                                                    "$(touch canary)",
                                                    "`touch canary`",
                                                    "; touch canary;",
                                                    "*",
                                                    "漢",
                                                    "😀",
                                                    " ",
                                                    "=",
                                                    "\\",
                                                    "True",
                                                    "1e-05",
                                                    "{}",
                                                    "#",
                                                    "\t",
                                                    "0"};
    std::string text;
    for (std::uint64_t left = chance_() % 5; left > 0; --left) {
      text += pieces[chance_() % pieces.size()];
    }
    return text;
  }

  Value hyperparameter(const std::string& name, Value::Map& styles) {
    const auto boolean = [&](Value::Map map) {
      static const std::vector<std::string> all = {"python", "lower", "int", "flag", "empty_false"};
      const std::string& style = all[chance_() % all.size()];
      map["bool_style"] = style;
      styles[name] = style;
      return map;
    };
    const double low = real();
    switch (chance_() % 10) {
      case 0:
        return Value::Map{{"type", "double"}, {"minval", low}, {"maxval", low + 1 + std::abs(low)}};
      case 1:
        return Value::Map{{"type", "log"}, {"base", 10}, {"minval", -7}, {"maxval", 3}};
      case 2:
        return Value::Map{{"type", "int"}, {"minval", -1000}, {"maxval", 1'000'000}};
      case 3:
        return boolean({{"type", "categorical"}, {"vals", Value::List{true, false}}});
      case 4:
        return boolean({{"type", "const"}, {"val", chance_() % 2 == 0}});
      case 5:
        return Value::Map{{"type", "categorical"},
                          {"vals", Value::List{text() + "x", text() + "y", real(), 3}}};
      case 6:
        return Value::Map{{"type", "const"}, {"val", Value::List{1, 2}}};  // PAI's forms can't carry it.
      case 7:
        return static_cast<std::int64_t>(chance_());
      case 8:
        return real();
      default:
        return text();
    }
  }

  Value::Map hyperparameters(const std::string& prefix, Value::Map& styles) {
    static const std::vector<std::string> words = {"lr",  "batch-size", "A",       "x.y",  "learning_rate",
                                                   "--b", "9",          "_hidden", "größe"};
    Value::Map map;
    for (std::uint64_t left = chance_() % 6; left > 0; --left) {
      const std::string name = words[chance_() % words.size()] + "-n" + std::to_string(++names_);
      if (prefix.empty() && chance_() % 5 == 0) {
        map[name] = hyperparameters(name + ".", styles);
      } else {
        map[name] = hyperparameter(prefix + name, styles);
      }
    }
    return map;
  }

  Scratch scratch_;
  std::mt19937_64 chance_;
  int names_ = 0;
};

TEST_F(FiveForms, ReportTheSame) {
  write_text(scratch_.path() / "read.py", program);
  int carried = 0;
  for (int round = 0; round < 40 * test_effort(); ++round) {
    Value::Map styles;
    const Value tree = hyperparameters("", styles);
    const std::string where = "seed " + std::to_string(first_seed) + ", round " + std::to_string(round) +
                              ": " + engine::compact_json(tree);
    engine::Problems problems;
    engine::Problems notes;
    const engine::Space space = engine::Space::parse(tree, "hyperparameters", problems, notes);
    ASSERT_TRUE(problems.empty()) << where << "\n" << engine::describe(problems.front());
    LaunchSpec spec = spec_of(key_of(0), {std::string("eval \"python3 read.py $PAI_USER_ARGS\"")});
    spec.hparams = space.sample(first_seed, engine::TrialNumber{static_cast<std::uint64_t>(round)});
    for (const engine::Space::Leaf& leaf : space.leaves()) {
      if (leaf.bool_style) {
        spec.contract.bool_styles.push_back({leaf.path, *leaf.bool_style});
      }
    }
    spec.contract.pai_hps_strings = round % 2 == 0;
    spec.environment_variables = {{"STYLES", engine::compact_json(Value(styles))},
                                  {"AS_TEXTS", spec.contract.pai_hps_strings ? "yes" : "no"}};
    AttemptPlaces places;
    places.ml = (scratch_.path() / "ml").string();
    LentMachine machine;
    machine.environment = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C.UTF-8"}};
    const auto launch = plan_launch(spec, places, machine);
    ASSERT_TRUE(launch) << where << "\n" << launch.error().message;
    const std::filesystem::path config = launch->program.environment.at("PAI_CONFIG_DIR");
    for (const char* name : {"hyperparameters.json", "training_job.json"}) {
      write_text(config / name, launch->files.at(config_file(name)));
    }
    const Ran ran = run_program(launch->program.argv, launch->program.environment, scratch_.path());
    ASSERT_EQ(ran.status, 0) << where << "\n" << text_of(scratch_.path() / "complaints");
    ASSERT_TRUE(ran.printed.ends_with(" agree\n")) << where;
    ASSERT_FALSE(std::filesystem::exists(scratch_.path() / "canary")) << where;
    carried += std::stoi(ran.printed);
  }
  EXPECT_GT(carried, 60);
}

}  // namespace
}  // namespace hpsearch::workers::test
