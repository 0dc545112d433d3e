#include "columns.hpp"

#include <array>
#include <utility>

namespace hpsearch::searchers {

namespace {

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::uint8_t no_letter = 255;

constexpr std::array<std::uint8_t, 256> values = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(no_letter);
  for (std::size_t i = 0; i < letters.size(); ++i) {
    table[static_cast<unsigned char>(letters[i])] = static_cast<std::uint8_t>(i);
  }
  return table;
}();

}  // namespace

void ColumnWriter::put(engine::Cardinality number) {
  for (; number >= 32; number >>= 5U) {
    text_ += letters[static_cast<std::size_t>(number & 31U) | 32U];
  }
  text_ += letters[static_cast<std::size_t>(number)];
}

ColumnReader::ColumnReader(const engine::Value& column) noexcept {
  if (const std::string* text = column.as_text()) {
    left_ = *text;
  } else {
    good_ = false;
  }
}

engine::Cardinality ColumnReader::take_wide() noexcept {
  engine::Cardinality number = 0;
  for (unsigned shift = 0; good_; shift += 5) {
    const std::uint8_t value =
        left_.empty() ? no_letter : values[static_cast<unsigned char>(left_.front())];
    if (value == no_letter || shift > 125) {
      break;
    }
    left_.remove_prefix(1);
    number |= static_cast<engine::Cardinality>(value & 31U) << shift;
    if (value < 32) {
      return number;
    }
  }
  good_ = false;
  return 0;
}

std::uint64_t ColumnReader::take() noexcept {
  std::uint64_t number = 0;
  std::size_t i = 0;
  for (unsigned shift = 0; good_ && i < left_.size() && shift < 65; shift += 5, ++i) {
    const std::uint8_t value = values[static_cast<unsigned char>(left_[i])];
    if (value == no_letter || (shift == 60 && (value & 31U) > 15)) {
      break;
    }
    number |= static_cast<std::uint64_t>(value & 31U) << shift;
    if (value < 32) {
      left_.remove_prefix(i + 1);
      return number;
    }
  }
  good_ = false;
  return 0;
}

}  // namespace hpsearch::searchers
