#pragma once

#include <cstdint>
#include <vector>

#include "hpsearch/engine/base/id.hpp"

namespace hpsearch::engine {

/// What leases and decisions are called. Workers keep these numbers on their disks, so none may ever be given
/// out twice: the number of an event is its Lsn, until the store is brought back from an older copy. What
/// follows then has Lsns that the lost part of the log had too, and is numbered from somewhere beyond all
/// that this part can have given out.
///
/// Numbers grow with the log, so a lease fences all before it, and a later decision overrides an earlier one.
class Numbering {
 public:
  /// No event of a log that was never restored has a number as high: it would be the 10^12th.
  static constexpr std::uint64_t first_after_a_restore = std::uint64_t{1} << 40U;

  /// The events behind `lsn` are numbered `from` + Lsn. `from` is at least first_after_a_restore and beyond
  /// the numbers so far, as may_begin_anew() says.
  void begin_anew(Lsn lsn, std::uint64_t from) { spans_.push_back({lsn, from}); }
  [[nodiscard]] bool may_begin_anew(Lsn lsn, std::uint64_t from) const noexcept;

  /// The number of an event of this log. O(restores).
  [[nodiscard]] std::uint64_t of(Lsn lsn) const noexcept;
  [[nodiscard]] LeaseId lease_of(Lsn lsn) const noexcept { return LeaseId(of(lsn)); }

  /// Whether an event of this log, which ends with `last`, has the number. If none has, it was given out by a
  /// part that is lost. O(restores).
  [[nodiscard]] bool has_given(std::uint64_t number, Lsn last) const noexcept;

  /// Whether it was given out before the store was brought back (last): the lost part may have known more of
  /// it. O(1).
  [[nodiscard]] bool precedes_a_restore(std::uint64_t number) const noexcept {
    return !spans_.empty() && number <= spans_.back().from + spans_.back().behind.number();
  }

  struct Span {
    Lsn behind;              ///< It begins with the event after this.
    std::uint64_t from = 0;  ///< Number = from + Lsn.
  };
  [[nodiscard]] const std::vector<Span>& spans() const noexcept { return spans_; }  ///< None: never restored.

 private:
  std::vector<Span> spans_;
};

}  // namespace hpsearch::engine
