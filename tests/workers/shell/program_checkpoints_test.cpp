// Checkpoints that programs save, and from which they resume.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "workers/shell/programs.hpp"
#include "workers/shell/transfer/file_trees.hpp"

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using engine::AttemptKey;
using engine::CheckpointReport;
using engine::Directive;
using engine::ExitReport;
using engine::Units;
using jobs::LaunchSpec;
using Cause = engine::ExitReport::Cause;

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

// Otherwise it would silently train from the beginning.
TEST_F(Programs, AreNotStartedWithoutTheirCheckpoint) {
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

TEST_F(Programs, MissingCheckpointThatMayBeRemovedIsNoFailure) {
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

// Otherwise it would resume from an incomplete checkpoint.
TEST_F(Programs, DamagedCheckpointIsNotUsed) {
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

TEST_F(Programs, CheckpointIsNotReportedMissingWithoutItsStorage) {
  begin();
  const AttemptKey key = key_of(0);
  LaunchSpec spec = spec_of(key, shell("touch started"));
  spec.latest_checkpoint = "/nowhere/at/all/1/2/3-9";  // Not mounted.
  spec.checkpoint_may_be_gone = true;
  lease(spec);
  EXPECT_EQ(daemon_.wait_for_exit(key).cause, Cause::could_not_start);
}

// A shared file system or an object store is unavailable: the trial continues when it is back.
TEST_F(Programs, OutageOfTheCheckpointStorageIsNoFailureOfTheTrial) {
  begin();
  const AttemptKey key = key_of(0);
  LaunchSpec spec = spec_of(key, shell("touch started"));
  fs::create_symlink("loop", scratch_.path() / "loop");
  spec.latest_checkpoint = (scratch_.path() / "loop" / "1/2/3-9").string();  // It can't even be read.
  lease(spec);
  const ExitReport exit = daemon_.wait_for_exit(key);
  EXPECT_EQ(exit.cause, Cause::lost);
  EXPECT_NE(exit.message.find("cannot be looked for"), std::string::npos) << exit.message;
}

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

TEST_F(Programs, SilentProgramLeavesItsCheckpointByExitingWithZero) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, shell("echo x > {checkpoint_dir}/model")));
  EXPECT_EQ(daemon_.wait_for_exit(key).code, 0);
  const auto checkpoints = daemon_.reports_of<CheckpointReport>(key);
  ASSERT_EQ(checkpoints.size(), 1U);
  EXPECT_EQ(checkpoints[0].step, Units{3});
  EXPECT_EQ(text_of(fs::path(checkpoints[0].path) / "model"), "x\n");
}

TEST_F(Programs, GetTheErrorOfAnEmptyCheckpoint) {
  begin();
  const AttemptKey key = key_of(0);
  lease(spec_of(key, python("print(say(type='checkpoint', step=1))")));
  daemon_.wait_for_exit(key);
  EXPECT_TRUE(daemon_.reports_of<CheckpointReport>(key).empty());
  EXPECT_NE(read_log(key, "stdout").text.find("is empty"), std::string::npos);
}

/// The part of the attempt's directory that the program replaces by a link, and whether that leads to another
/// file system.
class LinkedPrograms : public Programs, public testing::WithParamInterface<std::tuple<const char*, bool>> {
 protected:
  OtherFileSystem other_;
};

TEST_P(LinkedPrograms, LoseNoFileBelowTheLink) {
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

/// The program removes its whole directory: this is its own problem, and no failed disk.
class RootlessPrograms : public Programs, public testing::WithParamInterface<const char*> {};

TEST_P(RootlessPrograms, ReportToTheEndAndAffectNoOtherProcess) {
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

}  // namespace
}  // namespace hpsearch::workers::test
