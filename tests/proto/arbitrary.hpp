#pragma once

#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "proto/parts.hpp"

// Structs of parts.hpp with random content, built member by member. Each function runs inside a rapidcheck
// property and draws from it.

namespace hpsearch::test {

template <class Enum>
inline constexpr int last_of = -1;
template <>
inline constexpr int last_of<engine::Directive> = static_cast<int>(engine::Directive::kill);
template <>
inline constexpr int last_of<engine::ExitReport::Cause> =
    static_cast<int>(engine::ExitReport::Cause::checkpoint_gone);
template <>
inline constexpr int last_of<engine::WelcomeWorker::Fate> =
    static_cast<int>(engine::WelcomeWorker::Fate::hold);
template <>
inline constexpr int last_of<engine::Reason::Why> = static_cast<int>(engine::Reason::Why::experiment_end);
template <>
inline constexpr int last_of<engine::ExperimentState> = static_cast<int>(engine::ExperimentState::failed);
template <>
inline constexpr int last_of<engine::TrialState> = static_cast<int>(engine::TrialState::canceled);
template <>
inline constexpr int last_of<engine::ExitReason> = static_cast<int>(engine::ExitReason::invalid_hp);

template <>
inline constexpr int last_of<engine::AllocationEnd> = static_cast<int>(engine::AllocationEnd::vanished);

template <>
inline constexpr int last_of<jobs::PassedAs> = static_cast<int>(jobs::PassedAs::variable);
template <>
inline constexpr int last_of<jobs::LaunchKind> = static_cast<int>(jobs::LaunchKind::determined);
template <>
inline constexpr int last_of<jobs::RankLevel> = static_cast<int>(jobs::RankLevel::process);
template <>
inline constexpr int last_of<engine::BoolStyle> = static_cast<int>(engine::BoolStyle::empty_false);

template <HasParts T>
void fill(T& x);
template <class Enum>
requires std::is_enum_v<Enum>
void fill(Enum& x);
template <class T>
void fill(std::optional<T>& x);
template <class T>
void fill(std::vector<T>& x);
template <class... Alternatives>
void fill(std::variant<Alternatives...>& x);

inline void fill(bool& x) {
  x = *rc::gen::arbitrary<bool>();
}
inline void fill(int& x) {
  x = *rc::gen::arbitrary<int>();
}
inline void fill(std::uint32_t& x) {
  x = *rc::gen::arbitrary<std::uint32_t>();
}
inline void fill(std::uint64_t& x) {
  x = *rc::gen::oneOf(rc::gen::inRange<std::uint64_t>(0, 300), rc::gen::arbitrary<std::uint64_t>(),
                      rc::gen::element(std::numeric_limits<std::uint64_t>::max(), std::uint64_t{1} << 32));
}
inline void fill(double& x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  x = *rc::gen::oneOf(
      rc::gen::arbitrary<double>(),
      rc::gen::element(0.0, -0.0, 64.0, -3.0, infinity, -infinity, std::numeric_limits<double>::quiet_NaN(),
                       5e-324, 1.7976931348623157e308));
}
inline void fill(std::string& x) {
  const auto character = rc::gen::element<std::string>("a", "B", ".", " ", "\"", "\\", "\n",
                                                       std::string(1, '\0'), "é", "漢", "😀", "\x7f");
  x.clear();
  for (const std::string& c : *rc::gen::container<std::vector<std::string>>(character)) {
    x += c;
  }
}
template <class Kind>
void fill(engine::Id<Kind>& x) {
  std::uint64_t number = 0;
  fill(number);
  x = engine::Id<Kind>(number);
}
inline void fill(engine::Units& x) {
  std::uint64_t number = 0;
  fill(number);
  x = engine::Units{number};
}
inline void fill(engine::Duration& x) {  // Durations are written in milliseconds.
  x = engine::Duration::millis(*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 50));
}

inline engine::Value arbitrary_value(int depth) {
  const int kind = *rc::gen::inRange(0, depth == 0 ? 5 : 7);
  const auto small = rc::gen::inRange(0, 4);
  switch (kind) {
    case 0:
      return {};
    case 1:
      return *rc::gen::arbitrary<bool>();
    case 2:
      return *rc::gen::oneOf(rc::gen::arbitrary<std::int64_t>(),
                             rc::gen::element(std::numeric_limits<std::int64_t>::min(),
                                              std::numeric_limits<std::int64_t>::max(), std::int64_t{64}));
    case 3: {
      double real = 0;
      fill(real);
      return real;
    }
    case 4: {
      std::string text;
      fill(text);
      return text;
    }
    case 5: {
      engine::Value::List items;
      for (int i = *small; i > 0; --i) {
        items.push_back(arbitrary_value(depth - 1));
      }
      return items;
    }
    default: {
      engine::Value::Map members;
      for (int i = *small; i > 0; --i) {
        std::string name;
        fill(name);
        members[name] = arbitrary_value(depth - 1);
      }
      return members;
    }
  }
}
inline void fill(engine::Value& x) {
  x = arbitrary_value(3);
}

inline void fill(engine::Metrics& x) {
  std::map<std::string, double> metrics;
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    std::string name;
    fill(name);
    fill(metrics[name]);
  }
  x.assign(metrics.begin(), metrics.end());
}
inline void fill(std::map<std::string, std::string>& x) {
  x.clear();
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    std::string name;
    fill(name);
    fill(x[name]);
  }
}

template <class Enum>
requires std::is_enum_v<Enum>
void fill(Enum& x) {
  static_assert(last_of<Enum> > 0, "say above which enumerator is the last");
  x = static_cast<Enum>(*rc::gen::inRange(0, last_of<Enum> + 1));
}

template <class T>
void fill(std::optional<T>& x) {
  x.reset();
  if (*rc::gen::arbitrary<bool>()) {
    fill(x.emplace());
  }
}
template <class T>
void fill(std::vector<T>& x) {
  x.resize(*rc::gen::inRange<std::size_t>(0, 4));
  for (T& item : x) {
    fill(item);
  }
}
template <class... Alternatives>
void fill(std::variant<Alternatives...>& x) {
  const std::size_t wanted = *rc::gen::inRange<std::size_t>(0, sizeof...(Alternatives));
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    ((i == wanted ? fill(x.template emplace<i>()) : void()), ...);
  }
  (std::index_sequence_for<Alternatives...>());
}

template <HasParts T>
void fill(T& x) {
  std::apply([](auto&... members) { (fill(members), ...); }, parts(x));
}

template <class T>
T arbitrary() {
  T x{};
  fill(x);
  return x;
}

}  // namespace hpsearch::test
