#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "contract/answers.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::contract {

/// An event of a search, and the searcher's answers right after it.
struct RecordedAnswers {
  engine::SearchEvent event;
  std::string next;
  std::string verdict;  ///< After a TrialValidated; after a TrialReported, why the trial stops.
  std::vector<engine::TrialNumber> closable;
  std::optional<engine::TrialNumber> waiting;  ///< A trial that waits, another one after each event.
  std::string standing;                        ///< The searcher's answers about that trial.
  double progress = 0;

  [[nodiscard]] static RecordedAnswers of(const engine::Searcher& searcher, const engine::SearchEvent& event,
                                          std::string verdict, std::optional<engine::TrialNumber> waiting) {
    const std::span<const engine::TrialNumber> closable = searcher.closable();
    return {event,
            text_of(searcher.next()),
            std::move(verdict),
            {closable.begin(), closable.end()},
            waiting,
            waiting ? text_of_waiting(searcher, *waiting) : std::string(),
            searcher.progress()};
  }

  /// A searcher with the same events gives the same answers.
  void expect_of(const engine::Searcher& searcher) const {
    EXPECT_EQ(text_of(searcher.next()), next);
    if (const auto* validated = std::get_if<engine::TrialValidated>(&event)) {
      EXPECT_EQ(text_of(searcher.verdict(validated->trial)), verdict);
    }
    if (const auto* reported = std::get_if<engine::TrialReported>(&event)) {
      const std::optional<engine::Reason> stop = searcher.early_stop(reported->trial);
      EXPECT_EQ(stop ? text_of(*stop) : "", verdict);
    }
    const std::span<const engine::TrialNumber> named = searcher.closable();
    EXPECT_EQ(std::vector<engine::TrialNumber>(named.begin(), named.end()), closable);
    if (waiting) {
      EXPECT_EQ(text_of_waiting(searcher, *waiting), standing);
    }
    EXPECT_EQ(searcher.progress(), progress);
  }
};

}  // namespace hpsearch::contract
