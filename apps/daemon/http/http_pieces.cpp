#include "daemon/http/http_pieces.hpp"

#include <utility>

namespace hpsearch::daemon {
namespace {

/// Owned by what it has posted, and by the connection until its end.
class Pieces : public std::enable_shared_from_this<Pieces> {
 public:
  Pieces(std::shared_ptr<net::HttpBody> body, std::function<void(TakePiece)> make)
      : body_(std::move(body)), make_(std::move(make)) {}

  void begin() {
    body_->on_drained([weak = weak_from_this()] {
      if (const auto self = weak.lock(); self != nullptr && std::exchange(self->waits_, false)) {
        self->go_on();
      }
    });
    body_->on_closed([self = shared_from_this()] { self->body_.reset(); });
    go_on();
  }

 private:
  [[nodiscard]] bool is_read() const { return body_ != nullptr && body_->is_open(); }

  void go_on() {
    if (is_read()) {
      make_([self = shared_from_this()](std::optional<BodyPiece> piece) { self->take(std::move(piece)); });
    }
  }

  void take(std::optional<BodyPiece> piece) {
    if (!is_read()) {
      return;
    }
    if (!piece) {
      std::exchange(body_, nullptr)->cut();
      return;
    }
    body_->write(std::move(piece->bytes));
    if (piece->is_last) {
      std::exchange(body_, nullptr)->end();
    } else if (body_->unsent() > most_unsent_in_pieces) {
      waits_ = true;
    } else {
      go_on();
    }
  }

  std::shared_ptr<net::HttpBody> body_;
  std::function<void(TakePiece)> make_;
  bool waits_ = false;
};

}  // namespace

void send_in_pieces(std::shared_ptr<net::HttpBody> body, std::function<void(TakePiece take)> make) {
  std::make_shared<Pieces>(std::move(body), std::move(make))->begin();
}

std::function<void(TakePiece take)> in_turn(FairQueue& queue, const std::string& client,
                                            std::function<void(TakePiece take)> make) {
  return [&queue, client,
          make = std::make_shared<std::function<void(TakePiece)>>(std::move(make))](const TakePiece& take) {
    queue.add_part(client, [&queue, client, make, take] {
      (*make)([&queue, client, take](std::optional<BodyPiece> piece) {
        queue.done(client);
        take(std::move(piece));
      });
    });
  };
}

}  // namespace hpsearch::daemon
