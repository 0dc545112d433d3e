#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "conformance/search_lines.hpp"
#include "conformance/space_lines.hpp"
#include "conformance/table.hpp"
#include "hpsearch/engine/searcher.hpp"
#include "hpsearch/searchers/registry.hpp"

namespace hpsearch::conformance {
namespace {

using engine::Reason;
using engine::TrialNumber;
using engine::Units;

/// `promoted bracket 0 rung 1 rank 0 of 3 keep 1 cutoff 0.25`; what says nothing is left out.
std::string text_of(const Reason& reason) {
  std::string text(engine::name_of(reason.why));
  const auto add = [&text](const char* word, const auto& number) {
    if (number) {
      text += word + std::to_string(*number);
    }
  };
  add(" bracket ", reason.bracket);
  add(" rung ", reason.rung);
  add(" rank ", reason.rank);
  add(" of ", reason.size);
  add(" keep ", reason.keep);
  if (reason.cutoff) {
    text += " cutoff " + engine::python_float(*reason.cutoff);
  }
  if (reason.why == Reason::Why::worse_than_others || reason.why == Reason::Why::no_improvement) {
    text += " at " + std::to_string(engine::count(reason.at.value_or(Units{})));
    text += reason.value ? " value " + engine::python_float(*reason.value) : "";
    text += " detail " + reason.detail;
  }
  return text;
}

double metric_from(const std::string& word) {
  if (word == "nan") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (word == "inf" || word == "-inf") {
    return std::numeric_limits<double>::infinity() * (word == "inf" ? 1 : -1);
  }
  return std::stod(word);
}

/// Why a line without an answer cannot be an event; nothing if it can. A question that lost its arrow would
/// prove nothing.
std::optional<std::string> mistake_in(const Line& line) {
  static const std::set<std::string> known = {"search", "given",      "step",
                                              "exit",   "max_trials", "max_concurrent_trials"};
  const std::string& word = line.words.front();
  if (known.contains(word) || names_hyperparameter(line)) {
    return std::nullopt;
  }
  return word + " is a question, or unknown: what must be answered stands behind an arrow";
}

TEST(TraceTables, AQuestionWithoutAnArrowIsAMistake) {
  for (const char* question : {"next", "report", "close", "progress", "nxt"}) {
    EXPECT_TRUE(mistake_in({"", {question}, std::nullopt})) << question;
  }
  for (const char* known :
       {"search", "given", "step", "exit", "max_trials", "max_concurrent_trials", "int", "log"}) {
    EXPECT_FALSE(mistake_in({"", {known}, std::nullopt})) << known;
  }
}

/// One searcher that gets the questions and events of a case's lines.
class Traces : public testing::TestWithParam<Case> {
 protected:
  Traces() : config_(config_of(GetParam())) {
    const engine::SearcherKind* kind = engine::find_kind(searchers::registry(), config_.searcher.name);
    if (kind == nullptr) {
      throw std::runtime_error("no such searcher: " + config_.searcher.name);
    }
    searcher_ = kind->make(config_);
    shows_hparams_ = std::any_of(GetParam().lines.begin(), GetParam().lines.end(), names_hyperparameter);
  }

  void tell(const Line& line) {
    const std::optional<std::string> mistake = mistake_in(line);
    ASSERT_FALSE(mistake) << *mistake;
    if (line.words.front() == "step") {
      const Units step{std::stoull(line.words.at(2))};
      searcher_->on_event(engine::TrialReported{trial_of(line), step, engine::Score::worst()});
    } else if (line.words.front() == "exit") {
      const auto reason = engine::exit_reason_named(line.words.at(2));
      ASSERT_TRUE(reason) << line.words.at(2);
      searcher_->on_event(engine::TrialExited{trial_of(line), *reason});
    } else if (line.words.front() == "max_trials") {
      searcher_->on_event(engine::MaxTrialsChanged{std::stoull(line.words.at(1))});
    } else if (line.words.front() == "max_concurrent_trials") {
      searcher_->on_event(engine::MaxConcurrentTrialsChanged{std::stoull(line.words.at(1))});
    }
  }

  std::string ask(const Line& line) {
    const std::string& question = line.words.front();
    if (question == "close") {
      return close();
    }
    if (question == "next") {
      EXPECT_TRUE(searcher_->closable().empty()) << "an experiment first closes what can be closed";
      return next();
    }
    if (question == "report") {
      return report(trial_of(line), metric_from(line.words.at(2)));
    }
    if (question == "step") {
      return measure(trial_of(line), Units{std::stoull(line.words.at(2))}, metric_from(line.words.at(3)));
    }
    return "nobody knows what " + question + " is";
  }

