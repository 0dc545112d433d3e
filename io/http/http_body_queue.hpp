#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "http/gzip.hpp"

namespace hpsearch::net {

/// The pieces of a body between the one that writes it and the socket: framed, and at most
/// `most_bytes_at_once` of them at a time, so that one turn of the loop and the memory of one connection stay
/// small.
///
/// Fails: never.
class BodyQueue {
 public:
  static constexpr std::size_t most_bytes_at_once = std::size_t{64} * 1024;

  /// `chunked`: in chunks of HTTP/1.1; otherwise the end of the connection is the end of the body. `at_once`:
  /// less than most_bytes_at_once where there may be a thousand of them.
  explicit BodyQueue(bool chunked, std::size_t at_once = most_bytes_at_once)
      : chunked_(chunked), at_once_(at_once) {}
  /// Packs the body on its way. Before the first piece.
  void pack() { gzip_.emplace(); }

  /// Not after end().
  void add(std::shared_ptr<const std::string> piece);
  void end() noexcept { ended_ = true; }
  [[nodiscard]] bool ended() const noexcept { return ended_; }

  /// Bytes of the body that were added and are not sent: also those of next() before sent().
  /// Counted as they were added, also where they are packed.
  [[nodiscard]] std::size_t unsent() const noexcept { return unsent_; }

  /// As HttpBody::held_bytes().
  [[nodiscard]] std::size_t held() const noexcept;

  /// The bytes for the socket now; "" = nothing for the moment, or nothing more. It stays valid until sent().
  [[nodiscard]] const std::string& next();
  void sent();
  /// The end of the body has been sent, too.
  [[nodiscard]] bool finished() const noexcept { return finished_; }

 private:
  [[nodiscard]] std::string take(std::size_t bytes);

  bool chunked_;
  std::size_t at_once_;
  std::optional<Gzip> gzip_;
  std::deque<std::shared_ptr<const std::string>> pieces_;
  std::size_t taken_of_first_ = 0;
  std::size_t unsent_ = 0;
  std::size_t on_the_way_ = 0;  ///< Bytes of the body in `out_`.
  std::string out_;
  bool ended_ = false;
  bool end_on_the_way_ = false;
  bool finished_ = false;
};

}  // namespace hpsearch::net
