// What programs find, say and hear.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/ml_mount.hpp"
#include "workers/shell/file_trees.hpp"
#include "workers/shell/programs.hpp"

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using engine::AttemptKey;
using engine::CheckpointReport;
using engine::Directive;
using engine::Duration;
using engine::ExitReport;
using engine::InvalidHparamsReport;
using engine::Lsn;
using engine::MetricsReport;
using engine::Units;
using jobs::LaunchSpec;
using Cause = engine::ExitReport::Cause;

// --- what a program finds ---

TEST_F(Programs, TheTreeCanBeSeenAtMl) {
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

TEST_F(Programs, AnInputThatIsNotThereIsNamed) {
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

TEST_F(Programs, CheckpointsCanBeginWithTheLatest) {
  begin();
  const AttemptKey key = key_of(0);
  write_text(scratch_.path() / "latest/model", "trained\n");
  write_text(
      scratch_.path() / "latest/manifest.json",
      R"({"what":"hpsearch checkpoint","format":1,"experiment":1,"trial":0,"attempt":1,"step":1,"files":[]})");
  LaunchSpec spec = spec_of(key, shell("cat ${PAI_OUTPUT_CHECKPOINTS}model"));
  spec.latest_checkpoint = (scratch_.path() / "latest").string();
  spec.contract.outputs = {{.name = "checkpoints", .path = "", .pre_download = true}};
  lease(spec);
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  EXPECT_EQ(read_log(key, "stdout").text, "trained\n");
}

// Else it would train from the beginning, as if nothing had been.
TEST_F(Programs, AreNotStartedWithoutTheCheckpointTheyGoOnFrom) {
  begin();
  const AttemptKey key = key_of(0);
  LaunchSpec spec = spec_of(key, shell("touch started"));
  spec.latest_checkpoint = "/nowhere/at/all/1/2/3-9";
  lease(spec);
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::could_not_start);
  EXPECT_NE(
      exit.message.find("its latest checkpoint /nowhere/at/all/1/2/3-9 is not on this worker's machine"),
      std::string::npos)
      << exit.message;
}

TEST_F(Programs, ACheckpointThatMayBeGoneIsNotTheirFailure) {
  begin();
  const AttemptKey key = key_of(0);
  LaunchSpec spec = spec_of(key, shell("touch started"));
  write_text(scratch_.path() / "checkpoints/1/.hpsearch-store.json", "{}");
  spec.latest_checkpoint = (scratch_.path() / "checkpoints/1/2/3-9").string();
  spec.checkpoint_may_be_gone = true;
  lease(spec);
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::checkpoint_gone);
  EXPECT_NE(exit.message.find("3-9 is not on this worker's machine"), std::string::npos) << exit.message;
}

// Half of it would be trained on as if it were all.
TEST_F(Programs, ADamagedCheckpointIsNotHandedOut) {
  begin();
  const std::string manifest =
      R"({"what":"hpsearch checkpoint","format":1,"experiment":1,"trial":2,"attempt":3,"step":9,"files":)"
      R"([{"path":"weights","bytes":9,"crc32c":3808858755}]})";  // CRC-32C of "123456789".
  const fs::path place = scratch_.path() / "checkpoints/1/2/3-9";
  write_text(scratch_.path() / "checkpoints/1/.hpsearch-store.json", "{}");
  const std::vector<std::pair<std::string, std::function<void()>>> damages{
      {"", [] {}},
      {"is damaged: weights is missing or damaged", [&] { write_text(place / "weights", "123456780"); }},
      {"is damaged: weights is missing or damaged", [&] { write_text(place / "weights", "1234"); }},
      {"is damaged: weights is missing or damaged", [&] { fs::remove(place / "weights"); }},
      {"is damaged: its manifest.json is damaged", [&] { write_text(place / "manifest.json", "{"); }},
      {"is damaged: it has no manifest.json", [&] { fs::remove(place / "manifest.json"); }},
  };
  for (std::uint64_t i = 0; i < damages.size(); ++i) {
    fs::remove_all(place);
    write_text(place / "weights", "123456789");
    write_text(place / "manifest.json", manifest);
    damages[i].second();
    for (const bool own : {true, false}) {
      const AttemptKey key = key_of(2 * i + (own ? 1 : 0));
      LaunchSpec spec = spec_of(key, shell("exit 3"));
      spec.latest_checkpoint = place.string();
      spec.checkpoint_may_be_gone = own;
      lease(spec);
      const ExitReport exit = daemon_.wait_for_exit(key);
      const Cause expected = i == 0 ? Cause::exited : own ? Cause::checkpoint_gone : Cause::could_not_start;
      EXPECT_EQ(exit.cause, expected) << i << own << exit.message;
      EXPECT_NE(exit.message.find(damages[i].first), std::string::npos) << exit.message;
    }
  }
}

