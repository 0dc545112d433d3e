#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/workers/core/line_thinning.hpp"
#include "hpsearch/workers/core/log_text.hpp"
#include "hpsearch/workers/core/program_message.hpp"
#include "hpsearch/workers/shell/attempt_directory.hpp"
#include "hpsearch/workers/shell/journal.hpp"
#include "hpsearch/workers/shell/processes/process.hpp"
#include "hpsearch/workers/shell/shim/launch_order.hpp"
#include "hpsearch/workers/shell/shim/metric_scanner.hpp"
#include "hpsearch/workers/shell/shim/program_log.hpp"
#include "hpsearch/workers/shell/shim/program_pipe.hpp"
#include "hpsearch/workers/shell/shim/report_socket.hpp"
#include "hpsearch/workers/shell/shim/shim_messages.hpp"
#include "hpsearch/workers/shell/shim/spare_program.hpp"
#include "hpsearch/workers/shell/shim/unread_metric.hpp"

namespace hpsearch::workers {

/// Runs one attempt's program and outlives agents: it is the program's parent, reads its pipes, listens at
/// its socket, writes its logs and the journal of its messages. It decides nothing; the agent that connects
/// to its agent socket answers the program's questions and may send it signals.
///
/// Agents and shims exchange the messages of shim_messages.hpp. The newest connection counts.
///
/// Without an agent it continues; it ends when all processes of the program have exited.
///
/// Threads: the loop's. One per process: it reaps every child.
class Shim {
 public:
  using OnEnd = std::function<void()>;

  /// The attempt's program runs in `spare` if that is ready and fits; otherwise the spare is killed.
  Shim(net::Loop& loop, AttemptDirectory directory, OnEnd on_end,
       std::unique_ptr<SpareProgram> spare = nullptr);
  ~Shim();
  Shim(const Shim&) = delete;
  Shim& operator=(const Shim&) = delete;

  /// Starts the program of the attempt's launch order. The result is in the journal, and is sent to `agent`,
  /// a connected socket or none. wrong_state: another shim runs this attempt, has run it or gave it up.
  [[nodiscard]] engine::Status start(Descriptor agent);

 private:
  struct Output {
    ProgramPipe pipe;
    std::optional<ProgramLog> log;
    LineSplitter lines;
    net::Watch watch;
    net::Watch catch_up;  ///< Set while the log waits.
  };

  [[nodiscard]] engine::Status launch(LaunchOrder order);
  [[nodiscard]] engine::Result<RunningProgram> run(const LaunchOrder& order);
  [[nodiscard]] engine::Status listen_to_agents(const std::string& path);
  void accept_agent();
  void serve(Descriptor agent);
  void read_agent();
  void agent_left();
  void execute(const AnswerQuestion& answer);
  void execute(const AnswerBelow& answer);
  void execute(const SendSignal& signal);
  void execute(const DropJournal& drop);
  void execute(const RunAttempt& run);

  void heard(ConnectionId connection, std::string_view line);
  void show(const RemarkMessage& remark);
  bool read_output(Output& output);
  void look_for_lines(Output& output, std::string_view bytes);
  void catch_up_soon(Output& output);
  void take_line(const Output& output, std::string_view line);
  [[nodiscard]] bool is_below_length(const ProgramMessage& message) const;
  void take(ProgramMessage message);
  void tell_unread(bool ended);
  void program_ended(const ProgramEnd& end);

  void record(JournalRecord record, bool droppable);
  void hold_questions();
  void write_down();
  void send_to_agent();
  void send_reason_to_agent(const std::string& why);
  void end_if_done();

  net::Loop& loop_;
  AttemptDirectory directory_;
  OnEnd on_end_;
  std::optional<JournalWriter> journal_;
  std::deque<std::pair<JournalRecord, std::size_t>>
      unwritten_;                    ///< With their bytes; the disk rejected them so far.
  std::size_t unwritten_bytes_ = 0;  ///< The size of the lines among them, about.
  std::string unwritten_because_;    ///< The last reason, or "".
  LineThinning thinning_;
  net::Watch write_again_;
  bool ended_ = false;

  std::string agent_path_;
  Descriptor listener_;
  net::Watch listening_;
  Descriptor agent_;
  net::Watch agent_watch_;
  bool ends_without_agent_ = false;
  net::Watch without_agent_;  ///< While it waits for an agent to come back.
  MessageReader<ToShim> agent_messages_;
  bool telling_ = false;
  net::Watch tell_again_;

  std::unique_ptr<ReportSocket> socket_;
  std::uint64_t last_question_ = 0;
  std::map<std::uint64_t, ConnectionId> open_;  ///< Questions without an answer.
  engine::Units ahead_below_{};
  std::string ahead_line_;
  std::optional<int> shown_percent_;  ///< The last one in the log.
  Output out_;
  Output err_;
  std::optional<MetricScanner> scanner_;
  UnreadMetric unread_{""};
  bool malformed_report_noted_ = false;  ///< A line that looks like a report but isn't one was noted.
  pid_t pid_ = 0;
  int checkpoint_signal_ = 0;  ///< 0 = the experiment wants none.
  std::string followed_by_;
  bool asked_ = false;
  std::vector<Descriptor> slots_;        ///< Locks in the slot table.
  std::unique_ptr<SpareProgram> spare_;  ///< Or none.
  std::unique_ptr<ProgramShim> programs_;
};

}  // namespace hpsearch::workers
