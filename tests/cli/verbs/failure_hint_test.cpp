#include "cli/verbs/failure_hint.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "messages.hpp"
#include "scratch.hpp"

namespace hpsearch::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(FailureHint, FindsTheFileThatIsMissing) {
  const std::pair<const char*, const char*> table[] = {
      {"FileNotFoundError: [Errno 2] No such file or directory: '../data/train.csv'", "../data/train.csv"},
      {"x\nFileNotFoundError: [Errno 2] No such file or directory: \"a b.csv\"\nend", "a b.csv"},
      {"cat: data/a.csv: No such file or directory", "data/a.csv"},
      {"sh: 0: cannot open run.sh: No such file", "run.sh"},
      {"python3: can't open file '/w/train.py': [Errno 2] No such file or directory", "/w/train.py"},
      {"  cannot open file 'a.R': No such file or directory", "a.R"},
  };
  for (const auto& [text, file] : table) {
    EXPECT_EQ(missing_file(text), file) << text;
  }
  EXPECT_EQ(missing_file("ValueError: no"), std::nullopt);
}

TEST(FailureHint, FindsTheModuleThatIsMissing) {
  EXPECT_EQ(missing_module("ModuleNotFoundError: No module named 'sklearn.svm'\n"), "sklearn");
  EXPECT_EQ(missing_module("/usr/bin/python3: No module named torch"), "torch");
  EXPECT_EQ(missing_module("No module named 'a; b'"), std::nullopt);
  EXPECT_EQ(missing_module("fine"), std::nullopt);
}

class FailureHintHere : public testing::Test {
 protected:
  std::string executable(const std::string& name, const std::string& text) const {
    const std::string path = scratch.write(name, text);
    EXPECT_EQ(::chmod(path.c_str(), 0755), 0);
    return path;
  }
  [[nodiscard]] std::string hint(const std::string& tail) const {
    return failure_hint(tail, program, scratch.path() / "project");
  }

  Scratch scratch;
  jobs::Program program;
};

TEST_F(FailureHintHere, HintForAFileNeedsTheFile) {
  scratch.write("project/train.py", "");
  scratch.write("project/there.csv", "");
  scratch.write("project/secret/a.pem", "");
  scratch.write("data/train.csv", "");
  const std::string lacks = "FileNotFoundError: [Errno 2] No such file or directory: ";
  EXPECT_MESSAGE(hint(lacks + "'../data/train.csv'"));
  EXPECT_MESSAGE(hint(lacks + "'secret/a.pem'"));
  EXPECT_THAT(hint(lacks + "'there.csv'"), IsEmpty()) << "it is packed: the reason is another one";
  EXPECT_THAT(hint(lacks + "'nowhere.csv'"), IsEmpty());
  EXPECT_THAT(hint(lacks + "'/nowhere.csv'"), IsEmpty());
  program.contract.in_place = true;
  EXPECT_THAT(hint(lacks + "'../data/train.csv'"), IsEmpty());
}

// Stand-ins for Python: their exit codes say which modules they have.
TEST_F(FailureHintHere, HintForAModuleNamesThePythonThatHasIt) {
  scratch.write("project/train.py", "");
  const std::string without = executable("bin/python3", "#!/bin/sh\nexit 3\n");
  program.entrypoint.command = std::vector<std::string>{without, "train.py"};
  const std::string lacks = "ModuleNotFoundError: No module named 'hpsearch_no_such_module'";
  EXPECT_THAT(hint(lacks), AllOf(HasSubstr(without + " has no module hpsearch_no_such_module"),
                                 HasSubstr(without + " -m pip install")));
  const std::string with = executable("project/.venv/bin/python", "#!/bin/sh\nexit 0\n");
  EXPECT_THAT(hint(lacks),
              AllOf(HasSubstr("but " + with + " has"), HasSubstr("entrypoint: [" + with + ", ...]")));
  program.entrypoint.command = std::string("sh train.sh");
  EXPECT_THAT(hint(lacks), IsEmpty()) << "which Python the script starts is not known";
  program.entrypoint.command = std::vector<std::string>{without, "train.py"};
  executable("bin/python3", "#!/bin/sh\nexit 0\n");
  EXPECT_THAT(hint(lacks), IsEmpty()) << "the interpreter has it: the reason is another one";
  executable("bin/python3", "#!/bin/sh\nexit 1\n");
  EXPECT_THAT(hint(lacks), IsEmpty()) << "it cannot be found out";
}

TEST_F(FailureHintHere, HintForAModuleNamesThatItIsNotPacked) {
  scratch.write("project/train.py", "");
  scratch.write("project/own.py", "");
  scratch.write("project/.hpsearchignore", "own.py\n");
  EXPECT_MESSAGE(hint("ModuleNotFoundError: No module named 'own'"));
}

}  // namespace
}  // namespace hpsearch::cli
