#include "cli/experiment/start_check.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "messages.hpp"
#include "scratch.hpp"

namespace hpsearch::cli {
namespace {

using Machine = StartPlace::Machine;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// An experiment in its own directory, and the notes on its start.
class StartCheckTest : public testing::Test {
 protected:
  static std::vector<std::string> texts(const std::vector<FileProblem>& problems) {
    std::vector<std::string> out;
    for (const FileProblem& problem : problems) {
      out.push_back(to_text("e.yaml", problem));
    }
    return out;
  }

  void check(const std::string& entrypoint, Machine machine, const std::string& more = "",
             std::optional<std::string> slots = std::nullopt) {
    ExperimentFile file = open_experiment_file(scratch.write(
        "project/e.yaml",
        "entrypoint: " + entrypoint + "\nsearcher: {name: single, metric: loss, max_length: 3}\n" + more));
    ASSERT_TRUE(file.config) << texts(file.problems).front();
    file.notes.clear();
    check_start(file, {scratch.path() / "project", machine, std::move(slots)});
    problems = texts(file.problems);
    notes = texts(file.notes);
    EXPECT_EQ(file.config.has_value(), problems.empty());
  }

  std::string executable(const std::string& name, const std::string& text = "#!/bin/sh\n") const {
    const std::string path = scratch.write(name, text);
    EXPECT_EQ(::chmod(path.c_str(), 0755), 0);
    return path;
  }

