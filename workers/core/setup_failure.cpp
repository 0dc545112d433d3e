#include "hpsearch/workers/core/setup_failure.hpp"

#include <algorithm>

namespace hpsearch::workers {

std::optional<std::string> setup_failure_of(std::string_view log_tail) {
  constexpr std::string_view sign = "ERROR: ";  // pip's errors; the last one is the most specific.
  std::string_view error;
  std::string_view line;
  while (!log_tail.empty()) {
    line = log_tail.substr(0, log_tail.find('\n'));
    error = line.starts_with(sign) ? line.substr(sign.size()) : error;
    log_tail.remove_prefix(std::min(line.size() + 1, log_tail.size()));
  }
  if (!line.starts_with(requirements_failed)) {
    return std::nullopt;
  }
  constexpr std::string_view ours = "hpsearch: ";
  return error.empty() ? std::string(line.substr(ours.size()))
                       : std::string(requirements_failed.substr(ours.size())) + ": " + std::string(error);
}

}  // namespace hpsearch::workers
