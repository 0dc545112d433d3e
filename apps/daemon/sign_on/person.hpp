#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/instant.hpp"

namespace hpsearch::daemon {

/// Somebody whom an OpenID provider or a proxy has signed in.
struct Person {
  std::string name;
  std::vector<std::string> groups{};
  engine::Instant until{};  ///< The session ends then.
};

inline constexpr std::size_t most_person_name_chars = 128;
inline constexpr const char* person_name_rule =
    "1 to 128 printable ASCII characters without spaces and colons";

/// Whether it is spelled by person_name_rule. The colon keeps it apart from "uid:1000".
[[nodiscard]] bool is_person_name(std::string_view text) noexcept;

/// Text of another machine, in a sentence: cut after 100 characters; what is not printable ASCII becomes "?".
[[nodiscard]] std::string foreign_text(std::string_view text);

/// Why a person has no role.
[[nodiscard]] std::string no_role_for(const Person& person);

}  // namespace hpsearch::daemon
