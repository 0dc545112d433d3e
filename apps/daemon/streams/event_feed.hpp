#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/core/runtime.hpp"
#include "daemon/streams/event_selection.hpp"
#include "daemon/streams/stored_events.hpp"
#include "hpsearch/io/http/http_body.hpp"
#include "hpsearch/io/net/background.hpp"

namespace hpsearch::daemon {

/// Sends stored events to subscribers: each one behind a position of the log, once and in order, as soon as
/// it is durable.
///
/// A subscriber first reads what is stored, in batches and only as fast as it takes them; then it gets what
/// is committed. A live event is encoded once for all subscribers with the same selection. Reading the store
/// and encoding happen beside the loop.
///
/// Threads: the loop's; two of its own while there is something to encode. Cost: nothing without subscribers.
class EventFeed {
 public:
  EventFeed(Runtime& runtime, StoredEvents& stored, net::Loop& loop)
      : runtime_(runtime), stored_(stored), old_(loop, 1), live_(loop, 1) {}
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;
  ~EventFeed();

  /// Sends events behind `after` until the body is closed, or cuts it if it is not read.
  void follow(std::shared_ptr<net::HttpBody> body, const EventSelection& selection, engine::Lsn after);
  [[nodiscard]] std::size_t subscribers() const noexcept { return subscribers_.size(); }

 private:
  struct Subscriber;
  struct Text;
  struct Batch;
  using Selection = std::shared_ptr<const EventSelection>;
  using Subscribers = std::vector<std::shared_ptr<Subscriber>>;

  static std::shared_ptr<const Batch> encode(const std::vector<StoredEvents::Group>& groups,
                                             const std::vector<Selection>& selections);
  static void send(Subscriber& subscriber, const Batch& batch, const Text& text);

  [[nodiscard]] Selection shared(const EventSelection& selection) const;
  void remove_closed();
  /// Goes on with what is stored, as far as the subscriber has room for it.
  void read_on(const std::shared_ptr<Subscriber>& subscriber);
  void begin_reads();
  /// Of what one subscriber may have: less where there are many.
  [[nodiscard]] std::size_t its_part(std::size_t of_one) const;
  void take_read(const std::shared_ptr<Subscriber>& subscriber, StoredEvents::Group events);
  void take_live(const StoredEvents::Group& group);
  void encode_live();
  /// To some subscribers in each turn of the loop: the engine's reports are not to wait for all.
  void deliver(const std::shared_ptr<const Batch>& batch, const std::shared_ptr<Subscribers>& to);

  Runtime& runtime_;
  StoredEvents& stored_;
  std::uint64_t listening_ = 0;  ///< Our number there; 0 = not.
  Subscribers subscribers_;
  std::deque<std::shared_ptr<Subscriber>> waiting_reads_;
  std::size_t reads_ = 0;  ///< Under way.
  engine::Lsn seen_;       ///< Of the last live event that was told of.
  std::vector<StoredEvents::Group> pending_;
  bool encoding_ = false;  ///< Or delivering.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  net::Background old_;
  net::Background live_;
};

}  // namespace hpsearch::daemon
