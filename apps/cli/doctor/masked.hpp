#pragma once

#include <string>

namespace hpsearch::cli {

/// The text with "<masked>" in the place of what may be a secret: tokens and invites of hpsearch, values
/// behind names like password or secret_key, passwords in addresses, headers with credentials, and private
/// keys.
[[nodiscard]] std::string masked(std::string text);

}  // namespace hpsearch::cli
