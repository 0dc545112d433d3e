#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "hpsearch/net/http.hpp"

namespace hpsearch::daemon {

/// How many connections each token keeps busy: those with a request that is being answered, or a stream that
/// is being read. Idle ones are limited by their address (net::HttpServer).
///
/// Threads: the loop's. Cost: O(log tokens).
class BusyConnections {
 public:
  static constexpr std::size_t most_of_a_token = 128;

  /// One more, while what is returned lives. Null: the token has 128 already.
  [[nodiscard]] std::shared_ptr<const void> take(const std::string& token);
  [[nodiscard]] std::size_t count(const std::string& token) const;

 private:
  using Counts = std::map<std::string, std::size_t>;
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();  ///< By token. With each that is out.
};

/// Ties `busy` to the answer: to its stream, if it is one, until that ends.
void hold_while_it_is_sent(std::shared_ptr<const void> busy, net::HttpResponse& response);

}  // namespace hpsearch::daemon
