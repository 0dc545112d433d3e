#include <charconv>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/experiment/numbering.hpp"

namespace hpsearch::engine {
namespace {}  // namespace

std::string label_of(const AttemptKey& key) {
  const std::string attempt = std::to_string(key.attempt.number());
  const std::uint64_t lease = key.lease.number();
  return lease < Numbering::first_after_a_restore ? attempt : attempt + "." + std::to_string(lease);
}

std::optional<std::pair<AttemptNumber, LeaseId>> read_attempt_label(std::string_view label) noexcept {
  const std::size_t dot = label.find('.');
  const auto attempt = number_in<std::uint64_t>(label.substr(0, dot));
  const auto lease = dot == std::string_view::npos ? std::optional<std::uint64_t>(0)
                                                   : number_in<std::uint64_t>(label.substr(dot + 1));
  return attempt && lease ? std::optional(std::pair(AttemptNumber(*attempt), LeaseId(*lease))) : std::nullopt;
}

}  // namespace hpsearch::engine
