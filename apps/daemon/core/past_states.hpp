#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "daemon/core/runtime.hpp"
#include "hpsearch/engine/engine.hpp"
#include "hpsearch/io/net/background.hpp"

namespace hpsearch::daemon {

/// The engine as it was after some event of the log. A copy of the engine replays the log up to that event,
/// beside the loop, in pieces that the store reads between its commits. The last copy is kept for a minute,
/// and a later event continues from it.
///
/// Threads: call it on the loop's.
/// Cost:    that of a start of the daemon up to that event; as much memory as the engine had then.
class PastStates {
 public:
  /// Computes the answer from that engine; runs beside the loop, while no other task uses that engine.
  using Look = std::function<std::string(const engine::Engine& then, engine::Instant at)>;
  using Answer = std::function<void(const engine::Result<std::string>&)>;

  /// Both must outlive it.
  PastStates(Runtime& runtime, net::Background* background) : runtime_(runtime), background_(background) {}
  PastStates(const PastStates&) = delete;
  PastStates& operator=(const PastStates&) = delete;

  /// `lsn` must be that of a durable event. Calls run one after the other; unavailable: 32 others wait.
  void look(engine::Lsn lsn, Look look, Answer answer);

 private:
  struct Wanted {
    engine::Lsn lsn;
    Look look;
    Answer answer;
  };
  /// A copy of the engine and the event that it has reached.
  struct Replica {
    explicit Replica(engine::SearcherRegistry registry) : engine(registry) {}
    engine::Engine engine;
    engine::Instant at;
    std::optional<engine::Error> problem;
  };

  void go_on();
  void read_on(engine::Lsn from, engine::Lsn to);
  void finish(const engine::Result<std::string>& answer);

  Runtime& runtime_;
  net::Background* background_;
  std::deque<Wanted> waiting_;
  std::shared_ptr<Replica> replica_;
  net::Watch forget_;
  bool busy_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // Posted work may outlive this object.
};

}  // namespace hpsearch::daemon
