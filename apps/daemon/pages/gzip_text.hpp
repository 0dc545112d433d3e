#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hpsearch::daemon {

/// The content of a gzip file embedded in this program; "" if it is damaged or longer than `most`.
[[nodiscard]] std::string gunzipped(std::string_view bytes, std::size_t most = std::size_t{16} << 20U);

}  // namespace hpsearch::daemon
