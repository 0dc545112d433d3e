#include "cli/render/text.hpp"

#include <gtest/gtest.h>

#include "cli/render/shapes.hpp"
#include "cli/run/same_command.hpp"
#include "hpsearch/jobs/yaml/read_text.hpp"

namespace hpsearch::cli {
namespace {

using engine::Value;

TEST(DurationText, GrowsWithTheDuration) {
  const std::pair<double, const char*> table[] = {
      {0, "0.0 s"},         {0.44, "0.4 s"},
      {9.94, "9.9 s"},      {9.96, "10 s"},
      {59.4, "59 s"},       {59.6, "1 min 00 s"},
      {185, "3 min 05 s"},  {3600, "1 h 00 min"},
      {7620, "2 h 07 min"}, {86400 * 3 + 4 * 3600, "3 d 04 h"},
      {-5, "0.0 s"},
  };
  for (const auto& [seconds, expected] : table) {
    EXPECT_EQ(duration_text(seconds), expected) << seconds;
  }
}

TEST(LastLines, TakesWholeLinesFromTheEnd) {
  EXPECT_EQ(last_lines("a\nb\nc\n", 2), "b\nc");
  EXPECT_EQ(last_lines("a\nb\nc", 9), "a\nb\nc");
  EXPECT_EQ(last_lines("a\n", 0), "");
  EXPECT_EQ(last_lines("", 3), "");
  EXPECT_EQ(last_lines("\n\n", 3), "");
}

TEST(FlatText, JoinsNestedNames) {
  const Value hparams =
      Value::Map{{"lr", 0.001}, {"opt", Value::Map{{"name", "sgd"}, {"nesterov", true}}}, {"n", 64}};
  EXPECT_EQ(flat_text(hparams), "lr=0.001 n=64 opt.name=sgd opt.nesterov=True");
  EXPECT_EQ(flat_text(Value::Map{}), "");
}

TEST(YamlTextOut, ReadsBackAsTheSameValue) {
  const Value value = Value::Map{
      {"a", Value::Map{{"b", Value::List{1, 2.5, "x"}}, {"c", Value::Map{}}, {"d", nullptr}}},
      {"list", Value::List{Value::Map{{"k", 1}, {"l", Value::List{}}}, Value::List{Value::List{1}}, "- x"}},
      {"small", 1e-5},
      {"big", 1e300},
      {"whole", 3.0},
      {"texts",
       Value::List{"yes", "null", "1", "0x1f", " pad ", "a: b", "# c", "", "l1\nl2", "plain words", "1e5"}},
      {"no", "on"},
      {"12", true},
  };
  const yaml::ReadText back = yaml::read_experiment_text(yaml_text(value));
  ASSERT_TRUE(back.tree && back.problems.empty()) << yaml_text(value);
  EXPECT_EQ(*back.tree, value) << yaml_text(value);
}

TEST(Printable, KeepsTextAndHidesControl) {
  EXPECT_EQ(printable("z\xc3\xbcrich\t\x1b[2J\xff\xc2\x9b"), "z\xc3\xbcrich??[2J??");
}

TEST(CutToWidth, NeverCutsACharacter) {
  EXPECT_EQ(cut_to_width("abcdef", 6), "abcdef");
  EXPECT_EQ(cut_to_width("abcdefg", 6), "abc...");
  EXPECT_EQ(cut_to_width("\xe4\xb8\xad\xe6\x96\x87\xe5\xad\x97", 5), "\xe4\xb8\xad...");
  EXPECT_EQ(cut_to_width("abc", 2), "..");
}

TEST(SameCommand, IsQuotedForAShellAndLeavesOutFresh) {
  EXPECT_EQ(same_command({"hpsearch", "run", "my file.yaml", "--fresh", "--name", "it's", "", "--slots=2"}),
            "hpsearch run 'my file.yaml' --name 'it'\\''s' '' --slots=2");
}

TEST(SameCommand, OptionsStandBeforeTheWordsForAnotherProgram) {
  const std::vector<std::string> words{"hpsearch", "run",   "a.yaml", "--fresh",
                                       "--on",     "slurm", "--",     "--fresh"};
  EXPECT_EQ(same_command(words), "hpsearch run a.yaml --on slurm -- --fresh");
  EXPECT_EQ(same_command(words, "--fresh"), "hpsearch run a.yaml --on slurm --fresh -- --fresh");
}

TEST(ByLength, SortsByNumberAndNotByText) {
  const std::map<std::string, std::uint64_t> counts = {{"9", 3}, {"27", 2}, {"3", 5}};
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected = {{3, 5}, {9, 3}, {27, 2}};
  EXPECT_EQ(by_length(counts), expected);
}

}  // namespace
}  // namespace hpsearch::cli
