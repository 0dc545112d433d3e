#include "daemon/sign_on/person.hpp"

#include <algorithm>

namespace hpsearch::daemon {
namespace {

constexpr std::size_t most_foreign_chars = 100;
constexpr std::size_t most_groups_chars = 500;

}  // namespace

bool is_person_name(std::string_view text) noexcept {
  return !text.empty() && text.size() <= most_person_name_chars &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c > 0x20 && c < 0x7f && c != ':'; });
}

std::string foreign_text(std::string_view text) {
  std::string shown(text.substr(0, most_foreign_chars));
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return shown;
}

std::string no_role_for(const Person& person) {
  std::string groups;
  for (const std::string& group : person.groups) {
    if (groups.size() > most_groups_chars) {
      groups += ", …";
      break;
    }
    groups += (groups.empty() ? "" : ", ") + foreign_text(group);
  }
  return person.name + " has no role here: " +
         (groups.empty() ? "no groups came with the name"
                         : "access.sign_in_file has a role for none of the groups " + groups) +
         ". An administrator of hpsearch can add one";
}

}  // namespace hpsearch::daemon
