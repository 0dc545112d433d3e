#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hpsearch::cli {

/// The text with each line that is wider than `width` columns divided at blanks. What follows stands under
/// the second column of a line such as "name        sentence", else two columns further right than the line.
/// A word that is wider stays whole. 0 divides nothing. Colors have no width.
[[nodiscard]] std::string fold(std::string_view text, std::size_t width);

/// The same for a page of help, whose descriptions begin in column 30: where its source divided them says
/// nothing about this terminal.
[[nodiscard]] std::string fold_help(std::string_view page, std::size_t width);

}  // namespace hpsearch::cli
