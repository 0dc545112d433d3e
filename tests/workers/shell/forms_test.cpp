// Hyperparameters as real programs read them: a real shell, a real argv, a real Python.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/workers/core/launch/hyperparameter_forms.hpp"
#include "hpsearch/workers/core/launch/launch_environment.hpp"
#include "scratch.hpp"
#include "workers/core/launch/arguments.hpp"
#include "workers/shell/fake_daemon.hpp"
#include "workers/shell/run_program.hpp"

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using engine::Value;
using jobs::LaunchSpec;
using Argv = std::vector<std::string>;

constexpr std::uint64_t seed = 20'260'214;

/// The output of a program, which has to succeed.
std::string output_of(const Launch& launch, const fs::path& directory) {
  const Ran ran = run_program(launch.program.argv, launch.program.environment, directory);
  EXPECT_EQ(ran.status, 0) << text_of(directory / "complaints");
  return ran.printed;
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    text += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4U];
    text += "0123456789abcdef"[static_cast<unsigned char>(c) & 0xFU];
  }
  return text;
}

/// Prints its arguments, then the variables that hold hyperparameters, each as hexadecimal on a line.
constexpr const char* echo_program = R"(
import os, sys
for word in sys.argv[1:]:
    print(os.fsencode(word).hex())
for name in sorted(os.environb):
    if name.startswith(b"PAI_HPS") or name == b"HPSEARCH_PARAMS":
        print(name.decode(), os.environb[name].hex())
)";

std::string expected_of(const Argv& arguments, const Launch& launch) {
  std::string text;
  for (const std::string& argument : arguments) {
    text += hex(argument) + "\n";
  }
  for (const auto& [name, value] : launch.program.environment) {
    if (name.starts_with("PAI_HPS") || name == "HPSEARCH_PARAMS") {
      text += name + " " + hex(value) + "\n";
    }
  }
  return text;
}

class HostileValues : public testing::Test {
 protected:
  HostileValues() : chance_(seed) {
    RecordProperty("seed", std::to_string(seed));
    std::ofstream(scratch_.path() / "echo.py") << echo_program;
  }

  std::string hostile_text() {
    static const std::vector<std::string> pieces = {
        "'",
        "\"",
        "\n",
        "\r",
        "\t",
        "$(touch canary)",
        "`touch canary`",
        "; touch canary;",
        "-rf",
        "--lr",
        "*",
        "?",
        "\\",
        " ",
        "&",
        "|touch canary",
        ">canary",
        "é漢😀",
        "\x7f",
        "\x01",
        "{x}",
        "{{",
        "}}",
        "${HOME}",
        "%s",
        "!",
        "#",
        "~",
        "=",
        "a",
        "",
        "\\'",
        "'\"'\"'",
    };
    std::string text;
    for (std::uint64_t left = chance_() % 8; left > 0; --left) {
      text += pieces[chance_() % pieces.size()];
    }
    return chance_() % 16 == 0 ? text + std::string(4'000, '\'') : text;  // Five times as long when quoted.
  }

  LaunchSpec hostile_spec(jobs::Entrypoint entrypoint) {
    LaunchSpec spec = spec_of(key_of(0), std::move(entrypoint));
    spec.hparams = Value::Map{{"x", hostile_text()}, {"y-z", hostile_text()}, {"n", -1e-07}, {"b", false}};
    return spec;
  }

  Launch plan(const LaunchSpec& spec) {
    AttemptPlaces places;
    places.work_directory = scratch_.path().string();
    LentMachine machine;
    machine.environment = {{"PATH", "/usr/bin:/bin"}};
    const auto launch = plan_launch(spec, places, machine);
    if (launch) {
      return *launch;
    }
    ADD_FAILURE() << launch.error().message;
    Launch nothing;
    nothing.program.argv = {"/bin/true"};
    return nothing;
  }

  void expect_intact(const LaunchSpec& spec, const Argv& arguments) {
    const Launch launch = plan(spec);
    EXPECT_EQ(output_of(launch, scratch_.path()), expected_of(arguments, launch))
        << "seed " << seed << ", " << engine::compact_json(spec.hparams).substr(0, 400);
    EXPECT_FALSE(fs::exists(scratch_.path() / "canary")) << engine::compact_json(spec.hparams).substr(0, 400);
  }

