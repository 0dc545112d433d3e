#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/io/http/http.hpp"

namespace hpsearch::net {

/// A GET whose answer is read as it comes, for command lines. Letting it go closes the connection.
///
/// Threads: one.
class HttpReading {
 public:
  /// Connects, and waits for the head of the answer. `address` and failures are those of http_request().
  [[nodiscard]] static engine::Result<HttpReading> open(const std::string& address, const std::string& target,
                                                        std::chrono::milliseconds timeout,
                                                        const HttpHeaders& headers = {});

  [[nodiscard]] unsigned status() const noexcept;
  [[nodiscard]] const std::string& content_type() const noexcept;

  /// The next bytes of the body, as soon as there are some; "" when none came within `patience`, nothing at
  /// the end of the body. unavailable: the connection broke before that.
  [[nodiscard]] engine::Result<std::optional<std::string>> read(std::chrono::milliseconds patience);

  HttpReading(HttpReading&&) noexcept;
  HttpReading& operator=(HttpReading&&) noexcept;
  ~HttpReading();

 private:
  struct Impl;
  explicit HttpReading(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hpsearch::net
