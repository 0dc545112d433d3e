#include "daemon/pages/gzip_text.hpp"

#include <zlib.h>

#include <array>

namespace hpsearch::daemon {

std::string gunzipped(std::string_view bytes, std::size_t most) {
  constexpr int with_gzip_header = 16 + MAX_WBITS;
  z_stream stream{};
  if (inflateInit2(&stream, with_gzip_header) != Z_OK) {
    return "";
  }
  // zlib doesn't write to its input, but its interface isn't const.
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  std::array<char, 16'384> some{};
  int state = Z_OK;
  while (state == Z_OK && text.size() <= most) {
    stream.next_out = reinterpret_cast<Bytef*>(some.data());
    stream.avail_out = static_cast<uInt>(some.size());
    state = inflate(&stream, Z_NO_FLUSH);
    text.append(some.data(), some.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  return state == Z_STREAM_END && text.size() <= most ? text : "";
}

}  // namespace hpsearch::daemon
