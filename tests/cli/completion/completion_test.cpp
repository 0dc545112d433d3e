#include "cli/completion/completion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/verbs/argument_checks.hpp"

namespace hpsearch::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A command line with one of each kind of argument.
class CompletionTest : public testing::Test {
 protected:
  CompletionTest() {
    app_.set_help_flag("-h,--help", "Print this help");
    CLI::App& show = command(app_, "show", "Show one");
    show.add_option("EXPERIMENT", words_, "Which one")->expected(0, 2);
    show.add_option("--server", word_, "The daemon");
    show.add_option("--sort", word_, "The order,\nand more")->check(one_of({"name", "age"}));
    show.add_option("--state-dir", word_, "A directory");
    show.add_flag("--all", flag_, "All of them");
    CLI::App& retry = command(app_, "retry", "Try once more");
    retry.add_option("TRIAL", words_, "Which one")->required()->expected(1, 2);
    CLI::App& workspace = command(app_, "workspace", "Manage workspaces");
    CLI::App& quota = command(workspace, "quota", "Change one");
    quota.add_option("NAME", word_, "Which one")->required();
    CLI::App& files = command(app_, "files", "Copy files");
    files.add_option("WHICH", words_, "Which one")->expected(0, 2);
    CLI::App& get = command(files, "get", "Copy one");
    get.add_option("TRIAL", words_, "Which one")->required()->expected(2, 3);
    CLI::App& validate = command(app_, "validate", "Check a file");
    validate.add_option("FILE", word_, "Which one")->required();
    validate.add_option("--token-file", word_, "A file");
  }

  static CLI::App& command(CLI::App& in, const char* name, const char* about) {
    CLI::App& added = *in.add_subcommand(name, about);
    added.set_help_flag("-h,--help", "Print this help");
    return added;
  }

  Completion at(std::vector<std::string> words) { return complete(app_, words); }
  std::vector<std::string> words_at(std::vector<std::string> words) {
    std::vector<std::string> found;
    for (Candidate& one : at(std::move(words)).candidates) {
      found.push_back(std::move(one.word));
    }
    return found;
  }

  CLI::App app_{"A program.", "hpsearch"};
  std::string word_;
  std::vector<std::string> words_;
  bool flag_ = false;
};

TEST_F(CompletionTest, CommandsStandAtTheBeginning) {
  EXPECT_THAT(words_at({""}), ElementsAre("show", "retry", "workspace", "files", "validate"));
  EXPECT_THAT(words_at({"work"}), ElementsAre("workspace"));
  EXPECT_THAT(words_at({"workspace", ""}), ElementsAre("quota"));
  EXPECT_EQ(at({"ret"}).candidates.front().about, "Try once more");
}

TEST_F(CompletionTest, OptionsAreThoseOfTheCommandThatAreNotGivenYet) {
  EXPECT_THAT(words_at({"show", "--s"}), ElementsAre("--server", "--sort", "--state-dir"));
  EXPECT_THAT(words_at({"show", "--all", "--a"}), IsEmpty());
  EXPECT_THAT(words_at({"show", "--sort=age", "3", "--so"}), IsEmpty());
  EXPECT_THAT(words_at({"-"}), ElementsAre("-h", "--help"));
  EXPECT_THAT(words_at({"show", "--", "--s"}), IsEmpty());
  EXPECT_EQ(at({"show", "--so"}).candidates.front().about, "The order, and more");
}

TEST_F(CompletionTest, ValuesFollowTheirOptionOrItsEqualsSign) {
  EXPECT_THAT(words_at({"show", "--sort", ""}), ElementsAre("name", "age"));
  EXPECT_THAT(words_at({"show", "--sort", "n"}), ElementsAre("name"));
  EXPECT_THAT(words_at({"show", "--sort=n"}), ElementsAre("--sort=name"));
  EXPECT_EQ(at({"show", "--state-dir", ""}).values, Values::directories);
  EXPECT_EQ(at({"show", "--state-dir=/va"}).values, Values::directories);
  EXPECT_EQ(at({"show", "--state-dir=/va"}).before, "--state-dir=");
  EXPECT_EQ(at({"validate", "--token-file", ""}).values, Values::files);
  EXPECT_EQ(at({"show", "--server", ""}).values, Values::none);
}

TEST_F(CompletionTest, ArgumentsHaveTheKindThatTheirPlaceHas) {
  EXPECT_EQ(at({"show", ""}).values, Values::experiments);
  EXPECT_EQ(at({"show", "digits", ""}).values, Values::trials);
  EXPECT_EQ(at({"show", "digits", ""}).experiment, "digits");
  EXPECT_EQ(at({"show", "digits", "4", ""}).values, Values::none);
  EXPECT_EQ(at({"retry", ""}).values, Values::experiments_or_trials);
  EXPECT_EQ(at({"retry", "--", ""}).values, Values::experiments_or_trials);
  EXPECT_EQ(at({"retry", "2", ""}).values, Values::trials);
  EXPECT_EQ(at({"workspace", "quota", ""}).values, Values::workspaces);
  EXPECT_EQ(at({"validate", ""}).values, Values::files);
  EXPECT_EQ(at({"files", ""}).values, Values::experiments);
  EXPECT_EQ(at({"files", "get", "2", "7", ""}).values, Values::files);
}

TEST_F(CompletionTest, WordsChooseTheDaemon) {
  EXPECT_EQ(at({"show", "--server", "host:1", ""}).server.server, "host:1");
  EXPECT_EQ(at({"show", "--server=host:1", "--sort", "age", ""}).server.server, "host:1");
  EXPECT_EQ(at({"show", "--state-dir", "here", "1", ""}).server.state_dir, "here");
}

TEST_F(CompletionTest, UnknownWordsAndNoWordAreNoError) {
  EXPECT_THAT(words_at({}), ElementsAre("show", "retry", "workspace", "files", "validate"));
  EXPECT_THAT(words_at({"no-such-command", "x"}), IsEmpty());
  EXPECT_THAT(words_at({"show", "--no-such-option", "--al"}), ElementsAre("--all"));
}

TEST(NumbersBelow, BeginWithTheDigits) {
  EXPECT_THAT(numbers_below(3, "", 9), ElementsAre("0", "1", "2"));
  EXPECT_THAT(numbers_below(3, "", 2), ElementsAre("0", "1"));
  EXPECT_THAT(numbers_below(122, "12", 9), ElementsAre("12", "120", "121"));
  EXPECT_THAT(numbers_below(12, "1", 9), ElementsAre("1", "10", "11"));
  EXPECT_THAT(numbers_below(100, "0", 9), ElementsAre("0"));
  EXPECT_THAT(numbers_below(1'000, "9", 3), ElementsAre("9", "90", "91"));
  EXPECT_THAT(numbers_below(5, "5", 9), IsEmpty());
  EXPECT_THAT(numbers_below(20, "01", 9), IsEmpty());
  EXPECT_THAT(numbers_below(20, "x", 9), IsEmpty());
  EXPECT_THAT(numbers_below(UINT64_MAX, "18446744073709551614", 9), ElementsAre("18446744073709551614"));
}

}  // namespace
}  // namespace hpsearch::cli
