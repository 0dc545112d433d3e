#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "messages.hpp"
#include "settings.hpp"

// What a preview advises, and what becomes of those who follow it.

namespace hpsearch::searchers {
namespace {

using engine::Preview;
using test::ExperimentConfig;
using test::kind_of;
using test::settings;
using test::Units;
using test::Value;
using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pointwise;

Preview preview_of(const ExperimentConfig& config) {
  return kind_of(config).preview(config);
}

TEST(PreviewAdvice, OneBracketInsteadOfSeveral) {
  ExperimentConfig config = settings("adaptive_asha", 52, 1000);
  EXPECT_THAT(preview_of(config).warnings, IsEmpty());
  EXPECT_MESSAGE(preview_of(config).advice);
  config.searcher.max_length = Units{81};
  config.searcher.mode = engine::AshaMode::conservative;
  EXPECT_MESSAGE(preview_of(config).advice);
  config.searcher.mode = engine::AshaMode::aggressive;
  config.searcher.max_rungs = 3;
  EXPECT_THAT(preview_of(config).advice, IsEmpty());
}

TEST(PreviewAdvice, HalvingInsteadOfRandomSearch) {
  ExperimentConfig config = settings("random", 1000, 1000);
  EXPECT_THAT(preview_of(config).warnings, IsEmpty());
  EXPECT_MESSAGE(preview_of(config).advice);
  config.program_traits.begins_anew = true;
  EXPECT_MESSAGE(preview_of(config).advice);
}

TEST(PreviewAdvice, NoneWhereThereIsNothingToHalve) {
  EXPECT_THAT(preview_of(settings("random", 1000, 3)).advice, IsEmpty());
  EXPECT_THAT(preview_of(settings("random", 1, 1000)).advice, IsEmpty());
  EXPECT_THAT(preview_of(settings("adaptive_asha", 1000, 7)).advice, IsEmpty());
  EXPECT_THAT(preview_of(settings("single", 1000)).advice, IsEmpty());
}

std::vector<double> decimals_in(const std::string& text) {
  std::vector<double> found;
  const std::regex decimal("\\d\\.\\d\\d+");
  for (auto it = std::sregex_iterator(text.begin(), text.end(), decimal); it != std::sregex_iterator();
       ++it) {
    found.push_back(std::stod(it->str()));
  }
  return found;
}

/// Mean regrets of a method after 10, 30 and 100 full trainings, as docs/benchmarks.md has them.
std::vector<double> regrets_of(const std::string& method) {
  std::ifstream page(HPSEARCH_BENCHMARKS_FILE);
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| `" + method + "` | ")) {
      const std::vector<double> means_and_intervals = decimals_in(line);
      EXPECT_EQ(means_and_intervals.size(), 9U) << line;
      return {means_and_intervals.at(0), means_and_intervals.at(3), means_and_intervals.at(6)};
    }
  }
  ADD_FAILURE() << "no method " << method << " in " HPSEARCH_BENCHMARKS_FILE;
  return {};
}

TEST(PreviewAdvice, TellsTheFiguresThatWereMeasured) {
  ExperimentConfig standard = settings("adaptive_asha", 81, 1000);
  ExperimentConfig conservative = standard;
  conservative.searcher.mode = engine::AshaMode::conservative;
  struct Advised {
    ExperimentConfig config;
    const char* better;
    const char* instead;
  };
  const Advised searches[] = {
      {settings("random", 81, 1000), "asha_3_from_3", "random"},
      {settings("random", 52, 1000), "asha_2_from_3", "random"},
      {standard, "asha_3_from_3", "adaptive_standard"},
      {conservative, "asha_3_from_3", "adaptive_conservative"},
  };
  for (const auto& [config, better, method] : searches) {
    std::vector<double> expected = regrets_of(better);
    const std::vector<double> instead = regrets_of(method);
    expected.insert(expected.end(), instead.begin(), instead.end());
    const std::vector<std::string> advice = preview_of(config).advice;
    ASSERT_EQ(advice.size(), 1U) << method;
    EXPECT_THAT(decimals_in(advice[0]), Pointwise(DoubleNear(0.0075), expected)) << advice[0];
  }
}

// --- what is proposed, tried out ---

std::string kind_of_remark(const std::string& remark) {
  return remark.substr(0, remark.find_first_of("0123456789:.")) +
         (remark.find("brackets protect") != std::string::npos ? "brackets" : "");
}

