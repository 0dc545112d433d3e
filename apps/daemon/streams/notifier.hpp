#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/core/runtime.hpp"
#include "daemon/notifications/receivers.hpp"
#include "daemon/streams/stored_events.hpp"
#include "hpsearch/io/net/background.hpp"
#include "hpsearch/proto/encoding/spell.hpp"

namespace hpsearch::daemon {

/// How far a receiver was notified: its file.
struct ReceiverProgress {
  engine::Lsn lsn;                        ///< Events up to this one are done.
  std::map<std::string, double> bests{};  ///< The best metric that the receiver knows, by experiment.
};

void spell(auto& fields, proto::Is<ReceiverProgress> auto& progress) {
  fields("lsn", progress.lsn);
  fields.maybe("bests", progress.bests);
}

/// Notifies receivers of stored events, and of new best results, Receivers::new_best_every: each at least
/// once and one after the other, also if the daemon or the receiver was away meanwhile.
///
/// How far a receiver was notified lies in a file of its name. What it missed is read from the log again, so
/// nothing that waits costs memory. A delivery that fails is tried again after 5 s, then after twice the
/// time, up to an hour; after a day it is given up, which is logged. A receiver that is new is notified from
/// its first start on.
///
/// Threads: the loop's; deliveries run beside it. Cost: nothing for events that are worth no notification.
class Notifier {
 public:
  /// `directory` exists. Runtime and loop must outlive this.
  Notifier(Runtime& runtime, net::Loop& loop, Receivers receivers, std::string directory);
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;
  ~Notifier();

  /// Begins; the runtime has recovered.
  void start();

  /// Notifies no more, and calls `done` when deliveries on their way have ended and their progress is stored:
  /// another Notifier goes on from there. Called once.
  void retire(std::function<void()> done);

 private:
  struct Route;

  void load(Route& route);
  /// Writes how far the receiver was notified, beside the loop.
  void save(const Route& route);
  void see(const StoredEvents::Group& group);
  /// Looks for better results than those that receivers know.
  void see_bests();
  void see_bests_of(Route& route);
  /// Delivers what waits, or reads what the log has for the receiver.
  void go_on(const std::shared_ptr<Route>& route);
  void take(const std::shared_ptr<Route>& route, const std::vector<engine::Event>& events);
  void deliver_first(const std::shared_ptr<Route>& route);
  /// Goes on after the route's pause, which is twice as long the next time.
  void pause(const std::shared_ptr<Route>& route);
  /// Calls what retire() was given, if nothing is on its way.
  void end_if_idle();
  void take_answer(const std::shared_ptr<Route>& route, const engine::Status& delivered);

  Runtime& runtime_;
  net::Loop& loop_;
  Receivers receivers_;
  std::string directory_;
  std::uint64_t listening_ = 0;  ///< Its number as a listener; 0 = it has not started.
  engine::Lsn seen_;             ///< The last event that is stored.
  std::vector<std::shared_ptr<Route>> routes_;
  std::size_t delivering_ = 0;  ///< Deliveries on their way.
  bool is_retired_ = false;
  std::function<void()> on_retired_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  net::Watch bests_clock_;
  net::Background files_;  ///< One at a time: a receiver's file is written in order.
  net::Background senders_;
};

}  // namespace hpsearch::daemon
