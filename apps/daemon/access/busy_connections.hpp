#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace hpsearch::daemon {

/// How many connections each token keeps busy: those with a request that is being answered, or a stream that
/// is being read. Idle ones are limited by their address (net::HttpServer).
///
/// Threads: any. What take() returned is released with the last copy of a reply, and a copy may be on the
///          store's thread or beside the loop.
/// Cost:    O(log tokens).
class BusyConnections {
 public:
  static constexpr std::size_t most_of_a_token = 128;

  /// Counts one more while the returned pointer lives. Null: the token has 128 already.
  [[nodiscard]] std::shared_ptr<const void> take(const std::string& token);
  [[nodiscard]] std::size_t count(const std::string& token) const;

 private:
  struct Counts {
    std::mutex mutex;
    std::map<std::string, std::size_t> of_tokens;
  };
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();  ///< Shared with each pointer that take()
                                                                 ///< returned.
};

}  // namespace hpsearch::daemon
