#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/events.hpp"

namespace hpsearch::daemon {

/// How far a store has come with the log that only it writes, and its checks before it reads or adds more.
struct WrittenLog {
  engine::Lsn last;
  std::uint32_t chain = 0;  ///< The chain of `last`.
  bool recovered = false;
  /// The append that failed. The storage might accept the next one; its store does not.
  std::optional<engine::Error> broken;

  void check_before_recovery() const;
  /// The error of a log that does not end with the event `head`. corrupt.
  [[nodiscard]] engine::Error other_end(const std::string& log, engine::Lsn head) const;
  /// The failure of a former append; done if a group may be appended, which may be empty.
  [[nodiscard]] engine::Status check_before_append(std::span<const engine::Event> group) const;
};

}  // namespace hpsearch::daemon
