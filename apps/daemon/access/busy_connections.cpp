#include "daemon/access/busy_connections.hpp"

#include <utility>

namespace hpsearch::daemon {
namespace {

/// A body with something that lives as long.
class HeldBody : public net::HttpBody {
 public:
  HeldBody(std::shared_ptr<net::HttpBody> body, std::shared_ptr<const void> held)
      : body_(std::move(body)), held_(std::move(held)) {}

  using net::HttpBody::write;
  void write(std::shared_ptr<const std::string> piece) override { body_->write(std::move(piece)); }
  [[nodiscard]] std::size_t unsent() const noexcept override { return body_->unsent(); }
  [[nodiscard]] std::size_t held_bytes() const noexcept override { return body_->held_bytes(); }
  void on_drained(std::function<void()> task) override { body_->on_drained(std::move(task)); }
  void on_closed(std::function<void()> task) override { body_->on_closed(std::move(task)); }
  void end() override { body_->end(); }
  void cut() override { body_->cut(); }
  [[nodiscard]] bool is_open() const noexcept override { return body_->is_open(); }

 private:
  std::shared_ptr<net::HttpBody> body_;
  std::shared_ptr<const void> held_;
};

}  // namespace

std::shared_ptr<const void> BusyConnections::take(const std::string& token) {
  std::size_t& count = (*counts_)[token];
  if (count == most_of_a_token) {
    return nullptr;
  }
  ++count;
  return {static_cast<const void*>(this), [counts = counts_, token](const void*) {
            if (const auto found = counts->find(token); --found->second == 0) {
              counts->erase(found);
            }
          }};
}

std::size_t BusyConnections::count(const std::string& token) const {
  const auto found = counts_->find(token);
  return found == counts_->end() ? 0 : found->second;
}

void hold_while_it_is_sent(std::shared_ptr<const void> busy, net::HttpResponse& response) {
  if (!response.stream) {
    return;
  }
  response.stream = [busy = std::move(busy),
                     begin = std::move(response.stream)](std::shared_ptr<net::HttpBody> body) {
    begin(std::make_shared<HeldBody>(std::move(body), busy));
  };
}

}  // namespace hpsearch::daemon
