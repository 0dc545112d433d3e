#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "hpsearch/net/http_body.hpp"

namespace hpsearch::daemon {

struct BodyPiece {
  std::string bytes;
  bool is_last = false;
};
/// Nothing: there is none, and the body is cut. To be called once, on the loop.
using TakePiece = std::function<void(std::optional<BodyPiece>)>;

/// Writes a body piece by piece, as fast as its reader takes it. `make` is called on the loop for each piece,
/// and hands it over now or later. It lives until the last piece, or until the reader leaves.
void send_in_pieces(std::shared_ptr<net::HttpBody> body, std::function<void(TakePiece take)> make);

}  // namespace hpsearch::daemon