/// The fields after "consider ", up to the lengths in brackets; nothing where nothing is proposed.
Value::Map proposal_of(const std::string& remark) {
  Value::Map fields;
  const std::size_t begin = remark.find("consider ");
  if (begin == std::string::npos) {
    return fields;
  }
  const std::string text = remark.substr(begin + 9, remark.rfind(" (rungs at ") - begin - 9);
  const std::regex field("(\\w+): (\\[[^\\]]*\\]|[\\w.]+)");
  for (auto it = std::sregex_iterator(text.begin(), text.end(), field); it != std::sregex_iterator(); ++it) {
    const std::string value = (*it)[2].str();
    if (value.front() == '[') {
      Value::List rungs;
      for (std::size_t at = 1; at < value.size(); at = value.find_first_of(" ]", at) + 1) {
        rungs.push_back(static_cast<std::int64_t>(std::stoull(value.substr(at))));
      }
      fields[(*it)[1].str()] = std::move(rungs);
    } else if (value.find('.') != std::string::npos) {
      fields[(*it)[1].str()] = std::stod(value);
    } else if (std::isdigit(static_cast<unsigned char>(value.front())) != 0) {
      fields[(*it)[1].str()] = static_cast<std::int64_t>(std::stoull(value));
    } else {
      fields[(*it)[1].str()] = value == "true" ? Value(true) : Value(value);
    }
  }
  return fields;
}

/// A search as a file would have it.
Value experiment_of(const Value::Map& searcher) {
  Value::Map whole = searcher;
  whole["metric"] = "loss";
  return Value::Map{{"entrypoint", Value::List{"python3", "train.py"}},
                    {"hyperparameters", Value::Map{{"lr", test::double_range(0, 1)}}},
                    {"searcher", std::move(whole)}};
}

std::vector<std::string> remarks_on(const Value::Map& searcher) {
  const engine::ParsedConfig parsed = engine::parse_config(experiment_of(searcher), registry(), "e", 0);
  for (const engine::Problem& problem : parsed.problems) {
    ADD_FAILURE() << engine::describe(problem) << " in " << engine::compact_json(searcher);
  }
  if (!parsed.config) {
    return {};
  }
  const Preview preview = preview_of(*parsed.config);
  std::vector<std::string> remarks = preview.warnings;
  remarks.insert(remarks.end(), preview.advice.begin(), preview.advice.end());
  return remarks;
}

/// Follows each proposal alone: it must be a valid experiment that has the rungs it says, and gets no advice
/// again.
int follow_every_proposal(const Value::Map& searcher) {
  int followed = 0;
  std::set<std::string> subjects;
  for (const std::string& remark : remarks_on(searcher)) {
    const bool is_of_one_bracket = remark.starts_with("no trial in ") || remark.starts_with("bracket ");
    EXPECT_TRUE(is_of_one_bracket || subjects.insert(kind_of_remark(remark)).second) << remark;
    const Value::Map proposal = proposal_of(remark);
    if (proposal.empty()) {
      continue;
    }
    ++followed;
    Value::Map changed = searcher;
    for (const auto& [key, value] : proposal) {
      changed[key] = value;
    }
    SCOPED_TRACE(engine::compact_json(searcher) + "\n" + remark);
    const engine::ParsedConfig parsed = engine::parse_config(experiment_of(changed), registry(), "e", 0);
    if (!parsed.config) {
      ADD_FAILURE() << "what is proposed is refused: " << engine::describe(parsed.problems.at(0));
      continue;
    }
    const Preview preview = preview_of(*parsed.config);
    std::string rungs;
    for (const Units length : preview.brackets[0].lengths) {
      rungs += (rungs.empty() ? "" : ", ") + std::to_string(engine::count(length));
    }
    EXPECT_THAT(remark, HasSubstr("(rungs at " + rungs));
    for (const std::string& again : remarks_on(changed)) {
      EXPECT_NE(kind_of_remark(again), kind_of_remark(remark)) << "\n" << again;
      EXPECT_FALSE(again.starts_with("no trial in ")) << again;
      if (!remark.starts_with("the first rung") && !remark.starts_with("there is only one rung")) {
        EXPECT_EQ(proposal_of(again), Value::Map()) << "\n"
                                                    << again;  // Advice leads to no proposal of any kind.
      }
    }
  }
  return followed;
}

/// After 10, 30 and 100 full trainings, "0.19, 0.09 and 0.04", of the method in the samplers' table of
/// docs/benchmarks.md.
std::string regrets_of_sampler(const std::string& method) {
  std::ifstream page(HPSEARCH_BENCHMARKS_FILE);
  std::string found;
  bool is_there = false;
  for (std::string line; std::getline(page, line);) {
    is_there = is_there || line == "### Samplers";
    if (!is_there || !line.starts_with("| `" + method + "` |")) {
      continue;
    }
    const std::regex mean(R"(\| ([0-9.]+) \[)");
    for (std::sregex_iterator at(line.begin(), line.end(), mean), end; at != end; ++at) {
      std::ostringstream rounded;
      rounded << std::fixed << std::setprecision(2) << std::stod((*at)[1].str());
      found += (found.empty() ? "" : ", ") + rounded.str();
    }
  }
  const std::size_t last = found.rfind(", ");
  return last == std::string::npos ? found : found.replace(last, 2, " and ");
}

