#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace hpsearch::net {

/// Packs a text piece by piece (RFC 1952, zlib's level 6). What has come so far can be unpacked after each
/// piece. Memory: 268 kB.
class Gzip {
 public:
  Gzip();
  Gzip(Gzip&&) noexcept;
  Gzip& operator=(Gzip&&) noexcept;
  ~Gzip();

  /// The next part of the packed text. 64 KiB take about 2 ms.
  [[nodiscard]] std::string pack(std::string_view piece);
  /// The end of the packed text; once.
  [[nodiscard]] std::string end();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hpsearch::net
