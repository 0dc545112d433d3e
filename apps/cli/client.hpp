#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/failure.hpp"
#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::cli {

/// Speaks to one hpsearchd over HTTP. No connection is kept: a daemon that restarts is noticed by nobody.
class Client {
 public:
  explicit Client(std::string address) : address_(std::move(address)) {}

  [[nodiscard]] const std::string& address() const noexcept { return address_; }

  /// The answer's JSON. Failures carry what the daemon said, or that none answered (Exit::unreachable).
  [[nodiscard]] Outcome<engine::Value> get(const std::string& target) const;
  [[nodiscard]] Outcome<engine::Value> post(const std::string& target, const engine::Value& body,
                                            const std::string& idempotency_key = "") const;
  [[nodiscard]] Outcome<engine::Value> patch(const std::string& target, const engine::Value& body) const;

  /// Whether something is there.
  [[nodiscard]] Outcome<bool> has(const std::string& target) const;
  /// Puts a tar archive there; waits longer the larger it is.
  [[nodiscard]] Outcome<engine::Done> put_archive(const std::string& target, const std::string& bytes) const;

  void set_timeout(std::chrono::milliseconds timeout) noexcept { timeout_ = timeout; }

 private:
  [[nodiscard]] Outcome<engine::Value> ask(const std::string& method, const std::string& target,
                                           const std::string& body, const std::string& idempotency_key) const;
  [[nodiscard]] Failure failure_of(const engine::Error& error) const;

  std::string address_;
  std::chrono::milliseconds timeout_ = std::chrono::seconds(10);
};

/// "/api/v1/experiments/3" with `rest` behind it.
[[nodiscard]] std::string experiment_target(std::uint64_t experiment, const std::string& rest = "");

/// What an HTTP answer means to us. Apart from Client so that it can be tested without a daemon.
[[nodiscard]] Outcome<engine::Value> read_answer(unsigned status, const std::string& body,
                                                 const std::string& address);

}  // namespace hpsearch::cli
