#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::daemon {

/// One request that changed something, was refused, or was a sign-in.
struct AuditEntry {
  std::int64_t at = 0;  ///< Microseconds since the epoch.
  std::string request;  ///< X-Request-Id of the answer.
  std::string channel;  ///< "socket", "tcp" or "tls".
  std::string from;     ///< "uid 1000" or an IP address.
  std::string name;     ///< "token ci", "uid 0", or "" for an anonymous caller.
  std::string token;    ///< The token's id, or "".
  std::string role;
  std::string workspace{};  ///< Workspace of the changed object; "" = it is in none, or the request was
                            ///< refused early.
  std::string resource{};   ///< The object that was changed or made: "experiments/3".
  std::string method;
  std::string path;
  unsigned status = 0;
  std::uint64_t count = 0;  ///< The number of refused requests in one minute that this line stands for; 0 =
                            ///< one request.
};

/// Texts from clients are cut to this many bytes.
inline constexpr std::size_t most_audit_text = 256;
[[nodiscard]] AuditEntry cut_to_size(AuditEntry entry);

/// A place in the chain of lines: each line contains the SHA-256 of the line before it.
struct AuditLink {
  std::uint64_t number = 0;  ///< Number of the last line; lines count from 1.
  std::string hash;          ///< Hash of that line without its end of line; "" = there is no line yet.
};

/// The entry as the line that follows `before`, without an end of line; `before` becomes its link.
[[nodiscard]] std::string audit_line(const AuditEntry& entry, AuditLink& before);

/// Reads a line. corrupt: it is not a line of an audit log.
[[nodiscard]] engine::Result<engine::Value> read_audit_line(std::string_view line);

/// Checks that the line follows `before`, and makes it the new `before`. corrupt: with the reason. If
/// `before` has no hash, any line follows it.
[[nodiscard]] engine::Status follow_audit_line(std::string_view line, AuditLink& before);

}  // namespace hpsearch::daemon
