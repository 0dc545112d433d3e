#include "hpsearch/workers/determined/harness_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "hpsearch/engine/base/text.hpp"
#include "scratch.hpp"

namespace hpsearch::workers {
namespace {

using engine::Value;
namespace fs = std::filesystem;

class HarnessFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(scratch_.path("checkpoint"));
    fs::create_directories(scratch_.path("output"));
    ASSERT_TRUE(files_.make("hpsearch"));
  }

  Scratch scratch_;
  HarnessFiles files_{scratch_.path("harness"), scratch_.path("checkpoint"), scratch_.path("output")};
};

TEST_F(HarnessFilesTest, CheckpointIsLentUnderItsName) {
  scratch_.write("harness/storage/ab-1/model.pt", "weights");
  scratch_.write("harness/storage/ab-1/code/train.py", "pass");
  const Value record = Value::Map{{"uuid", "ab-1"}, {"steps_completed", 8}};
  ASSERT_TRUE(files_.take("ab-1", record));
  EXPECT_EQ(scratch_.read("checkpoint/model.pt"), "weights");
  EXPECT_EQ(scratch_.read("checkpoint/code/train.py"), "pass");

  fs::rename(scratch_.path("checkpoint"), scratch_.path("published"));
  HarnessFiles next(scratch_.path("next"), scratch_.path("checkpoint"), scratch_.path("output"));
  ASSERT_TRUE(next.make("hpsearch"));
  const engine::Result<Value> lent = next.lend(scratch_.path("published"));
  ASSERT_TRUE(lent) << lent.error().message;
  EXPECT_EQ(*lent, record);
  EXPECT_EQ(scratch_.read("next/storage/ab-1/model.pt"), "weights");
}

TEST_F(HarnessFilesTest, KeepsOnlyTheNewestForTheHarness) {
  scratch_.write("harness/storage/a/x", "1");
  scratch_.write("harness/storage/b/y", "2");
  ASSERT_TRUE(files_.take("a", Value::Map{}));
  ASSERT_TRUE(files_.take("b", Value::Map{}));
  EXPECT_FALSE(fs::exists(scratch_.path("harness/storage/a")));
  EXPECT_EQ(scratch_.read("harness/storage/b/y"), "2");
  EXPECT_FALSE(fs::exists(scratch_.path("checkpoint/x"))) << "an earlier one that was not published";
  EXPECT_FALSE(files_.take("c", Value::Map{})) << "there is no such checkpoint";
}

TEST_F(HarnessFilesTest, RemovesNothingThroughALinkInTheCheckpointDirectorysPlace) {
  scratch_.write("harness/storage/a/x", "1");
  scratch_.write("own/weights", "mine");
  fs::rename(scratch_.path("checkpoint"), scratch_.path("aside"));
  fs::create_directory_symlink(scratch_.path("own"), scratch_.path("checkpoint"));
  const engine::Status taken = files_.take("a", Value::Map{});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, engine::Errc::wrong_state);
  EXPECT_EQ(scratch_.read("own/weights"), "mine");
  EXPECT_FALSE(fs::exists(scratch_.path("own/x")));
}

TEST_F(HarnessFilesTest, RefusesACheckpointWithPartsOnOtherNodes) {
  scratch_.write("harness/storage/a/rank0/x", "1");
  const Value::Map resources{{"rank0/", 0}, {"rank0/x", 1}, {"rank1/x", 1}};
  const engine::Status taken = files_.take("a", Value::Map{{"uuid", "a"}, {"resources", resources}});
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().message.find("a has no rank1/x on this node"), std::string::npos)
      << taken.error().message;
}

TEST_F(HarnessFilesTest, FindsPartsThatTheHarnessWrote) {
  EXPECT_EQ(files_.part_of_a_checkpoint(), "") << "what leads to the outputs is none";
  scratch_.write("published/weights", "w");
  ASSERT_TRUE(files_.lend(scratch_.path("published")));
  EXPECT_EQ(files_.part_of_a_checkpoint(), "") << "nor is what was lent";
  fs::create_directories(scratch_.path("harness/storage/tried"));
  EXPECT_EQ(files_.part_of_a_checkpoint(), "");
  scratch_.write("harness/storage/b/rank1/x", "1");
  EXPECT_EQ(files_.part_of_a_checkpoint(), "b");
}

TEST_F(HarnessFilesTest, LendsFilesOfAnotherKindOfProgram) {
  scratch_.write("published/weights", "w");
  const engine::Result<Value> lent = files_.lend(scratch_.path("published"));
  ASSERT_TRUE(lent);
  EXPECT_EQ(*lent->at_path("steps_completed"), Value(0));
  EXPECT_EQ(text_of(files_.storage() / *lent->at_path("uuid")->as_text() / "weights"), "w");
  EXPECT_TRUE(files_.lend("")->is_null());
  EXPECT_EQ(files_.lend(scratch_.path("gone")).error().code, engine::Errc::not_found);
}

TEST_F(HarnessFilesTest, RefusesAnInvalidRecord) {
  scratch_.write("published/determined.json", R"({"uuid":7})");
  EXPECT_EQ(files_.lend(scratch_.path("published")).error().code, engine::Errc::corrupt);
}

TEST_F(HarnessFilesTest, TensorBoardFilesAreOutputsAndEmptyFoldersAreNot) {
  fs::create_directories(files_.storage() / "hpsearch/tensorboard/experiment/1/trial/1");
  files_.tidy();
  EXPECT_TRUE(fs::is_empty(scratch_.path("output")));
  scratch_.write("harness/storage/hpsearch/tensorboard/experiment/1/events", "e");
  files_.tidy();
  EXPECT_EQ(scratch_.read("output/tensorboard/experiment/1/events"), "e");
}

TEST(Base64, AgreesWithTheStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(PackInBase64, IsAGzippedTar) {
  const Scratch scratch;
  scratch.write("it's here/train.py", "pass");
  const engine::Result<std::string> packed = pack_in_base64(scratch.path("it's here"));
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_EQ(packed->substr(0, 4), "H4sI");
  EXPECT_FALSE(pack_in_base64(scratch.path("nowhere")));
}

}  // namespace
}  // namespace hpsearch::workers
