#include "hpsearch/engine/experiment/slot_time.hpp"

#include <algorithm>

#include "experiment/engine_state.hpp"

namespace hpsearch::engine {
namespace {

constexpr std::int64_t micros_of_hour = std::int64_t{3'600} * 1'000'000;
constexpr std::int64_t most_hours_at_once = 24 * 366;  // A clock that is mad must not fill the memory.

std::int64_t sum(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? INT64_MAX : result;
}

std::int64_t product(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
}

}  // namespace

Duration slots_for(Duration time, std::uint64_t slots) noexcept {
  return Duration::micros(product(time.in_micros(), static_cast<std::int64_t>(slots)));
}

SlotTime::SlotTime(Duration accrued, std::int64_t slots, Instant since)
    : accrued_(accrued), slots_(slots), since_(since) {
  put(since.micros() / micros_of_hour, accrued.in_micros());
}

void SlotTime::change(std::int64_t slots, Instant at) {
  accrue(at);
  accrued_ = until(at);
  slots_ += slots;
  since_ = at;
}

void SlotTime::add(Duration held, Instant at) {
  change(0, std::max(at, since_));
  accrued_ = Duration::micros(sum(accrued_.in_micros(), held.in_micros()));
  put(since_.micros() / micros_of_hour, held.in_micros());
}

void SlotTime::skip(Duration span, Instant from) {
  change(0, std::max(from, since_));
  since_ = since_ + span;
}

Duration SlotTime::until(Instant now) const noexcept {
  return Duration::micros(sum(product((now - since_).in_micros(), slots_), accrued_.in_micros()));
}

Duration SlotTime::between(Instant from, Instant now) const noexcept {
  const std::int64_t first = hour_of(from).micros() / micros_of_hour;
  const auto begin = std::lower_bound(hours_.begin(), hours_.end(), first,
                                      [](const auto& one, std::int64_t hour) { return one.first < hour; });
  std::int64_t micros = 0;
  for (auto one = begin; one != hours_.end(); ++one) {
    micros = sum(micros, one->second);
  }
  const Instant held_since = std::max(since_, hour_of(from));
  return Duration::micros(now > held_since ? sum(micros, product((now - held_since).in_micros(), slots_))
                                           : micros);
}

std::optional<Instant> SlotTime::below(Duration amount, Duration window, Instant now) const noexcept {
  if (amount <= Duration()) {
    return std::nullopt;
  }
  const Instant from = hour_of(Instant::from_micros(now.micros() - window.in_micros()));
  std::int64_t left = between(from, now).in_micros();
  if (left < amount.in_micros()) {
    return now;
  }
  const auto leaves = [window](std::int64_t hour) {
    return Instant::from_micros((hour + 1) * micros_of_hour) + window;
  };
  const std::int64_t first = from.micros() / micros_of_hour;
  for (const auto& [hour, micros] : hours_) {
    if (hour >= first) {
      left -= micros;
      if (left < amount.in_micros()) {
        return leaves(hour);
      }
    }
  }
  for (Instant begin = std::max(since_, from); begin < now && slots_ > 0;) {
    const std::int64_t hour = begin.micros() / micros_of_hour;
    const Instant end = std::min(now, Instant::from_micros((hour + 1) * micros_of_hour));
    left -= product((end - begin).in_micros(), slots_);
    if (left < amount.in_micros()) {
      return leaves(hour);
    }
    begin = end;
  }
  return leaves(now.micros() / micros_of_hour);
}

Instant SlotTime::hour_of(Instant at) noexcept {
  return Instant::from_micros(at.micros() / micros_of_hour * micros_of_hour);
}

void SlotTime::accrue(Instant at) {
  if (slots_ == 0 || at <= since_) {
    return;
  }
  const std::int64_t last = at.micros() / micros_of_hour;
  Instant from = since_;
  if (last - from.micros() / micros_of_hour > most_hours_at_once) {
    put(last, product((at - from).in_micros(), slots_));
    return;
  }
  while (from < at) {
    const std::int64_t hour = from.micros() / micros_of_hour;
    const Instant to = std::min(at, Instant::from_micros((hour + 1) * micros_of_hour));
    put(hour, product((to - from).in_micros(), slots_));
    from = to;
  }
}

void SlotTime::put(std::int64_t hour, std::int64_t micros) {
  if (micros == 0) {
    return;
  }
  if (hours_.empty() || hours_.back().first < hour) {
    hours_.emplace_back(hour, micros);
  } else {
    hours_.back().second = sum(hours_.back().second, micros);
  }
}

}  // namespace hpsearch::engine