TEST_F(Programs, WhoDoesNotSeeTheStorageDoesNotSayThatACheckpointIsGone) {
  begin();
  const AttemptKey key = key_of(0);
  LaunchSpec spec = spec_of(key, shell("touch started"));
  spec.latest_checkpoint = "/nowhere/at/all/1/2/3-9";  // Not mounted.
  spec.checkpoint_may_be_gone = true;
  lease(spec);
  EXPECT_EQ(daemon_.wait_for_exit(key).cause, Cause::could_not_start);
}

// A shared file system that is away, or an object store: the trial goes on when it is back.
TEST_F(Programs, AnOutageOfWhereTheirCheckpointsAreIsNotTheTrialsFault) {
  begin();
  const AttemptKey key = key_of(0);
  LaunchSpec spec = spec_of(key, shell("touch started"));
  fs::create_symlink("loop", scratch_.path() / "loop");
  spec.latest_checkpoint = (scratch_.path() / "loop" / "1/2/3-9").string();  // It cannot even be asked.
  lease(spec);
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::lost);
  EXPECT_NE(exit.message.find("cannot be looked for"), std::string::npos) << exit.message;
}

TEST_F(Programs, TheContextsIgnoreFileIsObeyed) {
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

TEST_F(Programs, AContextThatCannotBeFetchedIsNotTheTrialsFault) {
  begin();
  const AttemptKey key = key_of(0);
  LaunchSpec spec = spec_of(key, shell("true"));
  spec.context_digest = std::string(64, 'd');
  lease(spec);
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::lost);
  EXPECT_NE(exit.message.find("cannot fetch the context dddddddddddd"), std::string::npos) << exit.message;
}

TEST_F(Programs, RunInTheContextItselfWhenAskedTo) {
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

TEST_F(Programs, TheContextsHookRunsOnceForAllItsPrograms) {
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

TEST_F(Programs, AStepOfTheContextThatFailsIsNamed) {
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
  spec.environment_variables["HPSEARCH_REQUIREMENTS"] = "install";
  lease(spec);
  const ExitReport requirements = daemon_.wait_for_exit(key_of(1));
  EXPECT_EQ(requirements.cause, Cause::could_not_start);
  EXPECT_NE(requirements.code, 0);
  EXPECT_EQ(requirements.message.find("requirements.txt could not be installed"), 0U) << requirements.message;
}

// --- reports and answers ---

TEST_F(Programs, ReportOnTheSocketAndHearTheDecision) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python(R"(
print(say(type="report", step=1, metrics={"acc": 0.5, "train": {"loss": float("nan")}}))
print(say(type="report", step=3, metrics={"acc": 0.75}))
print(say(type="log", text="more to come"))
)")));
  wait_for_reports(key, 2);
  EXPECT_EQ(daemon_.started, (std::vector<AttemptKey>{key}));
  decide(key, 50, Directive::train_on, 9);
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::exited);
  EXPECT_EQ(exit.code, 0) << exit.log_tail;
  EXPECT_EQ(daemon_.decision_acks, (std::vector<Lsn>{Lsn{50}}));
  const auto metrics = daemon_.reports_of<MetricsReport>(key);
  ASSERT_EQ(metrics.size(), 2U);
  EXPECT_EQ(metrics[0].step, Units{1});
  EXPECT_EQ(metrics[0].metrics[0], (std::pair<std::string, double>{"acc", 0.5}));
  EXPECT_EQ(metrics[0].metrics[1].first, "train.loss");
  EXPECT_TRUE(std::isnan(metrics[0].metrics[1].second));
  EXPECT_EQ(metrics[1].step, Units{3});
  EXPECT_EQ(read_log(key, "stdout").text,
            "{'directive': 'continue', 'length': 3}\n{'directive': 'continue', 'length': 9}\n"
            "more to come\n{'directive': 'continue', 'length': 9}\n");
}

