#include "daemon/downloads/byte_range.hpp"

#include <algorithm>
#include <optional>

#include "hpsearch/engine/base/digits.hpp"

namespace hpsearch::daemon {
namespace {

/// A number that does not fit is larger than any file.
std::optional<std::uint64_t> position(std::string_view text) noexcept {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  return engine::number_in<std::uint64_t>(text).value_or(~std::uint64_t{0});
}

}  // namespace

RangeAnswer range_of(std::string_view header, std::uint64_t all) noexcept {
  constexpr std::string_view unit = "bytes=";
  const ByteRange everything{0, all};
  if (!header.starts_with(unit)) {
    return everything;
  }
  header.remove_prefix(unit.size());
  const std::size_t dash = header.find('-');
  if (dash == std::string_view::npos) {
    return everything;
  }
  const auto first = position(header.substr(0, dash));
  const auto last = position(header.substr(dash + 1));
  if (dash == 0) {
    if (!last) {
      return everything;
    }
    return *last == 0 ? RangeAnswer(RangeNotThere{}) : ByteRange{all - std::min(*last, all), all};
  }
  const bool is_open = dash + 1 == header.size();
  if (!first || (!last && !is_open) || (last && *last < *first)) {
    return everything;
  }
  if (*first >= all) {
    return RangeNotThere{};
  }
  return ByteRange{*first, is_open ? all : std::min(*last, all - 1) + 1};
}

}  // namespace hpsearch::daemon
