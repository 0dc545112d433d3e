#include "hpsearch/jobs/launch/entrypoint_start.hpp"

#include <gtest/gtest.h>

namespace hpsearch::jobs {
namespace {

using Words = std::vector<std::string>;

Words start_of(const std::string& line) {
  return plain_start({line});
}
Words start_of(const Words& items) {
  return plain_start({items});
}

TEST(EntrypointStart, LineEndsAtTheFirstWordThatAShellChanges) {
  EXPECT_EQ(start_of("python3 train.py --lr {lr}"), (Words{"python3", "train.py", "--lr"}));
  EXPECT_EQ(start_of("python3  train.py|tee log"), (Words{"python3"}));
  EXPECT_EQ(start_of("./run.sh $HOME"), (Words{"./run.sh"}));
  EXPECT_EQ(start_of("./run.sh\npython3 b.py"), (Words{"./run.sh"}));
  for (const char* line : {"cd sub && python3 train.py", "export A=1", "A=1 python3 train.py",
                           "{python} a.py", "\"my program\" a", "(sleep 1)", "  ", ". env.sh"}) {
    EXPECT_EQ(start_of(std::string(line)), Words{}) << line;
  }
}

TEST(EntrypointStart, ListEndsAtTheFirstHyperparameter) {
  EXPECT_EQ(start_of(Words{"my program", "cd", "{lr}", "b"}), (Words{"my program", "cd"}));
  EXPECT_EQ(start_of(Words{"{program}"}), Words{});
}

TEST(EntrypointStart, FindsTheScriptOfAnInterpreter) {
  const std::pair<Words, std::optional<std::string>> table[] = {
      {{"python3", "train.py", "other.py"}, "train.py"},
      {{"/opt/bin/python3.11", "-u", "-W", "error", "-Xdev", "train.py"}, "train.py"},
      {{"python3", "-m", "package"}, std::nullopt},
      {{"python3", "-um", "package"}, std::nullopt},
      {{"python3", "-u", "-m", "hpsearch.wandb", "train.py", "--lr=1"}, "train.py"},
      {{"python3", "-m", "hpsearch.wandb", "-m", "package.train"}, std::nullopt},
      {{"bash", "-m", "run.sh"}, "run.sh"},
      {{"python3", "-uc", "print(1)"}, std::nullopt},
      {{"python3", "--version"}, std::nullopt},
      {{"python3"}, std::nullopt},
      {{"bash", "-e", "run.sh"}, "run.sh"},
      {{"sh", "-o", "pipefail", "run.sh"}, "run.sh"},
      {{"sh", "-c", "run.sh"}, std::nullopt},
      {{"Rscript", "fit.R"}, "fit.R"},
      {{"torchrun", "train.py"}, std::nullopt},  // Its options are unknown.
      {{"./train.py", "data.csv"}, std::nullopt},
      {{}, std::nullopt},
  };
  for (const auto& [start, script] : table) {
    EXPECT_EQ(script_of(start), script) << (start.empty() ? "" : start.back());
  }
}

TEST(EntrypointStart, FindsTheModuleOfPython) {
  const std::pair<Words, std::optional<std::string>> table[] = {
      {{"python3", "-m", "package.train", "--lr=1"}, "package.train"},
      {{"python3", "-u", "-m", "hpsearch.wandb", "-m", "package.train"}, "package.train"},
      {{"python3", "-m", "hpsearch.wandb", "train.py"}, std::nullopt},
      {{"python3", "-m"}, std::nullopt},
      {{"python3", "train.py", "-m", "other"}, std::nullopt},
      {{"bash", "-m", "run"}, std::nullopt},
  };
  for (const auto& [start, module] : table) {
    EXPECT_EQ(module_of(start), module) << start.back();
  }
}

TEST(EntrypointStart, NamesThePythonOfTheProgram) {
  EXPECT_EQ(python_of({Words{"/opt/bin/python3.11", "train.py"}}), "/opt/bin/python3.11");
  EXPECT_EQ(python_of({std::string("python train.py {args}")}), "python");
  EXPECT_EQ(python_of({std::string("sh train.sh")}), "python3");
  EXPECT_EQ(python_of({std::string("cd a && python train.py")}), "python3");
}

}  // namespace
}  // namespace hpsearch::jobs
