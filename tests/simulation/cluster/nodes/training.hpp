#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "hpsearch/engine/base/draw.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "simulation/cluster/faults/faults.hpp"
#include "simulation/cluster/faults/flaws.hpp"
#include "simulation/cluster/nodes/virtual_time.hpp"

namespace hpsearch::simulation {

/// A pretended training: trains step by step, reports, saves, obeys, and behaves as badly as its nature
/// wants.
class Training {
 public:
  /// What it does to the world around it.
  struct Surroundings {
    std::function<void(bool by_socket, const std::string& line, std::optional<engine::Units> step)> say;
    std::function<void(engine::Units step, double score)> measured;  ///< Before it is said: for the ledger.
    std::function<void()> reported_invalid;
    std::function<void()> kill_shim;  ///< And with it itself.
    std::function<bool()>
        peer_is_gone;  ///< Of its attempt's processes on other workers one has ended, and not well.
    /// It has ended by itself or by a signal; children of it may live on for `children`.
    std::function<void(bool by_signal, int code, engine::Duration children)> ended;
  };

  Training(VirtualTime& time, Faults& faults, const jobs::LaunchSpec& spec, std::uint64_t seed,
           Surroundings world);
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;
  ~Training() { state_->alive = false; }

  void start();
  void fail_at_once();                     ///< Instead: what it needs is not there.
  void on_event(const std::string& line);  ///< An answer on its socket.
  void terminate();                        ///< SIGTERM
  void kill();                             ///< SIGKILL
  [[nodiscard]] bool alive() const noexcept { return state_->alive; }

 private:
  struct State {
    bool alive = true;
    bool waits = false;  ///< For an answer.
    bool saving = false;
    bool stuck = false;  ///< In the kernel, where no signal reaches it: it does nothing any more.
    std::uint64_t hung_until = 0;
  };
  enum class Voice : std::uint8_t { socket, stdout_lines };

  void train_one_step();
  void report();
  void after(engine::Duration wait, std::function<void()> task);
  void end(bool by_signal, int code);

  VirtualTime& time_;
  Faults& faults_;
  jobs::LaunchSpec spec_;
  Surroundings world_;
  engine::Draw draw_;
  Voice voice_;
  bool ignores_sigterm_;
  bool leaves_children_;
  bool saves_;
  engine::Duration step_time_;
  std::uint64_t step_;
  std::uint64_t length_;
  std::uint64_t fails_at_ = 0;  // 0: never.
  int exit_code_ = 0;           // When it fails: below 0 a signal.
  std::uint64_t hangs_at_ = 0;
  std::uint64_t leaves_at_ = 0;
  bool invalid_ = false;
  Flaw flaw_;
  bool ending_ = false;
  bool said_twice_ = false;
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace hpsearch::simulation
