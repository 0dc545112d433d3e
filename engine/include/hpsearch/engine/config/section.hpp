#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::engine {

/// Integers of a configuration are kept as Value does: up to 2^63-1.
inline constexpr std::uint64_t most_integer = 0x7fff'ffff'ffff'ffffU;

/// The state of reading so far.
struct Findings {
  Problems problems;
  Problems notes;
};

/// "an integer from 1 to 99", "an integer of at least 1".
[[nodiscard]] std::string integers_between(std::uint64_t least, std::uint64_t greatest);

/// Path of `key` in the map at `path`.
[[nodiscard]] std::string path_below(std::string_view path, std::string_view key);

/// One map of the experiment file while it is read.
///
/// Fields are asked for by name, and asking is what makes a field known: finish() refuses every key no reader
/// asked for and suggests the nearest one somebody did. So the code that reads a section is its one
/// description. A field that is null is absent. What is wrong becomes a problem, and the field reads as
/// absent.
///
/// Owns: nothing; the tree and the findings outlive it.
class Section {
 public:
  /// `value` may be null or nullptr: an empty section.
  Section(const Value* value, std::string path, Findings& findings);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] Findings& findings() noexcept { return findings_; }
  [[nodiscard]] std::string path_of(std::string_view key) const { return path_below(path_, key); }
  [[nodiscard]] bool has(std::string_view key) const noexcept;  ///< Present and not null; asks for nothing.
  [[nodiscard]] bool empty() const noexcept;                    ///< Nothing but nulls.

  /// Whatever stands there.
  const Value* any(std::string_view key);
  /// The same under a name that users are known to write instead; noted when it is used, a problem when both
  /// are there. Gives the name that was used in `used`.
  const Value* any(std::string_view key, std::string_view other_name, std::string_view& used);

  std::optional<bool> boolean(std::string_view key);  ///< Also yes, no, on, off, which YAML 1.2 leaves text.
  std::optional<std::uint64_t> integer(std::string_view key, std::uint64_t least,
                                       std::uint64_t greatest = most_integer);
  std::optional<double> number(std::string_view key);                      ///< Finite.
  std::optional<double> number_above(std::string_view key, double bound);  ///< Finite, > bound.
  std::optional<Duration> time(std::string_view key);  ///< Above 0: seconds, or a text as 90m or 1h 30m.
  std::optional<std::string> text(std::string_view key);
  std::optional<std::string> text_in(std::string_view key, std::span<const std::string_view> allowed);
  const Value::Map* map(std::string_view key);
  const Value::List* list(std::string_view key);
  std::vector<std::string> texts(std::string_view key);  ///< A list of strings.
  Section section(std::string_view key);

  /// Makes a key known without reading it.
  void know(std::string_view key) { asked_.push_back(key); }

  void problem(std::string_view key, std::string what, std::string allowed = "");
  void missing(std::string_view key, std::string allowed) {
    problem(key, std::string(is_missing), std::move(allowed));
  }
  void note(std::string_view key, std::string what);

  /// Refuses what no reader asked for.
  void finish();
  /// The members that no reader asked for, except nulls.
  [[nodiscard]] Value::Map unread() const;

 private:
  static constexpr std::string_view is_missing = "is missing";

  const Value* find(std::string_view key) const noexcept;  // Present and not null.
  void wrong(std::string_view key, const Value& value, std::string allowed);

  const Value::Map* map_ = nullptr;  // nullptr = empty
  std::string path_;
  Findings& findings_;
  std::vector<std::string_view> asked_;
};

}  // namespace hpsearch::engine