TEST_F(Programs, ProgressIsALineOfTheLogWheneverItIsAnotherPercent) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python(R"(
for fraction in 0.1, 0.101, None, 0.5, 7, 1:
    say(type="progress", fraction=fraction)
say(type="progress")
print("ends")
)")));
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.code, 0) << exit.log_tail;
  EXPECT_EQ(read_log(key, "stdout").text, "progress 10%\nprogress 50%\nprogress 100%\nends\n");
}

TEST_F(Programs, ReportByLinesOnStdout) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key,
                shell(R"(printf 'epoch 1\nHPSEARCH {{"step":1,"acc":0.25}}\n'; )"
                      R"(printf '50%%\rHPSEARCH {{"step":2,"acc":NaN}}\nHPSEARCH {{"step":3,"acc":0.5}}')")));
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.code, 0);
  const auto metrics = daemon_.reports_of<MetricsReport>(key);
  ASSERT_EQ(metrics.size(), 3U);
  EXPECT_EQ(metrics[2].step, Units{3});
  EXPECT_TRUE(std::isnan(metrics[1].metrics[0].second));
}

TEST_F(Programs, ThatKnowNothingOfUsAreReadByPatterns) {
  begin();
  const AttemptKey key = key_of(0);
  LaunchSpec spec = spec_of(key, shell("echo 'epoch 1 acc: 0.25'; echo 'epoch 2 acc: tensor(0.5)' >&2"));
  spec.metric_patterns["acc"] = R"(epoch (?P<step>\d+) acc: (?P<value>.*))";
  lease(spec);
  daemon_.wait_for_exit(key);
  const auto metrics = daemon_.reports_of<MetricsReport>(key);
  ASSERT_EQ(metrics.size(), 2U);  // The two streams have no order between them.
  EXPECT_EQ(metrics[0].metrics[0].second + metrics[1].metrics[0].second, 0.75);
}

TEST_F(Programs, WithAPatternThatIsNoneDoNotStart) {
  begin();
  const AttemptKey key = key_of(0);
  LaunchSpec spec = spec_of(key, shell("true"));
  spec.metric_patterns["acc"] = "(";
  lease(spec);
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::could_not_start);
  EXPECT_NE(exit.message.find("metrics.acc"), std::string::npos) << exit.message;
}

TEST_F(Programs, GetAnErrorForABadMessageAndGoOn) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python(R"(
print(say(type="report", step="three", metrics={}))
lines.write("x" * 70000 + "\n"); lines.flush(); print(lines.readline())
print(say(type="report", step=1, metrics={"acc": 0.5}))
)")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  const std::string text = read_log(key, "stdout").text;
  EXPECT_NE(text.find("step is \"three\""), std::string::npos) << text;
  EXPECT_NE(text.find("longer than 65536 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("continue"), std::string::npos) << text;
}

TEST_F(Programs, MayEndTheirSideBeforeTheAnswer) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python(R"(
lines.write('{"type":"report","step":3,"metrics":{"acc":1}}'); lines.flush()
stream.shutdown(socket.SHUT_WR)
print(lines.readline())
)")));
  wait_for_reports(key, 1);
  decide(key, 50, Directive::stop);
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  EXPECT_NE(read_log(key, "stdout").text.find("stop"), std::string::npos);
}

TEST_F(Programs, MaySayThatTheirHyperparametersAreInvalid) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python(R"(
answer = say(type="invalid_hyperparameters", why="more heads than features")
sys.exit(0 if answer["directive"] == "stop" else 1)
)")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  ASSERT_EQ(daemon_.reports_of<InvalidHparamsReport>(key).size(), 1U);
  EXPECT_EQ(daemon_.reports_of<InvalidHparamsReport>(key)[0].why, "more heads than features");
}

TEST_F(Programs, WhatTheySaidLastBeforeTheyEndedCounts) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python(R"(
for step in range(1, 3):
    print(json.dumps({"type": "report", "step": step, "metrics": {"acc": step}}), file=lines)
lines.flush()
os._exit(3)
)")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 3);
  EXPECT_EQ(daemon_.reports_of<MetricsReport>(key).size(), 2U);
}

// --- checkpoints ---

