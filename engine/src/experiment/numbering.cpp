#include "hpsearch/engine/experiment/numbering.hpp"

#include <limits>

namespace hpsearch::engine {

bool Numbering::may_begin_anew(Lsn lsn, std::uint64_t from) const noexcept {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / 2;
  return from >= first_after_a_restore && from > of(lsn) && from < most;
}

std::uint64_t Numbering::of(Lsn lsn) const noexcept {
  for (auto span = spans_.rbegin(); span != spans_.rend(); ++span) {
    if (lsn > span->behind) {
      return span->from + lsn.number();
    }
  }
  return lsn.number();
}

bool Numbering::has_given(std::uint64_t number, Lsn last) const noexcept {
  for (auto span = spans_.rbegin(); span != spans_.rend(); ++span) {
    if (number > span->from + span->behind.number()) {
      return number <= span->from + last.number();
    }
    last = span->behind;
  }
  return number <= last.number();
}

}  // namespace hpsearch::engine
