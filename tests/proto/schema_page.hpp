#pragma once

#include <string>
#include <vector>

namespace hpsearch::test {

/// One row of a table of proto/SCHEMA.md.
struct SchemaField {
  std::string name;
  std::string type;
  std::string when_missing;  ///< "" in tables without this column.
  std::string unit;
};

/// The rows under "### heading", and those of a shared table that a row in *italics* names.
/// Aborts the test binary if the page can't be read.
[[nodiscard]] std::vector<SchemaField> schema_fields(const std::string& heading);

[[nodiscard]] bool schema_has(const std::string& heading);

/// Adds the section of a kind of event to the page, with these rows and the comments of its struct in
/// events.hpp.
void write_schema_of_event(const std::string& type, const std::vector<SchemaField>& rows);

}  // namespace hpsearch::test
