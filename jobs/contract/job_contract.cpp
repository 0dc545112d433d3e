#include "hpsearch/jobs/contract/job_contract.hpp"

#include <algorithm>
#include <cstddef>

#include "fields/sections.hpp"

namespace hpsearch::jobs {

namespace {

bool is_letter_or_digit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

std::string_view name_of(PassedAs passed) noexcept {
  return passed_as_names[static_cast<std::size_t>(passed)];
}

std::optional<PassedAs> passed_as_named(std::string_view name) noexcept {
  const auto found = std::find(passed_as_names.begin(), passed_as_names.end(), name);
  if (found == passed_as_names.end()) {
    return std::nullopt;
  }
  return static_cast<PassedAs>(found - passed_as_names.begin());
}

std::string variable_part(std::string_view name) {
  std::string part;
  for (const char c : name) {
    if ((static_cast<unsigned char>(c) & 0xC0U) == 0x80U) {
      continue;  // A later byte of a character that has its _ already.
    }
    const bool small = c >= 'a' && c <= 'z';
    part.push_back(small ? static_cast<char>(c - 'a' + 'A') : is_letter_or_digit(c) ? c : '_');
  }
  return part;
}

bool is_pai_name(std::string_view name) noexcept {
  constexpr std::size_t longest = 64;
  return !name.empty() && name.size() <= longest && name.front() != '_' &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '_' || c == '-' || c == '.'; });
}

bool is_pai_value(const Value& value) noexcept {
  return value.is_number() || value.as_bool() != nullptr || value.as_text() != nullptr;
}

bool is_shell_safe(std::string_view text) noexcept {
  constexpr std::string_view harmless = "@%+=:,./_-";
  return !text.empty() && std::all_of(text.begin(), text.end(), [harmless](char c) {
    return is_letter_or_digit(c) || harmless.find(c) != std::string_view::npos;
  });
}

}  // namespace hpsearch::jobs
