#pragma once

#include <array>
#include <span>
#include <string_view>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::daemon {

/// A member of an object in a request or an answer.
///
/// Its type is spelled in short:
///   text, integer (from 0), number, flag, any, map     JSON's own kinds
///   count       a whole number that may be past JSON's: then text
///   metric      a number, or {"class": "nan" | "+inf" | "-inf"}
///   [T]  {T}    a list of T; a map whose values are T
///   T?          T or null
///   a|b         one of these texts
///   Name        the schema of that name
struct Field {
  std::string_view name;  ///< "why?": it may be missing.
  std::string_view type;
  std::string_view about = {};
};

/// A named JSON Schema: what bodies and answers look like. Answers may gain members; bodies may not have
/// others.
struct Schema {
  enum class Kind : bool { answer, body };
  std::string_view name;  ///< "Experiment"
  std::string_view about;
  std::span<const Field> fields;
  Kind kind = Kind::answer;
  std::string_view part_of = {};  ///< The name of a schema whose fields it has too; "" = none.
};

/// Each file has the schemas of its resource.
[[nodiscard]] std::span<const Schema> access_schemas() noexcept;
[[nodiscard]] std::span<const Schema> ask_schemas() noexcept;
[[nodiscard]] std::span<const Schema> bulk_schemas() noexcept;
[[nodiscard]] std::span<const Schema> daemon_schemas() noexcept;
[[nodiscard]] std::span<const Schema> experiment_schemas() noexcept;
[[nodiscard]] std::span<const Schema> file_schemas() noexcept;
[[nodiscard]] std::span<const Schema> trial_schemas() noexcept;
[[nodiscard]] std::span<const Schema> worker_schemas() noexcept;
[[nodiscard]] std::array<std::span<const Schema>, 8> all_schemas() noexcept;

/// The type as JSON Schema. A type that cannot be read is a bug.
[[nodiscard]] engine::Value json_schema_of(std::string_view type);
[[nodiscard]] engine::Value json_schema_of(const Schema& schema);
/// Those that all others may use: Count, Metric.
[[nodiscard]] engine::Value::Map shared_json_schemas();

}  // namespace hpsearch::daemon
