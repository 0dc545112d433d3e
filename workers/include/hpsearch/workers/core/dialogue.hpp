#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/experiment/commands.hpp"
#include "hpsearch/workers/core/effects.hpp"

namespace hpsearch::workers {

/// The decisions of the daemon about an attempt.
struct Orders {
  engine::Lsn last_decision{};
  engine::Units length{};                     ///< The length at which the program must ask next.
  std::optional<engine::Directive> end_as{};  ///< pause or stop, the answer to its next question.
  bool may_finish = false;                    ///< Decision::may_finish of `end_as`.
  bool kill = false;
  std::vector<engine::Lsn> unacknowledged{};  ///< Decisions that are acknowledged once they are on disk.
};

/// The conversation with a program: how it reports, and its questions without an answer.
///
/// Owns: values only. Cost: O(1).
class Dialogue {
 public:
  [[nodiscard]] bool has_socket() const noexcept { return speaks_ == Speaks::socket; }
  [[nodiscard]] bool prints_lines() const noexcept { return speaks_ == Speaks::lines; }
  /// Notes a message. A program that has used its socket is not expected to print.
  void message_came(bool by_socket) noexcept {
    if (by_socket || speaks_ == Speaks::unknown) {
      speaks_ = by_socket ? Speaks::socket : Speaks::lines;
    }
  }

  void wait(QuestionId question) { waiting_.push_back(question); }
  [[nodiscard]] const std::vector<QuestionId>& waiting() const noexcept { return waiting_; }
  [[nodiscard]] std::vector<QuestionId> take_waiting() { return std::exchange(waiting_, {}); }
  void restore(bool by_socket, bool by_lines, std::vector<QuestionId> waiting) {
    speaks_ = by_socket ? Speaks::socket : by_lines ? Speaks::lines : Speaks::unknown;
    waiting_ = std::move(waiting);
  }

  /// Whether this report repeats a waiting question on another connection.
  [[nodiscard]] bool repeats(const engine::MetricsReport& report) const;
  /// Whether a report of the searcher's metric that reached `length` is a question. True for the first one:
  /// each length is asked about once, even if the program continues before the decision.
  [[nodiscard]] bool asks_about(engine::Units length, const engine::MetricsReport& report);

  [[nodiscard]] bool knows_end() const noexcept { return knows_end_; }
  /// The program gets the answer to pause or to stop. True the first time.
  bool tell_end() noexcept { return !std::exchange(knows_end_, true); }
  /// Reports below this step are answered ahead. False if they already are.
  bool answers_ahead(engine::Units below) noexcept { return std::exchange(answered_ahead_, below) != below; }

 private:
  enum class Speaks : std::uint8_t { unknown, lines, socket };

  Speaks speaks_ = Speaks::unknown;
  std::vector<QuestionId> waiting_;
  std::optional<engine::MetricsReport> asked_with_;  ///< The report of waiting_; none after a takeover.
  std::optional<engine::Units> asked_at_;            ///< The last length that was asked about.
  std::optional<engine::Units> answered_ahead_;
  bool knows_end_ = false;
};

/// The answer to a question, as a line of JSON.
[[nodiscard]] std::string answer_line(std::optional<engine::Directive> end_as, engine::Units length);
[[nodiscard]] std::string error_line(const std::string& what);

}  // namespace hpsearch::workers
