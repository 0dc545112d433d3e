#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "model/numeric/dense.hpp"
#include "model/numeric/numbers.hpp"

namespace hpsearch::searchers::model {

/// Memory of a matrix that only grows, so that proposals of the same size ask for none.
class Room {
 public:
  /// The old content stays.
  void make(std::size_t rows, std::size_t columns) {
    if (rows > stride_) {
      const std::size_t wider = (rows + (stride_ == 0 ? 0 : rows / 2) + 7) / 8 * 8;
      Numbers wide(wider * std::max(columns, columns_));
      for (std::size_t j = 0; j < columns_; ++j) {
        std::copy_n(numbers_.data() + j * stride_, stride_, wide.data() + j * wider);
      }
      columns_ = std::max(columns, columns_);
      stride_ = wider;
      numbers_ = std::move(wide);
    } else if (columns > columns_) {
      columns_ = columns + columns_ / 2;
      numbers_.resize(stride_ * columns_);
    }
  }
  [[nodiscard]] Matrix all() noexcept { return {numbers_.data(), stride_}; }
  [[nodiscard]] ConstMatrix all() const noexcept { return {numbers_.data(), stride_}; }
  [[nodiscard]] double* column(std::size_t j) noexcept { return numbers_.data() + j * stride_; }
  [[nodiscard]] const double* column(std::size_t j) const noexcept { return numbers_.data() + j * stride_; }

 private:
  Numbers numbers_;
  std::size_t stride_ = 0;
  std::size_t columns_ = 0;
};

}  // namespace hpsearch::searchers::model
