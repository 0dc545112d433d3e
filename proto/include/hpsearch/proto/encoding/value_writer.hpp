#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::proto {

/// A count in JSON for people: an integer if it fits a Value, otherwise its decimal digits as text.
[[nodiscard]] engine::Value count_value(engine::Cardinality count);

/// Builds a Value with the interface of MsgpackWriter, so that one spelling serves both.
class ValueWriter {
 public:
  void null() { add({}); }
  void boolean(bool value) { add(value); }
  void natural(std::uint64_t value) { add(count_value(value)); }
  void integer(std::int64_t value) { add(value); }
  void real(double value) { add(value); }
  void text(std::string_view value);
  void bytes(std::string_view value) { text(value); }
  void list(std::size_t items);
  void map(std::size_t members);
  void value(const engine::Value& value) { add(value); }

  /// The complete value. Call it once.
  [[nodiscard]] engine::Value take();

 private:
  struct Open {
    engine::Value value;   // The list or map that is being filled.
    std::size_t left = 0;  // Values that it still needs.
    std::string key;       // The key of the next member.
    bool needs_key = false;
  };

  void add(engine::Value value);
  void open(engine::Value empty, std::size_t size);

  std::vector<Open> open_;
  engine::Value done_;
};

}  // namespace hpsearch::proto
