#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hpsearch::yaml {

/// A mistake that people make in YAML, as far as its text shows it.
struct UsualMistake {
  std::size_t line = 0;  ///< Where the mistake is, from 1; a parser often stops behind it.
  std::string what;      ///< "there is no colon after \"searcher\""
  std::string cure;      ///< "searcher:"
};

/// The mistake because of which a parser stopped at this line. Null: none of those that are known.
[[nodiscard]] std::optional<UsualMistake> usual_mistake(std::string_view text, std::size_t line);

}  // namespace hpsearch::yaml