  void expect_progress(const std::string& fraction) const {
    const std::size_t slash = fraction.find('/');
    const double expected =
        std::stod(fraction) / (slash == std::string::npos ? 1.0 : std::stod(fraction.substr(slash + 1)));
    EXPECT_NEAR(searcher_->progress(), expected, 1e-15);
    EXPECT_EQ(searcher_->progress() == 1.0, fraction == "1");
  }

 private:
  static TrialNumber trial_of(const Line& line) { return TrialNumber(std::stoull(line.words.at(1))); }

  std::string next() {
    const engine::Next next = searcher_->next();
    if (const auto* create = std::get_if<engine::CreateTrial>(&next)) {
      searcher_->on_event(engine::TrialWasCreated{create->trial, create->hparams, create->length});
      lengths_.push_back(create->length);
      return "create " + std::to_string(create->trial.number()) + to(create->length) + ' ' +
             text_of(create->reason) +
             (shows_hparams_ ? ' ' + flat_text(config_.space, create->hparams) : std::string());
    }
    if (const auto* promote = std::get_if<engine::PromoteTrial>(&next)) {
      go_on(promote->trial, promote->length);
      return "promote " + std::to_string(promote->trial.number()) + to(promote->length) + ' ' +
             text_of(promote->reason);
    }
    if (const auto* finished = std::get_if<engine::Finished>(&next)) {
      return finished->problem ? "finished with a problem" : "finished";
    }
    return "nothing";
  }

  /// Before its length.
  std::string measure(TrialNumber trial, Units step, double metric) {
    const auto score = engine::Score::from_metric(metric, config_.searcher.goal());
    searcher_->on_event(engine::TrialReported{trial, step, score});
    const std::optional<Reason> stop = searcher_->early_stop(trial);
    if (!stop) {
      return "train on";
    }
    searcher_->on_event(engine::TrialWasClosed{trial});
    return "stop " + text_of(*stop);
  }

  std::string report(TrialNumber trial, double metric) {
    const auto score = engine::Score::from_metric(metric, config_.searcher.goal());
    searcher_->on_event(engine::TrialValidated{trial, lengths_.at(trial.number()), score});
    const engine::Verdict verdict = searcher_->verdict(trial);
    const std::string why = ' ' + text_of(verdict.reason);
    switch (verdict.action) {
      case engine::Verdict::Action::train_on:
        go_on(trial, verdict.length);
        return "train on" + to(verdict.length) + why;
      case engine::Verdict::Action::pause:
        return "pause" + why;
      case engine::Verdict::Action::stop:
        searcher_->on_event(engine::TrialWasClosed{trial});
        return "stop" + why;
    }
    return "";
  }

  std::string close() {
    if (searcher_->closable().empty()) {
      return "none";
    }
    const TrialNumber first = searcher_->closable().front();
    std::string text = std::to_string(first.number()) + ' ' + text_of(searcher_->standing(first));
    searcher_->on_event(engine::TrialWasClosed{first});
    return text;
  }

  void go_on(TrialNumber trial, Units length) {
    searcher_->on_event(engine::TrialWasPromoted{trial, length});
    lengths_.at(trial.number()) = length;
  }

  static std::string to(Units length) { return " to " + std::to_string(engine::count(length)); }

  engine::ExperimentConfig config_;
  std::unique_ptr<engine::Searcher> searcher_;
  std::vector<Units> lengths_;  // What each trial trains to.
  bool shows_hparams_ = false;
};

TEST_P(Traces, RunAsTheTableSays) {
  for (const Line& line : GetParam().lines) {
    SCOPED_TRACE(line.where);
    if (!line.answer) {
      ASSERT_NO_FATAL_FAILURE(tell(line));
    } else if (line.words.front() == "progress") {
      expect_progress(*line.answer);
    } else {
      ASSERT_EQ(ask(line), *line.answer);
    }
  }
}

std::string name_of(const testing::TestParamInfo<Case>& instance) {
  return instance.param.name;
}

INSTANTIATE_TEST_SUITE_P(Conformance, Traces, testing::ValuesIn(read_tables(HPSEARCH_TABLES "/traces")),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Random, Traces, testing::ValuesIn(read_tables(HPSEARCH_TABLES "/random_traces")),
                         name_of);

}  // namespace
}  // namespace hpsearch::conformance
