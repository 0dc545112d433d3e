#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/searcher.hpp"

namespace hpsearch::contract {

/// One trial of a course (search_course.hpp).
struct CourseTrial {
  enum class State : std::uint8_t { running, paused, ended };
  struct Result {
    engine::Score score = engine::Score::worst();
    std::uint64_t bracket = 0;
    std::uint64_t rung = 0;
  };

  State state = State::running;
  bool invalid = false;
  bool repeat = false;  ///< Another training of a finalist.
  engine::Value hparams;
  engine::Units length{};
  engine::Units final_length{};  ///< What it has trained to.
  std::uint64_t bracket = 0;
  std::optional<engine::Score> latest;
  std::vector<Result> results;
  std::uint64_t pace = 1;
  std::uint64_t done_at = 0;  ///< When it reaches its length, in ticks.
};

}  // namespace hpsearch::contract
