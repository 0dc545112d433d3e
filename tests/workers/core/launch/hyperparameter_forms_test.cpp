#include "hpsearch/workers/core/launch/hyperparameter_forms.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "hpsearch/workers/core/adapters/pai/pai_forms.hpp"
#include "workers/core/launch/arguments.hpp"

namespace hpsearch::workers {
namespace {

using engine::BoolStyle;
using engine::Value;
using jobs::NamedBoolStyle;
using Argv = std::vector<std::string>;

TEST(ArgumentText, IsPythonsStrWithoutExponentsOfNegatives) {
  EXPECT_EQ(argument_text(true), "True");
  EXPECT_EQ(argument_text(64), "64");
  EXPECT_EQ(argument_text(1.0), "1.0");
  EXPECT_EQ(argument_text(1e-05), "1e-05");
  EXPECT_EQ(argument_text(-1e-05), "-0.00001");
  EXPECT_EQ(argument_text(-1.5e-07), "-0.00000015");
  EXPECT_EQ(argument_text(-1e16), "-10000000000000000.0");
  EXPECT_EQ(argument_text(-1.2345678901234567e20), "-123456789012345670000.0");
  EXPECT_EQ(argument_text(-0.001), "-0.001");
  EXPECT_EQ(argument_text("a b"), "a b");
}

TEST(ShellWord, QuotesOnlyIfNecessary) {
  EXPECT_EQ(shell_word("0.001"), "0.001");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("it's"), "'it'\"'\"'s'");
}

TEST(HyperparameterForms, BoolStylesHaveTheirTexts) {
  const Value hparams = Value::Map{{"a", false}, {"b", false}, {"c", false}, {"d", false}, {"e", false}};
  const std::vector<NamedBoolStyle> styles = {{"b", BoolStyle::lower},
                                              {"c", BoolStyle::integer},
                                              {"d", BoolStyle::flag},
                                              {"e", BoolStyle::empty_false}};
  const HyperparameterForms off(hparams, styles);
  EXPECT_EQ(arguments(off, jobs::ArgumentForm::pair),
            (Argv{"--a", "False", "--b", "false", "--c", "0", "--e", ""}));
  EXPECT_EQ(pai_user_args(off), "--a False --b false --c 0 --e ''");
  EXPECT_EQ(pai_hyperparameters_json(off),
            R"({"a": "False", "b": "false", "c": "0", "d": "False", "e": ""})");
  EXPECT_EQ(pai_hps(off, false), R"({"a": false, "b": false, "c": false, "d": false, "e": false})");
  const Value all_true = Value::Map{{"a", true}, {"b", true}, {"c", true}, {"d", true}, {"e", true}};
  const HyperparameterForms on(all_true, styles);
  EXPECT_EQ(arguments(on, jobs::ArgumentForm::equals),
            (Argv{"--a=True", "--b=true", "--c=1", "--d", "--e=True"}));
}

TEST(HyperparameterForms, VariablesAreCapitalsAndUnderscores) {
  const Value hparams = Value::Map{{"a--b", 1}, {"train.learning_rate", 0.001}, {"x", "y"}};
  EXPECT_EQ(pai_variables(HyperparameterForms(hparams, {})),
            (std::map<std::string, std::string>{
                {"PAI_HPS_A__B", "1"}, {"PAI_HPS_TRAIN_LEARNING_RATE", "0.001"}, {"PAI_HPS_X", "y"}}));
}

TEST(HyperparameterForms, ValuesThatPaiLacksAreLeftOutOnlyOfItsForms) {
  const Value hparams = Value::Map{
      {"_hidden", 1}, {"layers", Value::List{64, 32}}, {"lr", 0.1}, {"none", nullptr}, {"two words", 2}};
  const HyperparameterForms forms(hparams, {});
  EXPECT_EQ(pai_hps(forms, false), R"({"lr": 0.1})");
  EXPECT_EQ(pai_user_args(forms), "--lr 0.1");
  EXPECT_EQ(pai_variables(forms).size(), 1U);
  EXPECT_EQ(arguments(forms, jobs::ArgumentForm::equals),
            (Argv{"--_hidden=1", "--layers=[64,32]", "--lr=0.1", "--none=None", "--two words=2"}));
}

TEST(HyperparameterForms, JsonEqualsPythons) {
  const Value hparams = Value::Map{{"a", "é漢😀\"\\\n\x7f"}, {"b", 1e-05}, {"c", 100000.0}};
  EXPECT_EQ(pai_hps(HyperparameterForms(hparams, {}), false),
            "{\"a\": \"\\u00e9\\u6f22\\ud83d\\ude00\\\"\\\\\\n\\u007f\", \"b\": 1e-05, \"c\": 100000.0}");
}

}  // namespace
}  // namespace hpsearch::workers
