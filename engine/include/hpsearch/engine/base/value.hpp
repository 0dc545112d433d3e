#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace hpsearch::engine {

class Value;

/// The members of a map, always sorted byte-wise by key; a key stands once.
class Members {
 public:
  using Member = std::pair<std::string, Value>;

  Members() = default;
  Members(std::initializer_list<Member> members);  ///< A key that stands twice keeps its last value.

  [[nodiscard]] const Value* find(std::string_view key) const noexcept;  ///< Nothing when absent. O(log n).
  [[nodiscard]] Value* find(std::string_view key) noexcept;
  [[nodiscard]] bool contains(std::string_view key) const noexcept { return find(key) != nullptr; }
  Value& operator[](std::string_view key);  ///< Adds a null under a new key. O(n) then.
  void erase(std::string_view key);

  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] bool empty() const noexcept;
  [[nodiscard]] std::vector<Member>::const_iterator begin() const noexcept;
  [[nodiscard]] std::vector<Member>::const_iterator end() const noexcept;

  friend bool operator==(const Members& a, const Members& b);

 private:
  std::vector<Member> members_;
};

/// A JSON-like tree: what configurations, hyperparameters and saved searchers are made of.
///
/// Numbers keep their type: an integer 64 and a real 64.0 differ, and compare unequal. Maps are ordered by
/// key, so equal values are spelled the same everywhere. NaN equals nothing, as in IEEE 754.
class Value {
 public:
  using List = std::vector<Value>;
  using Map = Members;

  Value() = default;                                             ///< null
  Value(std::nullptr_t) {}                                       // NOLINT(google-explicit-constructor)
  Value(bool value) : held_(value) {}                            // NOLINT(google-explicit-constructor)
  Value(int value) : held_(static_cast<std::int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  Value(std::int64_t value) : held_(value) {}                    // NOLINT(google-explicit-constructor)
  Value(double value) : held_(value) {}                          // NOLINT(google-explicit-constructor)
  Value(const char* value) : held_(std::string(value)) {}        // NOLINT(google-explicit-constructor)
  Value(std::string_view value) : held_(std::string(value)) {}   // NOLINT(google-explicit-constructor)
  Value(std::string value) : held_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Value(List value) : held_(std::move(value)) {}                 // NOLINT(google-explicit-constructor)
  Value(Map value) : held_(std::move(value)) {}                  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool is_null() const noexcept { return held_.index() == 0; }
  [[nodiscard]] bool is_number() const noexcept { return as_integer() != nullptr || as_real() != nullptr; }

  /// The value, or nullptr if it is of another kind.
  [[nodiscard]] const bool* as_bool() const noexcept { return std::get_if<bool>(&held_); }
  [[nodiscard]] const std::int64_t* as_integer() const noexcept { return std::get_if<std::int64_t>(&held_); }
  [[nodiscard]] const double* as_real() const noexcept { return std::get_if<double>(&held_); }
  [[nodiscard]] const std::string* as_text() const noexcept { return std::get_if<std::string>(&held_); }
  [[nodiscard]] const List* as_list() const noexcept { return std::get_if<List>(&held_); }
  [[nodiscard]] List* as_list() noexcept { return std::get_if<List>(&held_); }
  [[nodiscard]] const Map* as_map() const noexcept { return std::get_if<Map>(&held_); }
  [[nodiscard]] Map* as_map() noexcept { return std::get_if<Map>(&held_); }

  /// An integer or a real as a double; `otherwise` for every other kind.
  [[nodiscard]] double number_or(double otherwise) const noexcept;

  /// "null", "boolean", "integer", "number", "string", "list" or "map": for messages.
  [[nodiscard]] std::string_view kind_name() const noexcept;

  /// The value under a dotted path ("optimizer.lr") of nested maps; nullptr when there is none.
  [[nodiscard]] const Value* at_path(std::string_view dotted) const noexcept;
  /// The value under these keys of nested maps, one for each level, which may hold dots; nullptr when there
  /// is none.
  [[nodiscard]] const Value* at_keys(std::span<const std::string> keys) const noexcept;

  friend bool operator==(const Value& a, const Value& b);

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Map> held_;
};

}  // namespace hpsearch::engine
