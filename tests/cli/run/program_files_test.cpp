#include "cli/run/program_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scratch.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> paths_of(const Value& program) {
  std::vector<std::string> paths;
  for (const auto& [path, digest] : *program.as_map()) {
    paths.push_back(path);
  }
  return paths;
}

class ProgramFiles : public testing::Test {
 protected:
  [[nodiscard]] Value look(const char* entrypoint = "python3 train.py") const {
    const auto listing = context::context_files(scratch_.path());
    const auto program =
        program_files(scratch_.path().string(), listing->files, Value::Map{{"entrypoint", entrypoint}},
                      scratch_.path() / "search.yaml");
    EXPECT_TRUE(program);
    return *program;
  }
  const Scratch scratch_;
};

TEST_F(ProgramFiles, AreSourcesAndSettingsAndNotOutputs) {
  scratch_.write("train.py", "print(1)\n");
  scratch_.write("lib/model.py", "x = 1\n");
  scratch_.write("conf/model.yaml", "layers: 3\n");
  scratch_.write("experiment.yaml", "name: x\nsearcher: {name: random}\n");
  scratch_.write("search.yaml", "{\"searcher\": {\"name\": \"random\"}}\n");  // The experiment's own file.
  scratch_.write("run", "#!/bin/sh\n");
  scratch_.write("out.log", "epoch 1\n");
  scratch_.write("results.csv", "1,2\n");
  EXPECT_THAT(paths_of(look()), ElementsAre("conf/model.yaml", "lib/model.py", "run", "train.py"));
}

TEST_F(ProgramFiles, IncludeFilesThatTheEntrypointNames) {
  scratch_.write("train.py", "print(1)\n");
  scratch_.write("settings.json", "{}\n");
  scratch_.write("other.json", "{}\n");
  EXPECT_THAT(paths_of(look("python3 ./train.py --settings settings.json")),
              ElementsAre("settings.json", "train.py"));
  const auto named =
      named_by_entrypoint(scratch_.path().string(), Value::Map{{"entrypoint", "python3 ./train.py /bin/sh"}});
  ASSERT_EQ(named.files.size(), 1U);
  EXPECT_EQ(named.files.front().path, "train.py");
}

TEST_F(ProgramFiles, AreChangedByEditsAndRemovalsButNotByNewFiles) {
  scratch_.write("train.py", "print(1)\n");
  scratch_.write("model.py", "x = 1\n");
  scratch_.write("same.py", "y = 1\n");
  const Value before = look();
  scratch_.write("new.py", "z = 1\n");
  scratch_.write("train.py", "print(1)\n");
  EXPECT_THAT(changed_files(before, look()), IsEmpty());
  scratch_.write("train.py", "print(2)\n");
  std::filesystem::remove(scratch_.path() / "model.py");
  EXPECT_THAT(changed_files(before, look()), ElementsAre("model.py", "train.py"));
  EXPECT_THAT(changed_files(Value(), look()), IsEmpty())
      << "what was not looked at is not known to have changed";
}

TEST_F(ProgramFiles, AreReadWhole) {
  const std::string long_text(100'000, 'x');
  scratch_.write("train.py", long_text + "1");
  const Value before = look();
  scratch_.write("train.py", long_text + "2");
  EXPECT_THAT(changed_files(before, look()), ElementsAre("train.py"));
}

}  // namespace
}  // namespace hpsearch::cli
