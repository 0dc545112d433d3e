#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::engine {

/// What the model of a search has learnt from the results so far. Metrics have the user's unit and sign.
struct Learnt {
  /// How much a hyperparameter matters to the model: automatic relevance determination (Rasmussen and
  /// Williams, Gaussian Processes for Machine Learning, 5.1).
  struct Importance {
    std::string name;  ///< "optimizer.lr"
    double share = 0;  ///< Part of the mean squared distance between two random configurations as the model
                       ///< sees it; all shares together are 1.
    double length_scale = 0;  ///< Metrics stay alike over about this part of its range. Of categories without
                              ///< order: any two are 1 apart.
  };
  /// How far trainings of a length agree with full ones.
  struct Agreement {
    Units length{};
    std::uint64_t results = 0;
    double correlation = 0;  ///< Learned, of metrics at this length with those at full length; from 0 to 1.
  };
  /// The configuration with the best expected metric at full length.
  struct Best {
    Value hparams;
    double mean = 0;
    double deviation = 0;              ///< Standard deviation of what is expected.
    std::optional<TrialNumber> trial;  ///< That has this configuration; none: this search did not try it.
  };

  std::uint64_t results = 0;           ///< Heard so far.
  std::uint64_t needed = 0;            ///< The model speaks from so many results on.
  std::vector<Importance> importance;  ///< Largest share first; empty: there is no model yet.
  std::vector<Agreement> lengths;      ///< That have results, and full length; ascending. Empty likewise.
  std::optional<Best> best;            ///< None likewise.
};

}  // namespace hpsearch::engine
