#include "hpsearch/proto/encoding/value_writer.hpp"

#include <limits>
#include <utility>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::proto {

using engine::Value;

Value count_value(engine::Cardinality count) {
  if (count > static_cast<engine::Cardinality>(std::numeric_limits<std::int64_t>::max())) {
    return engine::to_text(count);
  }
  return static_cast<std::int64_t>(count);
}

void ValueWriter::text(std::string_view value) {
  if (!open_.empty() && open_.back().needs_key) {
    open_.back().key = value;
    open_.back().needs_key = false;
  } else {
    add(to_utf8(value));
  }
}

void ValueWriter::list(std::size_t items) {
  open(Value::List{}, items);
}

void ValueWriter::map(std::size_t members) {
  open(Value::Map{}, members);
}

void ValueWriter::open(Value empty, std::size_t size) {
  if (size == 0) {
    add(std::move(empty));
    return;
  }
  const bool is_map = empty.as_map() != nullptr;
  open_.push_back({std::move(empty), size, {}, is_map});
}

void ValueWriter::add(Value value) {
  while (!open_.empty()) {
    Open& around = open_.back();
    if (Value::List* items = around.value.as_list()) {
      items->push_back(std::move(value));
    } else {
      HPSEARCH_CHECK(!around.needs_key, "a map's value comes after its key");
      (*around.value.as_map())[around.key] = std::move(value);
      around.needs_key = true;
    }
    if (--around.left > 0) {
      return;
    }
    value = std::move(around.value);
    open_.pop_back();
  }
  done_ = std::move(value);
}

Value ValueWriter::take() {
  HPSEARCH_CHECK(open_.empty(), "every list and map got what was announced");
  return std::move(done_);
}

}  // namespace hpsearch::proto
