#pragma once

#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::daemon {

/// The address of a database, as libpq reads it:
/// postgresql://[USER@]HOST[:PORT][,…]/DATABASE[?OPTION=VALUE…].
///
/// It has no secret, so it can be shown. Passwords come from libpq's password file (~/.pgpass, PGPASSFILE),
/// its service file or the variable PGPASSWORD.
class DatabaseUrl {
 public:
  /// Whether a text is meant as such an address.
  [[nodiscard]] static bool is_meant(std::string_view text) noexcept;

  /// bad_request: it has a password, which the message doesn't repeat, or libpq cannot read it; unavailable:
  /// there is no libpq.
  [[nodiscard]] static engine::Result<DatabaseUrl> read(const std::string& text);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  explicit DatabaseUrl(std::string text) : text_(std::move(text)) {}

  std::string text_;
};

/// The problem of an address that has a password; "" if it has none. Needs no libpq, and
/// finds no password whose option has an encoded name, which read() finds.
[[nodiscard]] std::string password_problem(std::string_view url);

}  // namespace hpsearch::daemon