TEST(PreviewAdvice, AModelInsteadOfRandomDraws) {
  ExperimentConfig config = settings("async_halving", 81, 300);
  config.searcher.num_rungs = 4;
  config.searcher.divisor = 3;
  EXPECT_THAT(preview_of(config).advice, IsEmpty()) << "one parameter";
  config.space = test::space_of({{"lr", test::double_range(0, 1)}, {"layers", test::int_range(1, 9)}});
  EXPECT_THAT(
      preview_of(config).advice,
      ElementsAre(AllOf(HasSubstr("mean regret " + regrets_of_sampler("asha_3_from_3_model") + " after"),
                        HasSubstr("instead of " + regrets_of_sampler("asha_3_from_3") + ";"),
                        HasSubstr("consider sampler: model"))));
  config.searcher.sampler = engine::SamplerName::tpe;
  EXPECT_THAT(preview_of(config).advice, IsEmpty());
  config.searcher.sampler = engine::SamplerName::random;
  config.searcher.max_trials = 60;
  EXPECT_THAT(preview_of(config).advice, IsEmpty()) << "too little training to learn from";
}

TEST(PreviewAdvice, AModelInSeveralBrackets) {
  ExperimentConfig config = settings("adaptive_asha", 81, 300);
  config.space = test::space_of({{"lr", test::double_range(0, 1)}, {"layers", test::int_range(1, 9)}});
  EXPECT_THAT(
      preview_of(config).advice,
      ElementsAre(HasSubstr("use one bracket"),
                  AllOf(HasSubstr("mean regret " + regrets_of_sampler("adaptive_standard_model") + " after"),
                        HasSubstr("instead of " + regrets_of_sampler("adaptive_standard") + ";"),
                        HasSubstr("consider sampler: model"))));
  config.searcher.sampler = engine::SamplerName::model;
  EXPECT_MESSAGE(preview_of(config).advice);
}

TEST(PreviewAdvice, AModelWithoutHalving) {
  ExperimentConfig config = settings("random", 1, 30);  // Nothing to halve.
  config.space = test::space_of({{"lr", test::double_range(0, 1)}, {"layers", test::int_range(1, 9)}});
  EXPECT_THAT(preview_of(config).advice,
              ElementsAre(AllOf(HasSubstr("mean regret " + regrets_of_sampler("random_model") + " after"),
                                HasSubstr("instead of " + regrets_of_sampler("random") + ";"),
                                HasSubstr("consider sampler: model"))));
  config.searcher.max_trials = 29;
  EXPECT_THAT(preview_of(config).advice, IsEmpty()) << "of these the model would choose few";
  config.searcher.max_trials = 300;
  config.searcher.max_length = Units{81};
  EXPECT_MESSAGE(preview_of(config).advice);
}

TEST(PreviewAdvice, FollowedIsNotGivenAgain) {
  int followed = 0;
  for (const std::uint64_t length : {1U, 2U, 9U, 20U, 29U, 30U, 31U, 52U, 81U, 100U, 243U, 1000U, 12'345U}) {
    for (const std::uint64_t trials : {1U, 2U, 3U, 4U, 9U, 16U, 27U, 50U, 100U, 1000U, 100'000U}) {
      Value::Map base = {{"max_length", static_cast<std::int64_t>(length)},
                         {"max_trials", static_cast<std::int64_t>(trials)}};
      base["name"] = "random";
      followed += follow_every_proposal(base);
      for (const double divisor : {1.3, 2.0, 2.5, 3.0, 4.0, 10.0, 60.0}) {
        base["divisor"] = divisor;
        base["name"] = "async_halving";
        for (const int rungs : {1, 2, 4, 7}) {
          base["num_rungs"] = rungs;
          followed += follow_every_proposal(base);
        }
        base.erase("num_rungs");
        base["name"] = "adaptive_asha";
        for (const char* mode : {"aggressive", "standard", "conservative"}) {
          base["mode"] = mode;
          for (const int rungs : {1, 3, 5, 12}) {
            base["max_rungs"] = rungs;
            followed += follow_every_proposal(base);
          }
          base.erase("max_rungs");
        }
        base.erase("mode");
        for (const Value::List& rungs : {Value::List{5}, Value::List{6, 5, 1}}) {
          base["bracket_rungs"] = rungs;
          followed += follow_every_proposal(base);
        }
        base.erase("bracket_rungs");
      }
      base.erase("divisor");
    }
  }
  EXPECT_GT(followed, 3000);
}

}  // namespace
}  // namespace hpsearch::searchers
