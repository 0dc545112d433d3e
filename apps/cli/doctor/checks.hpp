#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/doctor/facts.hpp"

namespace hpsearch::cli {

enum class Verdict : std::uint8_t { good, skipped, warning, error };

[[nodiscard]] std::string_view name_of(Verdict verdict) noexcept;

/// The finding of a check: a sentence without its full stop, and for a problem what to do about it.
struct Finding {
  Verdict verdict = Verdict::good;
  std::string finding;
  std::string remedy = {};
};

/// Which part of the facts a check judges.
enum class Part : std::uint8_t { machine, state, daemon, worker };

/// The option that makes doctor look at that part; "" for the machine, which it always looks at.
[[nodiscard]] std::string_view name_of(Part part) noexcept;

struct Check {
  std::string_view name;
  Part needs;
  std::string_view about;          ///< What is checked, for the documentation.
  Finding (*judge)(const Facts&);  ///< Called only if that part of the facts is there.
};

// Each in the file of its name.
[[nodiscard]] std::span<const Check> machine_checks();
[[nodiscard]] std::span<const Check> state_checks();
[[nodiscard]] std::span<const Check> daemon_checks();
[[nodiscard]] std::span<const Check> worker_checks();

/// All of them, in the order of the report.
[[nodiscard]] std::vector<Check> all_checks();

struct CheckedFinding {
  std::string_view check;
  Finding finding;
};

/// The findings of all checks whose part of the facts is there.
[[nodiscard]] std::vector<CheckedFinding> judge(const Facts& facts);

/// The worst of them; good if there is none.
[[nodiscard]] Verdict worst_of(const std::vector<CheckedFinding>& findings) noexcept;

// --- for the files with the checks ---

[[nodiscard]] inline Finding good(std::string finding) {
  return {Verdict::good, std::move(finding)};
}
[[nodiscard]] inline Finding skipped(std::string why) {
  return {Verdict::skipped, std::move(why)};
}
[[nodiscard]] inline Finding warning(std::string finding, std::string remedy) {
  return {Verdict::warning, std::move(finding), std::move(remedy)};
}
[[nodiscard]] inline Finding error(std::string finding, std::string remedy) {
  return {Verdict::error, std::move(finding), std::move(remedy)};
}

/// "a, b and 3 more": the first five of some names.
[[nodiscard]] std::string some_of(const std::vector<std::string>& names);
/// "0644"
[[nodiscard]] std::string mode_text(std::uint32_t mode);

}  // namespace hpsearch::cli
