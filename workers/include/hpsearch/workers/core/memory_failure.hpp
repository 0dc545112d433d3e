#pragma once

#include <optional>
#include <string_view>

namespace hpsearch::workers {

/// The line in which a program that failed says that it got no more memory, of the machine or of a device:
/// the exceptions of Python, NumPy, PyTorch, JAX, TensorFlow, XGBoost and C++. Without a rank before it; the
/// last one if there are several. Nothing for other output.
[[nodiscard]] std::optional<std::string_view> memory_failure_of(std::string_view log_tail);

}  // namespace hpsearch::workers
