// The environment and files of programs.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "hpsearch/workers/shell/ml_mount.hpp"
#include "workers/shell/programs.hpp"
#include "workers/shell/transfer/file_trees.hpp"

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using engine::AttemptKey;
using engine::ExitReport;
using jobs::LaunchSpec;
using Cause = engine::ExitReport::Cause;

TEST_F(Programs, TreeIsMountedAtMl) {
  begin();
  const AttemptKey key = key_of(0);
  LaunchSpec spec =
      spec_of(key, shell("pwd -P; echo $PAI_WORKING_DIR; cat ${PAI_CONFIG_DIR}hyperparameters.json; "
                         "echo mine > ${PAI_OUTPUT_MODEL}model; test -e /ml/usercode && echo seen"));
  spec.contract.ml_layout = true;
  lease(spec);
  EXPECT_EQ(daemon_.wait_for_exit(key).code, can_mount_ml() ? 0 : 1);
  const std::string ml = can_mount_ml() ? "/ml" : (directory_of(key) / "ml").string();
  EXPECT_EQ(read_log(key, "stdout").text, ml + "/usercode\n" + ml +
                                              "/usercode\n{\"lr\": \"0.5\", \"units\": \"64\"}\n" +
                                              (can_mount_ml() ? "seen\n" : ""));
  EXPECT_EQ(text_of(directory_of(key) / "ml/output/model/model"), "mine\n");
  EXPECT_FALSE(fs::exists("/ml/usercode")) << "the mount was seen outside";
}

TEST_F(Programs, MissingInputIsNamed) {
  begin();
  const AttemptKey key = key_of(0);
  LaunchSpec spec = spec_of(key, shell("true"));
  spec.contract.inputs = {{"train", "/nowhere/at/all"}};
  lease(spec);
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::could_not_start);
  EXPECT_NE(exit.message.find("inputs.train: there is no /nowhere/at/all on this worker's machine"),
            std::string::npos)
      << exit.message;
}

TEST_F(Programs, IgnoreFileOfTheContextIsRespected) {
  begin();
  const AttemptKey key = key_of(0);
  const fs::path context = scratch_.path() / "context";
  write_text(context / ".hpsearchignore", "*.ckpt\n!best.ckpt\n/data/\n");
  for (const char* name : {"train.py", "last.ckpt", "best.ckpt", "data/large", "src/data/small"}) {
    write_text(context / name, "x");
  }
  LaunchSpec spec = spec_of(key, shell("find . -type f | sort"));
  spec.context_directory = context.string();
  lease(spec);
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  EXPECT_EQ(read_log(key, "stdout").text, "./.hpsearchignore\n./best.ckpt\n./src/data/small\n./train.py\n");
}

TEST_F(Programs, MissingContextIsNoFailureOfTheTrial) {
  begin();
  const AttemptKey key = key_of(0);
  LaunchSpec spec = spec_of(key, shell("true"));
  spec.context_digest = std::string(64, 'd');
  lease(spec);
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::lost);
  EXPECT_NE(exit.message.find("cannot fetch the context dddddddddddd"), std::string::npos) << exit.message;
}

TEST_F(Programs, RunInTheContextItselfWithInPlace) {
  begin();
  const AttemptKey key = key_of(0);
  const fs::path context = scratch_.path() / "context";
  write_text(context / "train.py", "x");
  LaunchSpec spec = spec_of(key, shell("pwd -P; echo mine > result"));
  spec.context_directory = context.string();
  spec.contract.in_place = true;
  lease(spec);
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  EXPECT_EQ(read_log(key, "stdout").text, fs::canonical(context).string() + "\n");
  daemon_.say(proto::Ack{key, daemon_.reports(key).size()});
  daemon_.until("the attempt's end", [&] { return !fs::exists(directory_of(key) / "spool"); });
  EXPECT_EQ(text_of(context / "result"), "mine\n");
  EXPECT_EQ(text_of(context / "train.py"), "x") << "what goes with the attempt is not the context";
}

