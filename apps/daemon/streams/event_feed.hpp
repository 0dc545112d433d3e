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

/// Sends stored events to subscribers: each event after a position of the log, once and in order, as soon as
/// it is durable.
///
/// A subscriber first reads stored events, in batches and only as fast as its client; then it gets live
/// events. A live event is encoded once for all subscribers with the same selection. Reading the store and
/// encoding happen beside the loop.
///
/// Threads: the loop's; two of its own while there is something to encode. Cost: nothing without subscribers.
class EventFeed {
 public:
  EventFeed(Runtime& runtime, StoredEvents& stored, net::Loop& loop)
      : runtime_(runtime), stored_(stored), old_(loop, 1), live_(loop, 1) {}
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;
  ~EventFeed();

  /// Sends events after `after` until the body is closed, or cuts the body if it is not read.
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
  /// Continues with stored events, as far as the subscriber has room for them.
  void read_on(const std::shared_ptr<Subscriber>& subscriber);
  void begin_reads();
  /// A subscriber's share of a limit: less if there are many.
  [[nodiscard]] std::size_t its_part(std::size_t of_one) const;
  void take_read(const std::shared_ptr<Subscriber>& subscriber, StoredEvents::Group events);
  void take_live(const StoredEvents::Group& group);
  void encode_live();
  /// Sends to some subscribers in each turn of the loop, so that the engine's reports don't wait for all.
  void deliver(const std::shared_ptr<const Batch>& batch, const std::shared_ptr<Subscribers>& to);

  Runtime& runtime_;
  StoredEvents& stored_;
  std::uint64_t listening_ = 0;  ///< Our number as a listener; 0 = not listening.
  Subscribers subscribers_;
  std::deque<std::shared_ptr<Subscriber>> waiting_reads_;
  std::size_t reads_ = 0;  ///< Reads in progress.
  engine::Lsn seen_;       ///< Lsn of the last live event received.
  std::vector<StoredEvents::Group> pending_;
  bool encoding_ = false;  ///< Encoding or delivering.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  net::Background old_;
  net::Background live_;
};

}  // namespace hpsearch::daemon
