#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/verbs/failure.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/io/http/http_reading.hpp"

namespace hpsearch::cli {

/// An HTTP client of one hpsearchd. It keeps no connection, so a restart of the daemon is not noticed.
class Client {
 public:
  /// `token`: the token that the server requires; "" = none.
  explicit Client(std::string address, std::string token = "")
      : address_(std::move(address)), token_(std::move(token)) {}

  [[nodiscard]] const std::string& address() const noexcept { return address_; }

  /// The answer's JSON. Failures have the daemon's message, or say that no daemon answered
  /// (Exit::unreachable).
  [[nodiscard]] Outcome<engine::Value> get(const std::string& target) const;
  /// All pages of a list, {NAME: entries}. The daemon numbers the entries; `target` must have no query.
  [[nodiscard]] Outcome<engine::Value> get_list(const std::string& target, const std::string& name) const;
  /// At most `limit` of the answer's bytes, from `offset` on; "" if it ends before.
  [[nodiscard]] Outcome<std::string> get_bytes(const std::string& target, std::uint64_t offset,
                                               std::uint64_t limit) const;
  /// Calls `take` with the answer's bytes as they come, until it fails. Memory: one piece.
  [[nodiscard]] Outcome<engine::Done> read_bytes(
      const std::string& target, const std::function<Outcome<engine::Done>(std::string_view)>& take) const;
  /// Opens a text/event-stream. `last_id`: the message after which it begins; "" = as the target says.
  [[nodiscard]] Outcome<net::HttpReading> stream(const std::string& target, const std::string& last_id) const;
  [[nodiscard]] Outcome<engine::Value> post(const std::string& target, const engine::Value& body,
                                            const std::string& idempotency_key = "") const;
  [[nodiscard]] Outcome<engine::Value> put(const std::string& target, const engine::Value& body) const;
  [[nodiscard]] Outcome<engine::Value> patch(const std::string& target, const engine::Value& body) const;
  [[nodiscard]] Outcome<engine::Value> remove(const std::string& target) const;

  /// Whether the target exists.
  [[nodiscard]] Outcome<bool> has(const std::string& target) const;
  /// Uploads a tar archive; the larger it is, the longer the timeout.
  [[nodiscard]] Outcome<engine::Done> put_archive(const std::string& target, const std::string& bytes) const;

  void set_timeout(std::chrono::milliseconds timeout) noexcept { timeout_ = timeout; }

 private:
  [[nodiscard]] Outcome<engine::Value> ask(const std::string& method, const std::string& target,
                                           const std::string& body, const std::string& idempotency_key) const;
  [[nodiscard]] Failure failure_of(const engine::Error& error) const;
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> headers() const;

  std::string address_;
  std::string token_;
  std::chrono::milliseconds timeout_ = std::chrono::seconds(10);
};

/// "/api/v1/experiments/3" followed by `rest`.
[[nodiscard]] std::string experiment_target(std::uint64_t experiment, const std::string& rest = "");

[[nodiscard]] std::string token_target(const std::string& id);

/// Whether it has the form unix:///PATH, HOST:PORT, https://HOST:PORT or https://HOST:PORT#FINGERPRINT.
[[nodiscard]] bool is_server_address(const std::string& text);
/// 64 digits of lower-case hexadecimal.
[[nodiscard]] bool is_fingerprint(std::string_view text);

/// Reads an HTTP answer. Separate from Client so that it can be tested without a daemon.
[[nodiscard]] Outcome<engine::Value> read_answer(unsigned status, const std::string& body,
                                                 const std::string& address);

}  // namespace hpsearch::cli
