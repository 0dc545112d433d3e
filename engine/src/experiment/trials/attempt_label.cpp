#include <charconv>

#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/experiment/numbering.hpp"

namespace hpsearch::engine {
namespace {

std::optional<std::uint64_t> whole_number(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string label_of(const AttemptKey& key) {
  const std::string attempt = std::to_string(key.attempt.number());
  const std::uint64_t lease = key.lease.number();
  return lease < Numbering::first_after_a_restore ? attempt : attempt + "." + std::to_string(lease);
}

std::optional<std::pair<AttemptNumber, LeaseId>> read_attempt_label(std::string_view label) noexcept {
  const std::size_t dot = label.find('.');
  const auto attempt = whole_number(label.substr(0, dot));
  const auto lease =
      dot == std::string_view::npos ? std::optional<std::uint64_t>(0) : whole_number(label.substr(dot + 1));
  return attempt && lease ? std::optional(std::pair(AttemptNumber(*attempt), LeaseId(*lease))) : std::nullopt;
}

}  // namespace hpsearch::engine