TEST_F(Programs, PauseWithACheckpointAndResumeFromIt) {
  begin();
  const AttemptKey key = key_of(4);
  LaunchSpec spec = spec_of(key, python(R"(
def save(text):
    os.makedirs(os.environ["HPSEARCH_CHECKPOINT_DIR"] + "/deep", exist_ok=True)
    open(os.environ["HPSEARCH_CHECKPOINT_DIR"] + "/deep/weights", "w").write(text)
start = os.environ["HPSEARCH_LATEST_CHECKPOINT"]
if start:
    print("resumed with", open(start + "/deep/weights").read())
    sys.exit(0)
answer = say(type="report", step=3, metrics={"acc": 0.5})
assert answer["directive"] == "pause", answer
save("forty-two")
answer = say(type="checkpoint", step=3)
assert answer["directive"] == "pause", answer
assert os.listdir(os.environ["HPSEARCH_CHECKPOINT_DIR"]) == []
)"));
  spec.checkpoint_root = (scratch_.path() / "store").string();
  lease(spec);
  wait_for_reports(key, 1);
  decide(key, 50, Directive::pause);
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::exited);
  ASSERT_EQ(exit.code, 0) << exit.log_tail;
  const auto checkpoints = daemon_.reports_of<CheckpointReport>(key);
  ASSERT_EQ(checkpoints.size(), 1U);
  EXPECT_EQ(checkpoints[0].step, Units{3});
  EXPECT_EQ(checkpoints[0].path, (scratch_.path() / "store/1/4/1-3").string());
  EXPECT_EQ(checkpoints[0].files, 1U);
  EXPECT_EQ(checkpoints[0].bytes, 9U);
  EXPECT_EQ(text_of(fs::path(checkpoints[0].path) / "deep/weights"), "forty-two");
  EXPECT_NE(text_of(fs::path(checkpoints[0].path) / "manifest.json").find("deep/weights"), std::string::npos);

  const AttemptKey again = key_of(4, 2);
  spec.key = again;
  spec.latest_checkpoint = checkpoints[0].path;
  spec.latest_step = Units{3};
  spec.length = Units{9};
  lease(spec);
  EXPECT_EQ(daemon_.wait_for_exit(again).code, 0);
  EXPECT_EQ(read_log(again, "stdout").text, "resumed with forty-two\n");
}

TEST_F(Programs, WithoutAnyReportingLeaveTheirCheckpointByEndingWell) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, shell("echo x > {checkpoint_dir}/model")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  const auto checkpoints = daemon_.reports_of<CheckpointReport>(key);
  ASSERT_EQ(checkpoints.size(), 1U);
  EXPECT_EQ(checkpoints[0].step, Units{3});
  EXPECT_EQ(text_of(fs::path(checkpoints[0].path) / "model"), "x\n");
}

TEST_F(Programs, AnEmptyCheckpointIsToldToThem) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python("print(say(type='checkpoint', step=1))")));
  daemon_.wait_for_exit(key);
  EXPECT_TRUE(daemon_.reports_of<CheckpointReport>(key).empty());
  EXPECT_NE(read_log(key, "stdout").text.find("is empty"), std::string::npos);
}

/// What of the attempt's directory the program replaces by a link, and whether that leads to another file
/// system.
class LinkedPrograms : public Programs, public testing::WithParamInterface<std::tuple<const char*, bool>> {
 protected:
  OtherFileSystem other_;
};

