#include "hpsearch/engine/space/formula.hpp"

#include <limits>

#include "space/leaves.hpp"

namespace hpsearch::engine {

double Formula::number(const Lookup& lookup) const {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> stack;
  stack.reserve(program_.size());
  for (const Instruction& instruction : program_) {
    if (const auto* number = std::get_if<double>(&instruction)) {
      stack.push_back(*number);
    } else if (const auto* read = std::get_if<Read>(&instruction)) {
      stack.push_back(lookup(read->name).number_or(none));
    } else if (const auto* is = std::get_if<Is>(&instruction)) {
      const Value value = lookup(is->name);
      stack.push_back(value == is->value || same_number(value, is->value) ? 1 : 0);
    } else if (const auto* unary = std::get_if<Unary>(&instruction)) {
      stack.back() = (*unary)(stack.back());
    } else {
      const double right = stack.back();
      stack.pop_back();
      stack.back() = std::get<Binary>(instruction)(stack.back(), right);
    }
  }
  return stack.back();
}

}  // namespace hpsearch::engine