TEST_F(Programs, HookOfTheContextRunsOnceForAllPrograms) {
  begin();
  const fs::path context = scratch_.path() / "context";
  write_text(context / "startup-hook.sh",
             "echo hooked; echo x >> " + (scratch_.path() / "hooks").string() + "\n");
  for (const std::uint64_t trial : {0U, 1U, 2U}) {
    LaunchSpec spec = spec_of(key_of(trial), shell("echo trained"));
    spec.context_directory = context.string();
    lease(spec);
  }
  for (const std::uint64_t trial : {0U, 1U, 2U}) {
    EXPECT_EQ(daemon_.wait_for_exit(key_of(trial)).code, 0);
    EXPECT_EQ(read_log(key_of(trial), "stdout").text, "trained\n");
  }
  EXPECT_EQ(text_of(scratch_.path() / "hooks"), "x\n");
}

TEST_F(Programs, FailedStepOfTheContextIsNamed) {
  begin();
  const fs::path context = scratch_.path() / "context";
  write_text(context / "startup-hook.sh", "exit 3\n");
  LaunchSpec spec = spec_of(key_of(0), shell("echo trained"));
  spec.context_directory = context.string();
  lease(spec);
  const ExitReport hook = daemon_.wait_for_exit(key_of(0));
  EXPECT_EQ(hook.code, 3);
  EXPECT_NE(hook.log_tail.find("startup-hook.sh failed with status 3"), std::string::npos) << hook.log_tail;

  write_text(context / "requirements.txt", "./no/such/package\n");
  spec = spec_of(key_of(1), shell("echo trained"));
  spec.context_directory = context.string();
  spec.install_requirements = true;
  lease(spec);
  const ExitReport requirements = daemon_.wait_for_exit(key_of(1));
  EXPECT_EQ(requirements.cause, Cause::could_not_start);
  EXPECT_NE(requirements.code, 0);
  EXPECT_EQ(requirements.message.find("requirements.txt could not be installed"), 0U) << requirements.message;
}

TEST_F(Programs, WorkInAPrivateCopyOfTheContext) {
  begin();
  const fs::path context = scratch_.path() / "context";
  write_text(context / "data/x.txt", "original");
  write_text(context / ".git/HEAD", "x");
  write_text(context / "pkg/__pycache__/m.pyc", "x");
  write_text(context / "run/run.json", "{}");
  fs::create_directories(context / "run/worker");
  const AttemptKey key = key_of(0);
  LaunchSpec spec =
      spec_of(key, shell("find . -type f | sort; echo changed > data/x.txt; cat data/x.txt; [ ! -t 0 ]"));
  spec.context_directory = context.string();
  lease(spec);
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  EXPECT_EQ(read_log(key, "stdout").text, "./data/x.txt\nchanged\n");
  EXPECT_EQ(text_of(context / "data/x.txt"), "original");
}

TEST_F(Programs, GetTheirParametersInEveryForm) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key,
                shell(R"(echo {lr} {args_eq}; echo "$HPSEARCH_PARAMS"; cat "$HPSEARCH_PARAMS_FILE"; )"
                      R"(echo "$HPSEARCH_TRIAL_NUMBER $HPSEARCH_LENGTH $HPSEARCH_UNIT $OMP_NUM_THREADS")")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  EXPECT_EQ(read_log(key, "stdout").text,
            "0.5 --lr=0.5 --units=64\n{\"lr\":0.5,\"units\":64}\n{\"lr\":0.5,\"units\":64}\n0 3 epochs 2\n");
}

TEST_F(Programs, InheritOnlyTheirThreeStreams) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, shell("ls /proc/self/fd | wc -l; readlink /proc/self/fd/0; ulimit -c")));
  daemon_.wait_for_exit(key);
  EXPECT_EQ(read_log(key, "stdout").text, "4\n/dev/null\n0\n");  // ls itself has the directory open.
}

}  // namespace
}  // namespace hpsearch::workers::test
