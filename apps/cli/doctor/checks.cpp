#include "cli/doctor/checks.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace hpsearch::cli {
namespace {

bool has(const Facts& facts, Part part) {
  switch (part) {
    case Part::machine:
      return true;
    case Part::state:
      return facts.state.has_value();
    case Part::daemon:
      return facts.daemon.has_value();
    case Part::worker:
      return facts.worker.has_value();
  }
  return false;
}

}  // namespace

std::string_view name_of(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::good:
      return "ok";
    case Verdict::skipped:
      return "skipped";
    case Verdict::warning:
      return "warning";
    case Verdict::error:
      return "error";
  }
  return "";
}

std::string_view name_of(Part part) noexcept {
  switch (part) {
    case Part::machine:
      return "machine";
    case Part::state:
      return "state directory";
    case Part::daemon:
      return "daemon";
    case Part::worker:
      return "worker";
  }
  return "";
}

std::vector<Check> all_checks() {
  std::vector<Check> all;
  for (const std::span<const Check> some :
       {machine_checks(), state_checks(), daemon_checks(), worker_checks()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::vector<CheckedFinding> judge(const Facts& facts) {
  std::vector<CheckedFinding> found;
  for (const Check& check : all_checks()) {
    if (has(facts, check.needs)) {
      found.push_back({check.name, check.judge(facts)});
    }
  }
  return found;
}

Verdict worst_of(const std::vector<CheckedFinding>& findings) noexcept {
  Verdict worst = Verdict::good;
  for (const CheckedFinding& one : findings) {
    worst = std::max(worst, one.finding.verdict);
  }
  return worst;
}

std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
    text += (text.empty() ? "" : ", ") + names[i];
  }
  return text + (names.size() > most ? " and " + std::to_string(names.size() - most) + " more" : "");
}

std::string mode_text(std::uint32_t mode) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04o", mode & 07777U);
  return text.data();
}

}  // namespace hpsearch::cli
