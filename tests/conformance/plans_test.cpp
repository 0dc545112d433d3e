#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <variant>

#include "conformance/search_lines.hpp"
#include "conformance/table.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/searchers/registry.hpp"

namespace hpsearch::conformance {
namespace {

using engine::ExperimentConfig;
using engine::Preview;
using engine::Units;

const engine::SearcherKind& kind_of(const ExperimentConfig& config) {
  const engine::SearcherKind* kind = engine::find_kind(searchers::registry(), config.searcher.name);
  if (kind == nullptr) {
    throw std::runtime_error("no such searcher: " + config.searcher.name);
  }
  return *kind;
}

Preview preview_of(const ExperimentConfig& config) {
  return kind_of(config).preview(config);
}

std::uint64_t field(const Line& line, const char* name) {
  for (const std::string& word : line.words) {
    if (word.starts_with(std::string(name) + "=")) {
      return std::stoull(word.substr(word.find('=') + 1));
    }
  }
  throw std::runtime_error(line.where + ": no " + name);
}

template <class Numbers, class Text>
std::string joined(const Numbers& numbers, const char* between, Text text) {
  std::string all;
  for (const auto& number : numbers) {
    all += (all.empty() ? "" : between) + text(number);
  }
  return all;
}

std::string text_of(Units length) {
  return std::to_string(engine::count(length));
}

std::string rungs_text(const Line& line) {
  ExperimentConfig config;
  config.searcher.max_length = Units{field(line, "max_length")};
  config.searcher.num_rungs = field(line, "rungs");
  config.searcher.max_trials = 1;
  for (const std::string& word : line.words) {
    if (word.starts_with("divisor=")) {
      config.searcher.divisor = std::stod(word.substr(8));
    }
  }
  config.searcher.name = "async_halving";
  return joined(preview_of(config).brackets.at(0).lengths, " ", text_of);
}

std::string shares_text(const Line& line) {
  ExperimentConfig config;
  config.searcher.name = "adaptive_asha";
  config.searcher.bracket_rungs.assign(field(line, "count"), 1);
  config.searcher.max_trials = 100;
  config.searcher.max_concurrent_trials = field(line, "slots");
  return joined(preview_of(config).brackets, " ",
                [](const engine::BracketPreview& bracket) { return std::to_string(bracket.share); });
}

std::string brackets_text(const ExperimentConfig& config) {
  return joined(preview_of(config).brackets, " ", [](const engine::BracketPreview& bracket) {
    return engine::to_text(bracket.trials) + "x[" + joined(bracket.lengths, ",", text_of) + ']';
  });
}

std::string finals_text(const ExperimentConfig& config) {
  return joined(preview_of(config).final_counts, " ",
                [](const auto& entry) { return text_of(entry.first) + ':' + engine::to_text(entry.second); });
}

/// The same by running the search: first come, first served, all metrics equal.
std::string lived_finals_text(const ExperimentConfig& config) {
  const std::unique_ptr<engine::Searcher> searcher = kind_of(config).make(config);
  std::map<engine::TrialNumber, Units> lengths;
  std::deque<engine::TrialNumber> running;
  while (true) {
    while (running.size() < config.searcher.max_concurrent_trials) {
      const engine::Next next = searcher->next();
      if (const auto* create = std::get_if<engine::CreateTrial>(&next)) {
        searcher->on_event(engine::TrialWasCreated{create->trial, create->hparams, create->length});
        lengths[create->trial] = create->length;
        running.push_back(create->trial);
      } else if (const auto* promote = std::get_if<engine::PromoteTrial>(&next)) {
        searcher->on_event(engine::TrialWasPromoted{promote->trial, promote->length});
        lengths[promote->trial] = promote->length;
        running.push_back(promote->trial);
      } else {
        break;
      }
    }
    if (running.empty()) {
      break;
    }
    const engine::TrialNumber first = running.front();
    running.pop_front();
    searcher->on_event(engine::TrialValidated{first, lengths[first],
                                              engine::Score::from_metric(1.0, config.searcher.goal())});
    const engine::Verdict verdict = searcher->verdict(first);
    if (verdict.action == engine::Verdict::Action::train_on) {
      searcher->on_event(engine::TrialWasPromoted{first, verdict.length});
      lengths[first] = verdict.length;
      running.push_back(first);
    } else if (verdict.action == engine::Verdict::Action::stop) {
      searcher->on_event(engine::TrialWasClosed{first});
    }
    while (!searcher->closable().empty()) {
      searcher->on_event(engine::TrialWasClosed{searcher->closable().front()});
    }
  }
  std::map<Units, std::uint64_t> counts;
  for (const auto& [trial, length] : lengths) {
    ++counts[length];
  }
  return joined(counts, " ",
                [](const auto& entry) { return text_of(entry.first) + ':' + std::to_string(entry.second); });
}

class Plans : public testing::TestWithParam<Case> {};

TEST_P(Plans, AreAsTheTableSays) {
  const ExperimentConfig config = config_of(GetParam());
  for (const Line& line : GetParam().lines) {
    SCOPED_TRACE(line.where);
    const std::string& asked = line.words.front();
    if (!line.answer) {
      EXPECT_EQ(asked, "search");
    } else if (asked == "rungs") {
      EXPECT_EQ(rungs_text(line), *line.answer);
    } else if (asked == "shares") {
      EXPECT_EQ(shares_text(line), *line.answer);
    } else if (asked == "brackets") {
      EXPECT_EQ(brackets_text(config), *line.answer);
    } else if (asked == "finals") {
      EXPECT_EQ(finals_text(config), *line.answer) << "as previewed";
      EXPECT_EQ(lived_finals_text(config), *line.answer) << "as lived";
    } else {
      ADD_FAILURE() << "what is " << asked << "?";
    }
  }
}

std::vector<Case> all_plans() {
  std::vector<Case> cases;
  for (const char* family : {"rungs", "brackets", "shares"}) {
    for (Case& one : read_tables(std::string(HPSEARCH_TABLES "/") + family)) {
      one.name = family + one.name;  // Each has a table `by_hand`.
      cases.push_back(std::move(one));
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Conformance, Plans, testing::ValuesIn(all_plans()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace hpsearch::conformance
