#pragma once

#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/value.hpp"
#include "proto/parts.hpp"

// Equality member by member. NaN equals NaN, and 0.0 differs from -0.0.

namespace hpsearch::test {

template <class T>
bool same(const T& a, const T& b);

bool same(const double& a, const double& b);
bool same(const engine::Value& a, const engine::Value& b);
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b);
template <class A, class B>
bool same(const std::pair<A, B>& a, const std::pair<A, B>& b);
template <class T>
bool same(const std::optional<T>& a, const std::optional<T>& b);
template <class... Alternatives>
bool same(const std::variant<Alternatives...>& a, const std::variant<Alternatives...>& b);

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!same(a[i], b[i])) {
      return false;
    }
  }
  return true;
}

template <class A, class B>
bool same(const std::pair<A, B>& a, const std::pair<A, B>& b) {
  return same(a.first, b.first) && same(a.second, b.second);
}

template <class T>
bool same(const std::optional<T>& a, const std::optional<T>& b) {
  return a.has_value() == b.has_value() && (!a || same(*a, *b));
}

template <class... Alternatives>
bool same(const std::variant<Alternatives...>& a, const std::variant<Alternatives...>& b) {
  return a.index() == b.index() && std::visit(
                                       [&b](const auto& held) {
                                         using Held = std::remove_cvref_t<decltype(held)>;
                                         return same(held, std::get<Held>(b));
                                       },
                                       a);
}

template <class T>
bool same(const T& a, const T& b) {
  if constexpr (HasParts<const T>) {
    const auto pairwise = [](const auto& left, const auto& right) {
      return [&]<std::size_t... i>(std::index_sequence<i...>) {
        return (same(std::get<i>(left), std::get<i>(right)) && ...);
      }
      (std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<decltype(left)>>>());
    };
    return pairwise(parts(a), parts(b));
  } else {
    return a == b;
  }
}

inline bool same(const double& a, const double& b) {
  const bool both_nan = a != a && b != b;
  return both_nan || (a == b && std::signbit(a) == std::signbit(b));
}

inline bool same(const engine::Value& a, const engine::Value& b) {
  if (const auto* x = a.as_real()) {
    const auto* y = b.as_real();
    return y != nullptr && same(*x, *y);
  }
  if (const auto* x = a.as_list()) {
    const auto* y = b.as_list();
    return y != nullptr && same(*x, *y);
  }
  if (const auto* x = a.as_map()) {
    const auto* y = b.as_map();
    return y != nullptr && same(std::vector(x->begin(), x->end()), std::vector(y->begin(), y->end()));
  }
  return a == b;
}

}  // namespace hpsearch::test
