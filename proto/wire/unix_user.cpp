#include "hpsearch/proto/wire/unix_user.hpp"

#include <algorithm>

namespace hpsearch::proto {

engine::Result<UnixUser> UnixUser::read(std::string_view text) {
  const bool fits = !text.empty() && text.size() <= most_bytes && text.front() != '-';
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c <= '~' && c != ':' && c != '/' && c != ',';
  });
  const bool number = text.find_first_not_of("0123456789") == std::string_view::npos;
  if (!fits || !plain || number) {
    return engine::Error{engine::Errc::bad_request, "\"" + std::string(text.substr(0, most_bytes)) +
                                                        "\" is no name of a Unix user; it must be " +
                                                        std::string(allowed)};
  }
  return UnixUser(std::string(text));
}

}  // namespace hpsearch::proto
