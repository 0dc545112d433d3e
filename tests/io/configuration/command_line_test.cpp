#include "hpsearch/io/configuration/command_line.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "scratch.hpp"

namespace hpsearch::configuration {
namespace {

struct Settings {
  std::string name;
  std::vector<std::string> labels;
  bool open = false;

  Program program() {
    return {"hpsearch-kettle",
            {{.key = "pot.name",
              .flag = "--name",
              .value = "NAME",
              .meaning = "Name of the pot",
              .usual = "that of the machine | kitchen",
              .take = text_in(name)},
             {.key = "pot.labels",
              .flag = "--label",
              .value = "LABEL",
              .meaning = "A label",
              .take = list_in(labels),
              .change = Change::by_hang_up},
             {.key = "pot.open", .flag = "--open", .meaning = "The pot is open", .take = on_off_in(open)}}};
  }
};

struct Outcome {
  int code = -1;  ///< -1: the program would run.
  std::string out;
  std::string err;
  Settings settings;
};

Outcome run(std::vector<std::string> words, const Conflicts& conflicts = {}) {
  Outcome result;
  const Program program = result.settings.program();
  CLI::App app("", program.name);
  const Flags flags(app, program);
  std::vector<const char*> argv{"hpsearch-kettle"};
  for (const std::string& word : words) {
    argv.push_back(word.c_str());
  }
  app.parse(static_cast<int>(argv.size()), argv.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const CommandLine line = flags.taken();
  const auto settled = settle(program, line, conflicts);
  if (const int* code = std::get_if<int>(&settled)) {
    result.code = *code;
  } else if (answers(program, line, std::get<Reading>(settled))) {
    result.code = 0;
  }
  result.out = testing::internal::GetCapturedStdout();
  result.err = testing::internal::GetCapturedStderr();
  return result;
}

TEST(FlagsOfOptions, AreTaken) {
  const Outcome given = run({"--no-config", "--name=x", "--label", "a", "--open", "--label=b"});
  EXPECT_EQ(given.code, -1) << given.err;
  EXPECT_EQ(given.settings.name, "x");
  EXPECT_EQ(given.settings.labels, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(given.settings.open);
  EXPECT_FALSE(run({"--no-config", "--open=false"}).settings.open);
}

TEST(FlagsOfOptions, LabelTakesOneWord) {
  EXPECT_THROW(run({"--no-config", "--label", "a", "b"}), CLI::ParseError);
}

TEST(FlagsOfOptions, OneValueIsGivenOnce) {
  EXPECT_THROW(run({"--no-config", "--name", "a", "--name", "b"}), CLI::ParseError);
}

TEST(FlagsOfOptions, WrongValueExitsWithTwo) {
  const Outcome wrong = run({"--no-config", "--open=maybe"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.err, "hpsearch-kettle: --open is \"maybe\"; it must be true or false\n");
}

TEST(CheckConfig, PrintsAllProblemsOrThatThereAreNone) {
  const Scratch scratch;
  const std::string file = (scratch.path() / "c.yaml").string();
  std::ofstream(file) << "pot: {name: x}\n";
  const Outcome right = run({"--config", file, "--check-config"});
  EXPECT_EQ(right.code, 0);
  EXPECT_EQ(right.out, "hpsearch-kettle: the configuration has no problems (" + file + ")\n");
  EXPECT_EQ(run({"--no-config", "--check-config"}).out,
            "hpsearch-kettle: the configuration has no problems (there is no file)\n");
  std::ofstream(file) << "pot: {nme: x, open: 3}\n";
  const Outcome wrong = run({"--config", file, "--check-config"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.out, "");
  EXPECT_EQ(wrong.err, "hpsearch-kettle: " + file + ":1: pot.open: is 3 (true or false)\n" +
                           "hpsearch-kettle: " + file +
                           ":1: pot.nme: is not a known key (did you mean `pot.name`?)\n");
}

TEST(CheckConfig, ConflictIsSaidWhereTheValueIs) {
  const Scratch scratch;
  const std::string file = (scratch.path() / "c.yaml").string();
  std::ofstream(file) << "pot:\n  name: x\n";
  const Conflicts conflicts = [] { return engine::Problems{{"pot.name", "is \"x\", which is no name", ""}}; };
  EXPECT_EQ(run({"--config", file}, conflicts).err,
            "hpsearch-kettle: " + file + ":2: pot.name: is \"x\", which is no name\n");
  EXPECT_EQ(run({"--no-config", "--name=x"}, conflicts).err,
            "hpsearch-kettle: --name is \"x\", which is no name\n");
}

TEST(PrintConfig, PrintsWhereValuesAreFrom) {
  const Outcome printed = run({"--no-config", "--name=x", "--print-config"});
  EXPECT_EQ(printed.code, 0);
  EXPECT_NE(printed.out.find("  name: \"x\"  # --name\n"), std::string::npos) << printed.out;
}

TEST(DescribeConfig, IsATableOfAllOptions) {
  const Outcome described = run({"--describe-config"});
  EXPECT_EQ(described.code, 0);
  EXPECT_EQ(described.out,
            "| key | flag | default | SIGHUP | meaning |\n"
            "|---|---|---|---|---|\n"
            "| `pot.name` | `--name NAME` | that of the machine \\| kitchen | restart | Name of the pot |\n"
            "| `pot.labels` | `--label LABEL …` | – | yes | A label |\n"
            "| `pot.open` | `--open` | – | restart | The pot is open |\n");
}

}  // namespace
}  // namespace hpsearch::configuration
