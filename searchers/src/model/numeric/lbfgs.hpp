#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hpsearch::searchers::model {

/// A smooth function to be minimised, looked at twice: its value, and the gradient where that was asked last.
class Objective {
 public:
  Objective() = default;
  Objective(const Objective&) = delete;
  Objective& operator=(const Objective&) = delete;
  virtual ~Objective() = default;
  /// 1e100 where it cannot be computed.
  [[nodiscard]] virtual double value(std::span<const double> at) = 0;
  virtual void gradient(std::span<double> out) = 0;
};

struct Minimum {
  std::vector<double> at;
  double value = 0;
  std::size_t evaluations = 0;
};

/// The limited-memory quasi-Newton method of Liu and Nocedal ("On the limited memory BFGS method for large
/// scale optimization", 1989), every step projected on the bounds. Ends after 20 iterations, where the
/// projected gradient is below 1e-2, or where the value falls by less than 1e-3.
[[nodiscard]] Minimum minimise(Objective& objective, std::span<const double> start,
                               std::span<const double> lower, std::span<const double> upper);

}  // namespace hpsearch::searchers::model