TEST_P(LinkedPrograms, LoseNothingOfWhatTheLinkLeadsTo) {
  const auto [replaced, on_other] = GetParam();
  begin();
  const fs::path tree = (on_other ? other_.path() : scratch_.path()) / "own";
  lay_out_tree(tree);
  const auto before = content_of(tree);
  const AttemptKey key = key_of(0);
  lease(spec_of(
      key, python("place, tree = '" + (directory_of(key) / replaced).string() + "', '" + tree.string() + R"('
os.rename(place, place + ".aside")
os.symlink(tree, place)
print(say(type="checkpoint", step=1)["error"]))")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  EXPECT_TRUE(daemon_.reports_of<CheckpointReport>(key).empty());
  EXPECT_NE(read_log(key, "stdout")
                .text.find("checkpoints was replaced by a symbolic link; the worker takes "
                           "checkpoints only from the directory that it made"),
            std::string::npos)
      << read_log(key, "stdout").text;
  EXPECT_EQ(content_of(tree), before);
  AttemptDirectory(directory_of(key)).remove_working_files();
  EXPECT_EQ(content_of(tree), before) << "removed with the attempt's working files";
}

INSTANTIATE_TEST_SUITE_P(, LinkedPrograms,
                         testing::Combine(testing::Values("ml/output/checkpoints", "ml/output", "ml"),
                                          testing::Bool()));

/// Whose directory a program takes away altogether: it is its own trouble, and no failed disk.
class RootlessPrograms : public Programs, public testing::WithParamInterface<const char*> {};

TEST_P(RootlessPrograms, AreHeardToTheEndAndHarmNobody) {
  begin();
  const fs::path tree = scratch_.path() / "own";
  lay_out_tree(tree);
  const auto before = content_of(tree);
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python("root, tree = '" + directory_of(key).string() + "', '" + tree.string() + "'\n" +
                            GetParam() + R"(
print(say(type="report", step=1, metrics={"acc": 0.5})))")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  EXPECT_EQ(daemon_.reports(key).size(), 2U) << "the report, and the exit";
  EXPECT_TRUE(std::all_of(daemon_.beats.begin(), daemon_.beats.end(), [](const proto::Beat& beat) {
    return beat.troubles.empty();
  })) << "its neighbours' slots are in use";
  EXPECT_EQ(content_of(tree), before);
}

INSTANTIATE_TEST_SUITE_P(Removed, RootlessPrograms, testing::Values("import shutil; shutil.rmtree(root)"));
INSTANTIATE_TEST_SUITE_P(Linked, RootlessPrograms,
                         testing::Values("os.rename(root, root + '.aside'); os.symlink(tree, root)"));

// --- what programs hear ---

TEST_F(Programs, ThatArePausedInMidLengthHearItAtTheNextReport) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python(R"(
say(type="report", step=1, metrics={"acc": 0})
import time
while True:
    time.sleep(0.01)
    answer = say(type="report", step=2, metrics={"acc": 0})
    if answer["directive"] != "continue":
        print(answer["directive"])
        break
)")));
  wait_for_reports(key, 1);
  decide(key, 50, Directive::pause);
  EXPECT_EQ(daemon_.wait_for_exit(key).cause, Cause::exited);
  EXPECT_EQ(read_log(key, "stdout").text, "pause\n");
}

// --- what cannot start ---

TEST_F(Programs, ThatAreMissingAreNamed) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, {std::vector<std::string>{"no-such-trainer", "x"}}));
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::could_not_start);
  EXPECT_NE(exit.message.find("no program no-such-trainer on PATH"), std::string::npos) << exit.message;
  EXPECT_TRUE(daemon_.started.empty());
}

TEST_F(Programs, MissingBehindAShellSayNotFound) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, shell("no-such-trainer --lr {lr}")));
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.code, 127);
  EXPECT_NE(exit.log_tail.find("no-such-trainer"), std::string::npos) << exit.log_tail;
}

TEST_F(Programs, WithoutTheirContextDirectoryDoNotStart) {
  begin();
  const AttemptKey key = key_of(0);
  LaunchSpec spec = spec_of(key, shell("true"));
  spec.context_directory = (scratch_.path() / "gone").string();
  lease(spec);
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::could_not_start);
  EXPECT_NE(exit.message.find(spec.context_directory), std::string::npos) << exit.message;
}

TEST_F(Programs, WhoseFileIsNotExecutableAreNamed) {
  begin();
  const AttemptKey key = key_of(0);
  LaunchSpec spec = spec_of(key, {std::vector<std::string>{"./train"}});
  write_text(scratch_.path() / "context/train", "not a program");
  spec.context_directory = (scratch_.path() / "context").string();
  lease(spec);
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::could_not_start);
  EXPECT_NE(exit.message.find("./train"), std::string::npos) << exit.message;
}

// --- what they find ---

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

TEST_F(Programs, FindTheirParametersInEveryForm) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key,
                shell(R"(echo {lr} {args_eq}; echo "$HPSEARCH_PARAMS"; cat "$HPSEARCH_PARAMS_FILE"; )"
                      R"(echo "$HPSEARCH_TRIAL_NUMBER $HPSEARCH_LENGTH $HPSEARCH_UNIT $OMP_NUM_THREADS")")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  EXPECT_EQ(read_log(key, "stdout").text,
            "0.5 --lr=0.5 --units=64\n{\"lr\":0.5,\"units\":64}\n{\"lr\":0.5,\"units\":64}\n0 3 epochs 2\n");
}

TEST_F(Programs, InheritNothingButTheirThreeStreams) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, shell("ls /proc/self/fd | wc -l; readlink /proc/self/fd/0; ulimit -c")));
  daemon_.wait_for_exit(key);
  EXPECT_EQ(read_log(key, "stdout").text, "4\n/dev/null\n0\n");  // ls itself has the directory open.
}

// --- logs ---

