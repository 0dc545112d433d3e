#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::daemon {

/// One request that changed something, was refused, or signed somebody in.
struct AuditEntry {
  std::int64_t at = 0;  ///< Microseconds since the epoch.
  std::string request;  ///< X-Request-Id of the answer.
  std::string channel;  ///< "socket", "tcp" or "tls".
  std::string from;     ///< "uid 1000" or an IP address.
  std::string name;     ///< "token ci", "uid 0", or "" for nobody.
  std::string token;    ///< Its id, or "".
  std::string role;
  std::string workspace{};  ///< Of what was changed; "" = it is in none, or the request was refused early.
  std::string resource{};   ///< What was changed or made: "experiments/3".
  std::string method;
  std::string path;
  unsigned status = 0;
  std::uint64_t count = 0;  ///< How many refused requests it stands for, in one minute; 0 = one request.
};

/// With texts that a client chose cut to most_audit_text bytes.
inline constexpr std::size_t most_audit_text = 256;
[[nodiscard]] AuditEntry cut_to_size(AuditEntry entry);

/// A place in the chain of lines: each line has the SHA-256 of the one before.
struct AuditLink {
  std::uint64_t number = 0;  ///< Of the last line; they count from 1.
  std::string hash;          ///< Of that line, without its end of line; "" = there is none yet.
};

/// The entry as the line that follows `before`, without an end of line; `before` becomes its link.
[[nodiscard]] std::string audit_line(const AuditEntry& entry, AuditLink& before);

/// Reads a line. corrupt: it is none.
[[nodiscard]] engine::Result<engine::Value> read_audit_line(std::string_view line);

/// Whether the line follows `before`, which becomes its link. corrupt: what is wrong. A `before` without a
/// hash is followed by any line.
[[nodiscard]] engine::Status follow_audit_line(std::string_view line, AuditLink& before);

}  // namespace hpsearch::daemon
