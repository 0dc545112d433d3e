#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace hpsearch::searchers::model {

/// Memory that begins at a multiple of 64 bytes. Vectorised loops take their first elements one by one until
/// they stand on a whole vector, and round those differently; where memory happened to lie must decide
/// nothing.
template <class T>
struct Aligned {
  using value_type = T;
  Aligned() = default;
  template <class U>
  explicit Aligned(const Aligned<U>& /*other*/) noexcept {}
  static constexpr std::align_val_t alignment{64};
  [[nodiscard]] T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), alignment));
  }
  void deallocate(T* memory, std::size_t /*count*/) noexcept { ::operator delete(memory, alignment); }
  friend bool operator==(const Aligned& /*a*/, const Aligned& /*b*/) noexcept { return true; }
};

using Numbers = std::vector<double, Aligned<double>>;

}  // namespace hpsearch::searchers::model
