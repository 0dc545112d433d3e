#pragma once

#include <string_view>

namespace hpsearch::trees {

/// False, with errno set, when not everything could be written.
bool write_all(int file, std::string_view bytes);

}  // namespace hpsearch::trees
