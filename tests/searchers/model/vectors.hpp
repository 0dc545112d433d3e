#pragma once

#include <cmath>
#include <vector>

#include "model/numeric/kernel.hpp"

// Numbers of an independent implementation.

namespace hpsearch::searchers::model::test {

inline std::vector<double> theta() {
  std::vector<double> theta;
  for (const double value : {.5, 1.25, .8, .3, .6, .2, .01, .15}) {
    theta.push_back(std::log(value));
  }
  return theta;
}

inline std::vector<double> theta_hat() {
  return {-0.54212952139, -0.395727370543, 0.0741251774347, -1.79756465746,
          0.258859568447, -1.16189323926,  -7.10811221693,  -2.43003058987};
}

struct Row {
  double a;
  double b;
  double s;
  double y;
};

inline const std::vector<Row>& rows() {
  static const std::vector<Row> rows{{0.1, 0.2, 0, -1.2},  {0.9, 0.8, 0, 0.4},   {0.4, 0.6, 0, 0.9},
                                     {0.7, 0.1, 0, -0.3},  {0.3, 0.95, 0, 0.1},  {0.55, 0.45, 0, 0.7},
                                     {0.4, 0.6, 0.5, 1.4}, {0.9, 0.8, 0.5, 0.8}, {0.4, 0.6, 1, 1.9},
                                     {0.05, 0.7, 0, -0.6}};
  return rows;
}

inline Points points() {
  Points points;
  points.features = 2;
  for (const Row& row : rows()) {
    points.add(std::vector{row.a, row.b}, row.s);
  }
  return points;
}

inline std::vector<double> targets() {
  std::vector<double> targets;
  for (const Row& row : rows()) {
    targets.push_back(row.y);
  }
  return targets;
}

}  // namespace hpsearch::searchers::model::test
