#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/proto/api/experiments.hpp"
#include "hpsearch/proto/api/workers.hpp"

namespace hpsearch::cli {

/// The content of `hpsearch watch`.
struct WatchedSearch {
  api::Experiment detail;                        ///< GET .../experiments/ID
  std::vector<api::Worker> workers;              ///< GET .../workers
  std::vector<std::pair<double, double>> curve;  ///< Step and metric of the best trial.
  struct Line {
    std::string text;
    bool trouble = false;
  };
  std::deque<Line> decisions;  ///< The last decisions, oldest first.
  bool away = false;           ///< The daemon does not answer now.
};

struct ScreenLine {
  enum class Look : std::uint8_t { plain, title, dim, good, trouble };
  std::string text;
  Look look = Look::plain;
};

/// The view in `height` lines of at most `width` columns; `now` is in seconds since the epoch. Pure.
[[nodiscard]] std::vector<ScreenLine> watch_screen(const WatchedSearch& search, std::size_t width,
                                                   std::size_t height, double now);

}  // namespace hpsearch::cli