  Scratch scratch_;
  std::mt19937_64 chance_;
};

constexpr int rounds = 25;

TEST_F(HostileValues, ReachProgramsThroughAList) {
  for (int round = 0; round < rounds; ++round) {
    const LaunchSpec spec = hostile_spec({Argv{"python3", "echo.py", "{args}", "{x}", "<{y-z}>"}});
    Argv expected = arguments(HyperparameterForms(spec.hparams, {}), jobs::ArgumentForm::pair);
    expected.push_back(*spec.hparams.at_path("x")->as_text());
    expected.push_back("<" + *spec.hparams.at_path("y-z")->as_text() + ">");
    expect_intact(spec, expected);
  }
}

TEST_F(HostileValues, ReachProgramsThroughAShell) {
  for (int round = 0; round < rounds; ++round) {
    const LaunchSpec spec = hostile_spec({std::string("python3 echo.py {args_eq} {x} \"$PAI_HPS_Y_Z\"")});
    Argv expected = arguments(HyperparameterForms(spec.hparams, {}), jobs::ArgumentForm::equals);
    expected.push_back(*spec.hparams.at_path("x")->as_text());
    expected.push_back(*spec.hparams.at_path("y-z")->as_text());
    expect_intact(spec, expected);
  }
}

TEST_F(HostileValues, ReachProgramsThroughEvaluatedUserArguments) {
  for (int round = 0; round < rounds; ++round) {
    const LaunchSpec spec = hostile_spec({std::string("eval \"python3 echo.py $PAI_USER_ARGS\"")});
    expect_intact(spec, arguments(HyperparameterForms(spec.hparams, {}), jobs::ArgumentForm::pair));
  }
}

TEST_F(HostileValues, SafeOnesReachProgramsThroughBareUserArguments) {
  LaunchSpec spec = hostile_spec({std::string("python3 echo.py $PAI_USER_ARGS")});
  spec.hparams =
      Value::Map{{"lr", 1e-05}, {"low", -1e-05}, {"name", "a-b/c.d:e,f=g%h+i@j"}, {"batch-size", 32}};
  expect_intact(spec, arguments(HyperparameterForms(spec.hparams, {}), jobs::ArgumentForm::pair));
}

// --- numbers ---

TEST(Numbers, AreWrittenAsInPython) {
  const Scratch scratch;
  std::mt19937_64 chance(seed);
  std::vector<double> numbers = {0.0, 1.0, 1e16, 1e-4, 9.999e-5, 1e22, 5e-324, 1.7976931348623157e308,
                                 0.1, 1e5};
  const std::size_t wanted = std::size_t{50'000} * static_cast<std::size_t>(test_effort());
  while (numbers.size() < wanted) {
    const double any = std::bit_cast<double>(chance());
    const double decimal =
        static_cast<double>(chance() % 1'000'000) * std::pow(10, static_cast<int>(chance() % 44) - 22);
    for (const double number : {any, decimal, std::ldexp(1.0, static_cast<int>(chance() % 2000) - 1000)}) {
      if (std::isfinite(number)) {
        numbers.push_back(number);
      }
    }
  }
  {
    std::ofstream in(scratch.path() / "numbers");
    for (const double number : numbers) {
      in << std::bit_cast<std::uint64_t>(number) << "\n";
    }
  }
  std::ofstream(scratch.path() / "repr.py") << R"(
import struct
for line in open("numbers"):
    print(str(struct.unpack("d", struct.pack("Q", int(line)))[0]))
)";
  Launch launch;
  launch.program.argv = {"/usr/bin/python3", "repr.py"};
  std::istringstream printed(output_of(launch, scratch.path()));
  for (const double number : numbers) {
    std::string line;
    ASSERT_TRUE(std::getline(printed, line)) << "seed " << seed;
    ASSERT_EQ(engine::python_float(number), line) << "seed " << seed;
    const std::string argument = argument_text(-std::abs(number));
    ASSERT_EQ(argument.find('e'), std::string::npos) << argument;
    ASSERT_EQ(std::strtod(argument.c_str(), nullptr), -std::abs(number)) << argument;
  }
}

}  // namespace
}  // namespace hpsearch::workers::test
