#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "hpsearch/workers/core/spool.hpp"

namespace hpsearch::workers {

/// The checkpoints that a program reported and that aren't published yet, and the questions that are
/// answered when the report of a checkpoint is on disk: a program that continues earlier may overwrite files
/// that the next agent would publish.
class CheckpointQueue {
 public:
  void add(WantedCheckpoint wanted) { waiting_.push_back(wanted); }
  /// The next one to publish; nothing if none waits or one is being published.
  [[nodiscard]] std::optional<WantedCheckpoint> begin_next() {
    if (publishing_ || waiting_.empty()) {
      return std::nullopt;
    }
    publishing_ = waiting_.front();
    waiting_.pop_front();
    return publishing_;
  }
  [[nodiscard]] const std::optional<WantedCheckpoint>& publishing() const noexcept { return publishing_; }
  void end() noexcept { publishing_.reset(); }
  [[nodiscard]] bool has_waiting() const noexcept { return !waiting_.empty(); }
  void drop_waiting() noexcept { waiting_.clear(); }

  /// `question` is answered when the report `seq` is on disk.
  void answer_when_written(std::uint64_t seq, QuestionId question) {
    unanswered_.emplace_back(seq, question);
  }
  /// The questions whose reports, up to `seq`, are on disk. Each is returned once.
  [[nodiscard]] std::vector<QuestionId> written(std::uint64_t seq) {
    std::vector<QuestionId> done;
    std::erase_if(unanswered_, [&](const auto& waiting) {
      if (waiting.first <= seq) {
        done.push_back(waiting.second);
      }
      return waiting.first <= seq;
    });
    return done;
  }

  // For the spool.
  [[nodiscard]] std::vector<WantedCheckpoint> unpublished() const {
    std::vector<WantedCheckpoint> all(waiting_.begin(), waiting_.end());
    if (publishing_) {
      all.insert(all.begin(), *publishing_);
    }
    return all;
  }
  [[nodiscard]] std::vector<QuestionId> unanswered() const {
    std::vector<QuestionId> all;
    for (const auto& [seq, question] : unanswered_) {
      all.push_back(question);
    }
    return all;
  }

 private:
  std::optional<WantedCheckpoint> publishing_;
  std::deque<WantedCheckpoint> waiting_;
  std::vector<std::pair<std::uint64_t, QuestionId>> unanswered_;
};

}  // namespace hpsearch::workers
