#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/journal.hpp"
#include "hpsearch/workers/shell/processes/process_table.hpp"
#include "hpsearch/workers/shell/shim/shim_messages.hpp"

namespace hpsearch::workers {

/// A shim that was just started, a child of this process to be reaped, and the connection to it.
struct StartedShim {
  pid_t pid = 0;
  Descriptor connection;
};

/// Starts `shim`, the shim's program, with these arguments; its log goes to the file `messages`.
/// unavailable: it can't be run.
[[nodiscard]] engine::Result<StartedShim> start_shim(const std::filesystem::path& shim,
                                                     std::vector<std::string> arguments,
                                                     const std::filesystem::path& messages);

/// An agent's connection to one attempt's shim (hpsearch-shim): reads the journal as it grows, and sends
/// answers and signals. If the shim has died without recording the program's end, the remaining processes of
/// the program are killed, and when none is left, the program is lost. While it is unknown whether the shim
/// has died, because something can't be read or its socket is missing, only its journal is read.
///
/// A stopped shim is continued. A shim that is stopped again and again is killed, together with its
/// program.
///
/// The destructor leaves the shim and the program running.
///
/// Threads: the loop's.
class ShimClient {
 public:
  /// Exactly one of on_not_started, on_ended and on_lost is called, last; on_started before on_ended.
  struct Handlers {
    std::function<void(const JournalStarted&)> on_started;
    std::function<void(const std::string& why)> on_not_started;
    std::function<void(const JournalMessageReceived&, std::uint64_t position)> on_message;
    std::function<void(const std::string& why)>
        on_unwritten;  ///< Called repeatedly while the journal waits for the disk.
    std::function<void(const JournalStuck&)> on_stuck;
    std::function<void(const JournalEnded&)> on_ended;
    std::function<void(const std::string& why)> on_lost;
  };

  ShimClient(net::Loop& loop, AttemptDirectory directory, Handlers handlers);
  ~ShimClient();
  ShimClient(const ShimClient&) = delete;
  ShimClient& operator=(const ShimClient&) = delete;

  /// Starts `shim`, the shim's program, for the launch order in the attempt's directory. The returned process
  /// is a child of this one, to be reaped. unavailable: it can't be run.
  [[nodiscard]] engine::Result<pid_t> start(const std::filesystem::path& shim);

  /// Makes the waiting shim of a spare run the launch order in the attempt's directory.
  void run_in(StartedShim waiting);

  /// Finds the shim that an earlier agent started, or its journal, and reads from `position`.
  void attach(std::uint64_t position);

  void answer(std::uint64_t question, std::string_view line);
  void answer_ahead(std::uint64_t below, std::string_view line);
  using Signal = SendSignal::Which;
  /// `grace`: for Signal::terminate, as in ProgramShim::terminate.
  void signal(Signal signal, std::chrono::milliseconds grace = {});
  void drop_before(std::uint64_t position);

 private:
  void send(const ToShim& message);
  void flush();
  void serve(Descriptor connection);
  void watch_over(pid_t shim);
  void look_at_shim();
  void read_connection();
  void read_journal();
  bool take(const JournalRecord& record);
  void connection_lost();
  void look_for_shim();
  void read_beginning();
  void look_again(const std::string& why);
  void kill_unknown();
  void give_up();
  void sweep();
  [[nodiscard]] bool open_journal();

  net::Loop& loop_;
  AttemptDirectory directory_;
  Handlers handlers_;
  std::optional<JournalReader> journal_;
  std::uint64_t position_ = 0;
  bool attached_ = false;  ///< To an earlier agent's shim.
  bool started_ = false;   ///< on_started was called.
  bool over_ = false;      ///< The last handler was called.
  Descriptor connection_;
  std::optional<ProcessInfo> shim_;  ///< The shim of the connection; nothing if it is unknown.
  int stopped_looks_ = 0;            ///< Consecutive checks that found it stopped.
  net::Watch watch_;
  net::Watch shim_watch_;
  net::Watch again_;
  net::Watch read_again_;
  MessageReader<ToAgent> messages_;
  std::string unsent_;
  std::int64_t sweeps_ = 0;
  std::int64_t looks_ = 0;  ///< Checks that found no way to the shim.
  bool kill_wanted_ = false;
  std::string unreadable_;  ///< Why an existing journal can't be opened, or "".
  std::shared_ptr<bool> present_ = std::make_shared<bool>(true);
};

}  // namespace hpsearch::workers
