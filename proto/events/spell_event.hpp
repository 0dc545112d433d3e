#pragma once

#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/proto/events/state_words.hpp"
#include "hpsearch/proto/wire/spell_attempt.hpp"

// Events list their own fields (events.hpp). This header has the words of their enums.

namespace hpsearch::proto {

template <>
struct Words<engine::AllocationEnd> {
  static constexpr engine::AllocationEnd last = engine::AllocationEnd::vanished;
  static std::string_view of(engine::AllocationEnd end) { return engine::name_of(end); }
  static std::optional<engine::AllocationEnd> find(std::string_view word) {
    return engine::allocation_end_named(word);
  }
};

template <>
struct Words<engine::ExitReason> {
  static std::string_view of(engine::ExitReason reason) { return engine::name_of(reason); }
  static std::optional<engine::ExitReason> find(std::string_view word) {
    return engine::exit_reason_named(word);
  }
};

}  // namespace hpsearch::proto