  Scratch scratch;
  std::vector<std::string> problems;
  std::vector<std::string> notes;
};

TEST_F(StartCheckTest, AcceptsAnExistingProgram) {
  executable("project/run.sh");
  scratch.write("project/train.py", "");
  for (const char* entrypoint :
       {"./run.sh", "sh run.sh {args}", "[/bin/sh, train.py]", "[sh, -c, nothing]", "cd x && nothing",
        "[\"{x}\"]\nhyperparameters: {x: {type: const, val: a}}"}) {
    check(entrypoint, Machine::this_one);
    EXPECT_THAT(problems, IsEmpty()) << entrypoint;
    EXPECT_THAT(notes, IsEmpty()) << entrypoint;
  }
}

TEST_F(StartCheckTest, ProgramMissingOnPathIsAProblemOnlyOnThisMachine) {
  check("pyhton3 train.py", Machine::this_one);
  EXPECT_THAT(problems,
              ElementsAre("e.yaml:1: entrypoint: starts pyhton3, which isn't on PATH of this machine "
                          "(did you mean python3?)"));
  for (const Machine machine : {Machine::worker, Machine::unknown}) {
    check("[pyhton3, -c, x]", machine);
    EXPECT_THAT(problems, IsEmpty());
    EXPECT_MESSAGE(notes);
  }
  check("[hpsearch-no-such-program]", Machine::this_one, "environment: {image: somewhere/else}\n");
  EXPECT_THAT(problems, IsEmpty()) << "it is in the image";
}

TEST_F(StartCheckTest, ProgramOfTheContextNeedsADot) {
  executable("project/train");
  check("train --lr 1", Machine::this_one);
  EXPECT_MESSAGE(problems);
}

TEST_F(StartCheckTest, PathComesFromTheExperiment) {
  executable("bin/fit");
  const std::string path = "environment: {environment_variables: {PATH: " + scratch.path("bin") + "}}\n";
  check("[fit]", Machine::this_one, path);
  EXPECT_THAT(problems, IsEmpty());
  check("[fit]", Machine::this_one);
  EXPECT_MESSAGE(problems);
  check("[fit]", Machine::this_one, "environment: {requirements: install}\n");
  EXPECT_THAT(problems, IsEmpty()) << "a requirement may bring it";
  scratch.write("project/startup-hook.sh", "");
  check("[fit]", Machine::this_one);
  EXPECT_THAT(problems, IsEmpty()) << "the hook may";
  EXPECT_MESSAGE(notes);
}

TEST_F(StartCheckTest, MissingScriptIsAProblemIfTheContextIsKnown) {
  scratch.write("project/train.py", "");
  for (const Machine machine : {Machine::worker, Machine::this_one}) {
    check("[/bin/sh, trian.py]", machine);
    EXPECT_MESSAGE(problems);
  }
  check("[/bin/sh, trian.py]", Machine::unknown);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_THAT(notes,
              ElementsAre("e.yaml:1: entrypoint: starts trian.py, which isn't in the context directory "
                          "(did you mean train.py?)"));
  scratch.write("project/startup-hook.sh", "");
  check("[/bin/sh, trian.py]", Machine::this_one);
  EXPECT_THAT(problems, IsEmpty()) << "the hook may make it";
  EXPECT_EQ(notes.size(), 1U);
}

// The program of an imported sweep is started by hpsearch.wandb.
TEST_F(StartCheckTest, ProgramStartedByTheWandbAdapterIsChecked) {
  executable("python3");
  const std::string path = "environment: {environment_variables: {PATH: " + scratch.path().string() + "}}\n";
  scratch.write("project/train.py", "");
  scratch.write("project/pkg/__init__.py", "");
  scratch.write("project/pkg/train.py", "");
  scratch.write("project/pkg/tool/__main__.py", "");
  for (const char* there :
       {"train.py", "-m, pkg.train", "-m, pkg.tool", "-m, installed.train", "-m, installed"}) {
    check("[python3, -m, hpsearch.wandb, " + std::string(there) + "]", Machine::this_one, path);
    EXPECT_THAT(problems, IsEmpty()) << there;
  }
  check("[python3, -u, -m, hpsearch.wandb, trian.py]", Machine::this_one, path);
  EXPECT_MESSAGE(problems);
  for (const char* start : {"python3, -m, pkg.trian", "python3, -m, hpsearch.wandb, -m, pkg.trian"}) {
    check("[" + std::string(start) + "]", Machine::this_one, path);
    EXPECT_MESSAGE(problems) << start;
  }
}

TEST_F(StartCheckTest, UnpackedInterpreterIsReportedWithTheRemedies) {
  executable("project/.venv/bin/python");
  check("[.venv/bin/python, -c, x]", Machine::this_one);
  EXPECT_MESSAGE(problems);
  executable("env/bin/python");
  check("[../env/bin/python, -c, x]", Machine::this_one);
  EXPECT_MESSAGE(problems);
  for (const char* entrypoint : {"[.venv/bin/python, -c, x]", "[../env/bin/python, -c, x]"}) {
    check(entrypoint, Machine::this_one, "source: in_place\n");
    EXPECT_THAT(problems, IsEmpty());
  }
  check("[.venv/bin/python, -c, x]", Machine::this_one,
        "bind_mounts: [{host_path: " + scratch.path("project/.venv") + ", container_path: .venv}]\n");
  EXPECT_THAT(problems, IsEmpty());
}

TEST_F(StartCheckTest, ProgramMustBeExecutable) {
  scratch.write("project/run.sh", "#!/bin/sh\n");
  check("./run.sh", Machine::worker);
  EXPECT_MESSAGE(problems);
  executable("project/dos.sh", "#!/bin/sh\r\necho\r\n");
  check("./dos.sh", Machine::worker);
  EXPECT_MESSAGE(problems);
  executable("project/other.py", "#!/no/such/python\n");
  check("./other.py", Machine::this_one);
  EXPECT_MESSAGE(problems);
  check("[/no/such/program]", Machine::this_one);
  EXPECT_MESSAGE(problems);
}

TEST_F(StartCheckTest, MountsAndInputsMustExistHere) {
  const std::string more =
      "bind_mounts: [{host_path: /, container_path: a}, {host_path: /no/such, "
      "container_path: b}]\ninputs: {train: /no/data, test: test.csv}\n";
  check("[sh]", Machine::this_one, more);
  EXPECT_MESSAGE(problems);
  check("[sh]", Machine::worker, more);
  EXPECT_THAT(problems, ElementsAre(HasSubstr("inputs.test")));
  EXPECT_EQ(notes.size(), 2U);
}

TEST_F(StartCheckTest, UninstalledRequirementsAreNoted) {
  scratch.write("project/requirements.txt", "numpy\n");
  check("[sh]", Machine::this_one);
  EXPECT_MESSAGE(notes);
  for (const char* more : {"environment: {requirements: install}\n", "layout: /ml\n"}) {
    check("[sh]", Machine::this_one, more);
    EXPECT_THAT(notes, IsEmpty()) << more;
  }
}

TEST_F(StartCheckTest, SlotsAndPoolOfThisMachineAreChecked) {
  check("[sh]", Machine::this_one, "resources: {slots_per_trial: 8, resource_pool: gpu}\n", "cpu:2");
  EXPECT_MESSAGE(problems);
  check("[sh]", Machine::this_one, "resources: {slots_per_trial: 8}\n", "auto");
  EXPECT_THAT(problems, IsEmpty()) << "how many that is, the worker finds out";
  check("[sh]", Machine::this_one, "resources: {slots_per_trial: 8}\n", "0");
  EXPECT_THAT(problems, IsEmpty()) << "the worker refuses it";
  check("[sh]", Machine::worker, "resources: {slots_per_trial: 8, resource_pool: gpu}\n");
  EXPECT_THAT(problems, IsEmpty());
}

}  // namespace
}  // namespace hpsearch::cli
