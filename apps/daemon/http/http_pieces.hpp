#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "daemon/access/fair_queue.hpp"
#include "hpsearch/io/http/http_body.hpp"

namespace hpsearch::daemon {

/// No more than this is made ahead of the reader.
inline constexpr std::size_t most_unsent_in_pieces = std::size_t{1} << 20U;

struct BodyPiece {
  std::string bytes;
  bool is_last = false;
};
/// Null: there is none, and the body is cut off. Must be called once, on the loop.
using TakePiece = std::function<void(std::optional<BodyPiece>)>;

/// Writes a body piece by piece, as fast as its reader reads it. `make` is called on the loop for each piece,
/// and passes it to `take` now or later. It lives until the last piece, or until the reader disconnects.
void send_in_pieces(std::shared_ptr<net::HttpBody> body, std::function<void(TakePiece take)> make);

/// A `make` that waits for the client's turn before each piece.
[[nodiscard]] std::function<void(TakePiece take)> in_turn(FairQueue& queue, const std::string& client,
                                                          std::function<void(TakePiece take)> make);

}  // namespace hpsearch::daemon
