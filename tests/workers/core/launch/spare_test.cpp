// The start of a spare, and which program it can become.

#include "hpsearch/workers/core/launch/spare.hpp"

#include <gtest/gtest.h>

#include <string>

#include "hpsearch/workers/core/launch/launch_environment.hpp"

namespace hpsearch::workers::test {
namespace {

using engine::SlotIndex;

/// A trial of hpsearch.tune(preload=…) in a GPU slot of a machine with two.
struct Trial {
  jobs::LaunchSpec spec;
  LentMachine machine{.slots = 2,
                      .cores = 8,
                      .devices = {"0", "1"},
                      .environment = {{"PATH", "/bin"}},
                      .device_kind = *jobs::device_kind_named("nvidia")};

  explicit Trial(std::uint64_t number) {
    spec.key.experiment = engine::ExperimentId(7);
    spec.key.trial = engine::TrialNumber(number);
    spec.key.attempt = engine::AttemptNumber(1);
    spec.slots = {SlotIndex(1)};
    spec.trial_seed = static_cast<std::uint32_t>(100 + number);
    spec.hparams = engine::Value::Map{{"lr", 0.1 * static_cast<double>(number)}};
    spec.entrypoint.command = std::vector<std::string>{"/usr/bin/python3", "-m", "hpsearch.run_function"};
    spec.preload = {"torch"};
    spec.environment_variables = {{"PYTHONHASHSEED", "3"}};
  }

  [[nodiscard]] ProgramStart program() const {
    const std::string root = "/state/attempts/7-" + std::to_string(spec.key.trial.number()) + "-1";
    const AttemptPlaces places{.work_directory = root + "/work",
                               .checkpoint_directory = root + "/checkpoint",
                               .output_directory = root + "/output",
                               .params_file = root + "/params.json",
                               .socket = root + "/socket"};
    ProgramStart program = plan_launch(spec, places, machine).value().program;
    program.token = "HPSEARCH_ATTEMPT_MARK=" + places.socket;
    program.environment["HPSEARCH_ATTEMPT_MARK"] = places.socket;
    return program;
  }
};

TEST(Spare, HasItsSlotAndNoTrial) {
  const Trial first(0);
  const auto spare = spare_after(first.spec, first.program());
  ASSERT_TRUE(spare);
  EXPECT_EQ(spare->environment.at("CUDA_VISIBLE_DEVICES"), "1");
  EXPECT_EQ(spare->environment.at("OMP_NUM_THREADS"), "4");
  EXPECT_EQ(spare->environment.at("PYTHONHASHSEED"), "3");
  EXPECT_EQ(spare->environment.at("HPSEARCH_SPARE"), "1");
  EXPECT_EQ(spare->directory, "/");
  EXPECT_EQ(spare->token, "");
  for (const auto& [name, value] : spare->environment) {
    EXPECT_TRUE(!name.starts_with("HPSEARCH_") || name == "HPSEARCH_PRELOAD" || name == "HPSEARCH_SPARE")
        << name;
    EXPECT_EQ(value.find("7-0-1"), std::string::npos) << name << " is a trial's: " << value;
  }
}

TEST(Spare, FitsALaterTrialOfItsExperimentAndSlot) {
  const Trial first(0);
  const auto spare = spare_after(first.spec, first.program());
  EXPECT_TRUE(fits(*spare, Trial(1).program()));
}

TEST(Spare, RunsAsTheUserOfItsTrialsAndFitsNoOtherUser) {
  const Trial first(0);
  ProgramStart program = first.program();
  program.account =
      UnixAccount{.name = "ann", .uid = 1001, .gid = 1001, .groups = {1001}, .home = "/home/ann"};
  const auto spare = spare_after(first.spec, program);
  ASSERT_TRUE(spare);
  EXPECT_EQ(spare->account, program.account);
  ProgramStart next = Trial(1).program();
  EXPECT_FALSE(fits(*spare, next)) << "this one runs as the worker";
  next.account = program.account;
  EXPECT_TRUE(fits(*spare, next));
  next.account->uid = 1002;
  EXPECT_FALSE(fits(*spare, next));
}

TEST(Spare, DoesNotFitProgramsThatReadOtherVariablesAtTheirImports) {
  const Trial first(0);
  const auto spare = spare_after(first.spec, first.program());
  Trial other_slot(1);
  other_slot.spec.slots = {SlotIndex(0)};
  EXPECT_FALSE(fits(*spare, other_slot.program()));
  Trial other_seed(1);
  other_seed.spec.environment_variables["PYTHONHASHSEED"] = "4";
  EXPECT_FALSE(fits(*spare, other_seed.program()));
  Trial more_threads(1);
  more_threads.machine.cores = 16;
  EXPECT_FALSE(fits(*spare, more_threads.program()));
  Trial one_more(1);
  one_more.spec.environment_variables["MKL_NUM_THREADS"] = "1";
  EXPECT_FALSE(fits(*spare, one_more.program()));
  Trial one_less(1);
  one_less.spec.environment_variables.erase("PYTHONHASHSEED");
  EXPECT_FALSE(fits(*spare, one_less.program()));
  Trial other_packages(1);
  other_packages.spec.preload = {"numpy"};
  EXPECT_FALSE(fits(*spare, other_packages.program()));
}

TEST(Spare, DoesNotFitAnotherProgram) {
  const Trial first(0);
  const auto spare = spare_after(first.spec, first.program());
  for (const std::vector<std::string>& argv :
       {std::vector<std::string>{"/usr/bin/python3", "train.py"},
        {"/opt/python3", "-m", "hpsearch.run_function"},
        {"/bin/sh", "-c", "exec \"$@\"", "hook", "/usr/bin/python3", "-m", "hpsearch.run_function"}}) {
    ProgramStart other = Trial(1).program();
    other.argv = argv;
    EXPECT_FALSE(fits(*spare, other)) << argv.front();
  }
}

TEST(Spare, IsNotStartedIfItCannotBeUsed) {
  const Trial plain(0);
  Trial unwanted(0);
  unwanted.spec.preload.clear();
  EXPECT_FALSE(spare_after(unwanted.spec, unwanted.program()));
  Trial without_slots(0);
  without_slots.spec.slots.clear();
  EXPECT_FALSE(spare_after(without_slots.spec, without_slots.program()));
  ProgramStart other = plain.program();
  other.argv = {"/usr/bin/python3", "train.py"};
  EXPECT_FALSE(spare_after(plain.spec, other));
  ProgramStart in_terminal = plain.program();
  in_terminal.terminal = true;
  EXPECT_FALSE(spare_after(plain.spec, in_terminal));
  ProgramStart relative = plain.program();
  relative.argv.front() = "bin/python3";
  EXPECT_FALSE(spare_after(plain.spec, relative));
}

TEST(Spare, GetsTheDirectoryAndTheWholeEnvironment) {
  ProgramStart program;
  program.environment = {{"A", "1\n2"}, {"B", ""}};
  program.directory = "/work";
  EXPECT_EQ(handed_over(program), std::string("/work\0A=1\n2\0B=\0", 15));
}

}  // namespace
}  // namespace hpsearch::workers::test
