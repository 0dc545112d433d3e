#include "hpsearch/engine/space/formula.hpp"

#include <algorithm>
#include <limits>

#include "space/leaves.hpp"

namespace hpsearch::engine {
namespace {

/// A list also has the value of each of its members: labels = good.
bool has(const Value& value, const Value& asked) {
  const Value::List* list = value.as_list();
  return value == asked || same_number(value, asked) ||
         (list != nullptr && std::find(list->begin(), list->end(), asked) != list->end());
}

}  // namespace

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
      stack.push_back(has(lookup(is->name), is->value) ? 1 : 0);
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