// A dead shim would take its program along; the kernel gains nothing by it.
TEST_F(Programs, AreEndedForMemoryBeforeTheirShims) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, shell("cat /proc/self/oom_score_adj /proc/$PPID/oom_score_adj")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  const int ours = std::stoi(text_of("/proc/self/oom_score_adj"));
  EXPECT_EQ(read_log(key, "stdout").text,
            std::to_string(std::min(ours + 100, 1000)) + "\n" + std::to_string(ours) + "\n");
}

TEST_F(Programs, MayPrintWithoutEnd) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, shell("head -c 20000000 /dev/zero | tr '\\0' x; echo; echo end")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  const proto::LogPart tail = read_log(key, "stdout", 0, 100, true);
  EXPECT_EQ(tail.size, 20'000'005U);
  EXPECT_EQ(tail.offset, 20'000'005U - 100);
  EXPECT_TRUE(tail.text.ends_with("x\nend\n"));
  EXPECT_LE(read_log(key, "stdout", 0, 10'000'000).text.size(), 128U * 1024);
}

TEST_F(Programs, LogsAreReadWhileTheyRunAndAfterwards) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(
      key,
      shell(
          R"(printf 'one\ntw\303\251\n'; echo oops >&2; echo 'HPSEARCH {{"step":1,"acc":0}}'; exec sleep 1000)")));
  wait_for_reports(key, 1);
  EXPECT_EQ(read_log(key, "stdout", 4, 3).text, "tw") << "no half characters";
  EXPECT_EQ(read_log(key, "stderr").text, "oops\n");
  decide(key, 50, Directive::kill);
  daemon_.wait_for_exit(key);
  daemon_.until("the work directory is gone", [&] { return !fs::exists(directory_of(key) / "work"); });
  EXPECT_EQ(read_log(key, "stdout", 0, 4).text, "one\n");
  EXPECT_FALSE(read_log(key_of(9), "stdout").problem.empty());
  EXPECT_FALSE(read_log(key, "elsewhere").problem.empty());
}

// --- the worker ---

TEST_F(Programs, RunOnWhileTheDaemonIsAway) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(
      key, shell(R"(echo 'HPSEARCH {{"step":1,"acc":0}}'; until [ -e ../output/go ]; do sleep 0.01; done; )"
                 R"(echo 'HPSEARCH {{"step":2,"acc":0}}'; exit 5)")));
  wait_for_reports(key, 1);
  daemon_.close();
  write_text(directory_of(key) / "output/go", "");
  daemon_.until("the program has ended", [&] { return !fs::exists(directory_of(key) / "process.json"); });
  daemon_.reopen();
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 5);
  EXPECT_EQ(daemon_.reports(key).size(), 3U);
  ASSERT_GE(daemon_.hellos.size(), 2U);
  ASSERT_EQ(daemon_.hellos.back().held.size(), 1U);
  EXPECT_EQ(daemon_.hellos.back().held[0].last_seq, 3U);
}

TEST_F(Programs, SpeakThroughAShortSocketWhenTheStateDirectoryIsDeep) {
  fs::path deep = scratch_.path();
  for (int i = 0; i < 10; ++i) {
    deep /= "a-directory-with-a-long-name";
  }
  begin(Duration::seconds(30), deep);
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python("print(len(os.environ['HPSEARCH_SOCKET']) < 108)")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  EXPECT_EQ(read_log(key, "stdout").text, "True\n");
}

TEST_F(Programs, FourAtATimeEachReportItsOwn) {
  begin();
  for (std::uint64_t trial = 0; trial < 4; ++trial) {
    LaunchSpec spec = spec_of(key_of(trial), python(R"(
trial = int(os.environ["HPSEARCH_TRIAL_NUMBER"])
for step in range(1, 4):
    say(type="report", step=step, metrics={"acc": trial})
)"));
    spec.slots = {engine::SlotIndex{trial}};
    lease(spec);
  }
  for (std::uint64_t trial = 0; trial < 4; ++trial) {
    wait_for_reports(key_of(trial), 3);
    decide(key_of(trial), 70 + trial, Directive::stop);
  }
  for (std::uint64_t trial = 0; trial < 4; ++trial) {
    EXPECT_EQ(daemon_.wait_for_exit(key_of(trial)).code, 0);
    for (const MetricsReport& report : daemon_.reports_of<MetricsReport>(key_of(trial))) {
      EXPECT_EQ(report.metrics[0].second, static_cast<double>(trial));
    }
  }
}

}  // namespace
}  // namespace hpsearch::workers::test
