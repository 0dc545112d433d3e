#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "events/spell_event.hpp"
#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/proto/encoding/spelling.hpp"
#include "hpsearch/proto/wire/spell_attempt.hpp"
#include "proto/schema_page.hpp"

namespace hpsearch::test {

/// The heading in proto/SCHEMA.md of a struct that is a field.
template <class T>
inline constexpr const char* heading_of = nullptr;
template <>
inline constexpr const char* heading_of<engine::Reason> = "reason";
template <>
inline constexpr const char* heading_of<engine::ExpectedResult> = "expected result";
template <>
inline constexpr const char* heading_of<engine::SourceCheckpoint> = "source checkpoint";
template <>
inline constexpr const char* heading_of<engine::SubmittedFile> = "submitted file";
template <>
inline constexpr const char* heading_of<engine::GitState> = "git state";
template <>
inline constexpr const char* heading_of<engine::Place> = "place";
template <>
inline constexpr const char* heading_of<engine::SlotDevice> = "slot device";
template <>
inline constexpr const char* heading_of<engine::ExitReport> = "report exit";
template <>
inline constexpr const char* heading_of<engine::Report> = "report";

/// Follows a spelling and writes the rows that proto/SCHEMA.md should have for its fields.
class FieldLister {
 public:
  template <class T>
  void operator()(const char* key, const T& member) {
    fields_.push_back({key, type_of(member), "refused", unit_of(member)});
  }
  template <class T>
  void maybe(const char* key, const T& member) {
    fields_.push_back({key, type_of(member), when_missing(member), unit_of(member)});
  }

  [[nodiscard]] const std::vector<SchemaField>& fields() const noexcept { return fields_; }

 private:
  static std::string type_of(const bool& /*member*/) { return "boolean"; }
  static std::string type_of(const double& /*member*/) { return "real"; }
  static std::string type_of(const int& /*member*/) { return "integer, 32 bits"; }
  static std::string type_of(const std::uint32_t& /*member*/) { return "natural, 32 bits"; }
  static std::string type_of(const std::uint64_t& /*member*/) { return "natural"; }
  static std::string type_of(const std::string& /*member*/) { return "text"; }
  static std::string type_of(const engine::Value& /*member*/) { return "value"; }
  static std::string type_of(const engine::Units& /*member*/) { return "natural"; }
  static std::string type_of(const engine::Duration& /*member*/) { return "natural"; }
  static std::string type_of(const engine::Metrics& /*member*/) { return "map of text to real"; }
  static std::string type_of(const std::map<std::string, std::string>& /*member*/) {
    return "map of text to text";
  }
  template <class Kind>
  static std::string type_of(const engine::Id<Kind>& /*member*/) {
    return "natural";
  }
  template <class T>
  static std::string type_of(const std::optional<T>& /*member*/) {
    return type_of(T());
  }
  template <class T>
  static std::string type_of(const std::vector<T>& /*member*/) {
    return "list of " + type_of(T());
  }
  template <class T>
  static std::string type_of(const T& /*member*/) {
    if constexpr (proto::Worded<T>) {
      return "text";
    } else {
      static_assert(heading_of<T> != nullptr, "add its heading above");
      std::string anchor = heading_of<T>;
      for (char& c : anchor) {
        c = c == ' ' ? '-' : c;
      }
      return "[" + std::string(heading_of<T>) + "](#" + anchor + ")";
    }
  }

  /// The unit that a type has.
  static std::string unit_of(const engine::Units& /*member*/) { return "length"; }
  static std::string unit_of(const engine::Duration& /*member*/) { return "ms"; }
  static std::string unit_of(const engine::ExperimentId& /*member*/) { return "id"; }
  static std::string unit_of(const engine::TrialId& /*member*/) { return "id"; }
  static std::string unit_of(const engine::WorkerId& /*member*/) { return "id"; }
  static std::string unit_of(const engine::TrialNumber& /*member*/) { return "number"; }
  static std::string unit_of(const engine::AttemptNumber& /*member*/) { return "number"; }
  static std::string unit_of(const std::vector<engine::SlotIndex>& /*member*/) { return "slots"; }
  template <class T>
  static std::string unit_of(const T& /*member*/) {
    return "";
  }

  static std::string when_missing(const bool& /*member*/) { return "false"; }
  static std::string when_missing(const std::string& /*member*/) { return "\"\""; }
  template <class T>
  static std::string when_missing(const T& /*member*/) {
    if constexpr (requires { proto::Words<T>::of(T()); }) {
      return "`" + std::string(proto::Words<T>::of(T())) + "`";
    } else {
      constexpr bool is_number = std::is_arithmetic_v<T> || std::is_same_v<T, engine::Units> ||
                                 std::is_same_v<T, engine::Duration> || requires(T id) {
        id.number();
      };
      return is_number ? "0" : "none";
    }
  }

  std::vector<SchemaField> fields_;
};

/// The rows that a kind of event should have.
template <class Kind>
[[nodiscard]] std::vector<SchemaField> listed_fields() {
  FieldLister lister;
  const Kind event{};
  Kind::list_fields(lister, event);
  return lister.fields();
}

}  // namespace hpsearch::test
