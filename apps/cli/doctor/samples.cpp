#include "cli/doctor/samples.hpp"

#include <limits>

#include "hpsearch/engine/base/digits.hpp"

namespace hpsearch::cli {
namespace {

std::optional<double> number_of(std::string_view text) {
  return text == "+Inf" ? std::numeric_limits<double>::infinity() : engine::number_in<double>(text);
}

}  // namespace

std::map<std::string, double> samples_of(std::string_view text) {
  std::map<std::string, double> samples;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t blank = line.rfind(' ');
    if (line.starts_with('#') || blank == std::string_view::npos) {
      continue;
    }
    if (const auto value = number_of(line.substr(blank + 1))) {
      samples.emplace(line.substr(0, blank), *value);
    }
  }
  return samples;
}

std::optional<double> sample(const std::map<std::string, double>& samples, const std::string& name) {
  const auto found = samples.find(name);
  return found == samples.end() ? std::nullopt : std::optional(found->second);
}

double sum_of(const std::map<std::string, double>& samples, const std::string& name) {
  double sum = sample(samples, name).value_or(0);
  for (auto at = samples.lower_bound(name + "{"); at != samples.end() && at->first.starts_with(name + "{");
       ++at) {
    sum += at->second;
  }
  return sum;
}

std::optional<double> quantile(const std::map<std::string, double>& samples, const std::string& name,
                               double share) {
  const std::string begin = name + "_bucket{le=\"";
  std::map<double, double> buckets;  // The bound, and how many are at most it.
  for (auto at = samples.lower_bound(begin); at != samples.end() && at->first.starts_with(begin); ++at) {
    const std::string_view rest = std::string_view(at->first).substr(begin.size());
    if (const auto bound = number_of(rest.substr(0, rest.find('"')))) {
      buckets.emplace(*bound, at->second);
    }
  }
  const double count = buckets.empty() ? 0 : buckets.rbegin()->second;
  if (count <= 0) {
    return std::nullopt;
  }
  for (const auto& [bound, below] : buckets) {
    if (below >= share * count) {
      return bound;
    }
  }
  return buckets.rbegin()->first;
}

}  // namespace hpsearch::cli
