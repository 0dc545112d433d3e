#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "hpsearch/workers/core/launch/program_start.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/shim/shim_client.hpp"
#include "hpsearch/workers/shell/shim/shim_messages.hpp"

namespace hpsearch::workers {

/// The spares of a worker, at most one for the same slots: waiting shims (WaitingShim), each for the next
/// attempt of one experiment. They end with this object.
///
/// Threads: the loop's.
class SpareShims {
 public:
  using OnShim = std::function<void(pid_t shim)>;

  struct Taken {
    StartedShim shim;
    std::string mark;  ///< The assignment with which its program was started.
  };

  /// `directory` is for the spares; `start` counts the starts of the worker, for names that no earlier one
  /// has used. `on_shim` receives each child of this process, to be reaped.
  SpareShims(net::Loop& loop, std::filesystem::path directory, std::uint64_t start,
             std::filesystem::path shim, OnShim on_shim);

  /// An attempt gets its slots, and must run `program`: returns the spare for it, if there is one. All
  /// others in its slots end; if a spare doesn't fit, its experiment gets no more.
  [[nodiscard]] std::optional<Taken> take(const jobs::LaunchSpec& spec, const ProgramStart& program);

  /// The attempt was started: a moment later, a spare is started for the next one in its slots, if its
  /// experiment wants that.
  void attempt_started(const jobs::LaunchSpec& spec, const ProgramStart& program);

  /// The attempt has ended. The spare for its slots ends a minute later unless another attempt takes it.
  void attempt_ended(const engine::AttemptKey& key);

  /// Starts no more spares.
  void stop();

 private:
  struct Spare {
    engine::AttemptKey after;
    std::vector<engine::SlotIndex> slots;
    ProgramStart start;
    net::Watch soon;  ///< Until it is started.
    StartedShim shim;
    net::Watch watch;
    net::Watch idle;
    MessageReader<ToAgent> messages{};
    std::string why_ended{};  ///< The reason from its shim.
  };
  using Spares = std::list<Spare>;

  void start(Spares::iterator spare);
  void read(Spares::iterator spare);

  net::Loop& loop_;
  std::filesystem::path directory_;
  std::string prefix_;
  std::filesystem::path shim_;
  OnShim on_shim_;
  std::uint64_t count_ = 0;
  bool stopped_ = false;
  Spares spares_;
  std::set<engine::ExperimentId> without_;  ///< Experiments whose spares didn't fit.
};

}  // namespace hpsearch::workers
