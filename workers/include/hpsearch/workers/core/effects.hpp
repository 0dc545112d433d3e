#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/proto/wire/wire.hpp"
#include "hpsearch/workers/core/program_message.hpp"

namespace hpsearch::workers {

/// EX_CONFIG of sysexits.h: the attempt could not start, and other trials would fail in the same way.
inline constexpr int status_same_everywhere = 78;
/// EX_NOPERM: this worker doesn't start programs of that user, or not this kind of program.
inline constexpr int status_refuses_submitter = 77;

/// A line of a program that waits for an answer. Ids are never reused within the attempt, even by later
/// agents, so that a repeated answer is recognized.
using QuestionId = engine::Id<struct QuestionKind>;

/// The store that a worker belongs to, and the latest known start of its daemon.
struct KnownDaemon {
  std::uint64_t cluster = 0;  ///< 0 = none yet.
  std::uint64_t epoch = 0;
  friend bool operator==(const KnownDaemon&, const KnownDaemon&) = default;
};

/// A slot that cannot be used now.
struct UnusableSlot {
  engine::SlotIndex slot;
  std::string why;      ///< One sentence for people.
  bool broken = false;  ///< Its device is broken; otherwise its state is unknown.
  friend bool operator==(const UnusableSlot&, const UnusableSlot&) = default;
};

// --- events: the inputs of WorkerMachine ---

/// A message came on the current connection.
struct FrameReceived {
  proto::Framed<proto::FromDaemon> frame;
};
/// The current connection did not accept a message: the daemon is down, or the queue is full.
struct SendRefused {};
/// The current connection accepts messages now.
struct ConnectionMade {
  bool again = false;  ///< It was lost and made again: the daemon may have been restarted.
};
struct ProgramStarted {
  engine::AttemptKey key;
};
struct ProgramNotStarted {
  engine::AttemptKey key;
  std::string why;  ///< One sentence that names what is missing.
  bool not_its_fault =
      false;                ///< The experiment can't prevent it: it doesn't count as a failure of the trial.
  bool disk_fails = false;  ///< Files could not be written; the disk may fail.
  bool checkpoint_gone = false;  ///< ExitReport::Cause::checkpoint_gone.
  int status = 0;  ///< If the submission is the cause: status_same_everywhere, status_refuses_submitter.
};
/// A message of a program: on its socket, or as a printed line, which is no question.
struct ProgramMessageReceived {
  engine::AttemptKey key;
  std::optional<QuestionId> question;
  ProgramMessage message;
  std::uint64_t position = 0;  ///< Position in the attempt's journal after this message; 0 if there is none.
  bool answered = false;       ///< AnswerAhead answered it.
};
struct CheckpointPublished {
  engine::AttemptKey key;
  engine::CheckpointReport report;
};
/// The answer to PublishCheckpoint if there is no new checkpoint.
struct CheckpointNotPublished {
  engine::AttemptKey key;
  bool was_empty = false;  ///< The directory was empty.
  std::string why;
};
/// The program and all its child processes have exited; all its messages came before.
struct ProgramEnded {
  engine::AttemptKey key;
  bool by_signal = false;
  int code = 0;  ///< Exit status, or the number of the signal.
  std::string log_tail;
  bool asked = false;          ///< An agent had signaled it before.
  bool out_of_memory = false;  ///< The kernel killed it for lack of memory.
};
/// Processes of the program survive SIGKILL for a minute. ProgramEnded or ProgramLost follows when they have
/// exited.
struct ProgramStuck {
  engine::AttemptKey key;
  std::string why;  ///< One sentence that names a process.
  std::optional<ProgramEnded>
      end{};  ///< How its program ended, if that is known: the remaining process is blocked in a device.
};
/// The end of the program was not seen, and none of its processes is left: the machine was restarted, its
/// shim was killed, or it never started. Comes in place of ProgramEnded, or as the answer to AttachProgram.
struct ProgramLost {
  engine::AttemptKey key;
  std::string why;  ///< One sentence for people.
};
/// All slots that can't be used now. Programs in a broken one are ended.
struct DevicesJudged {
  std::vector<UnusableSlot> unusable;
};
/// The slots that other searches of the machine have, or get next. `number` grows with each change.
struct SlotsTaken {
  std::uint64_t number = 0;
  std::vector<UnusableSlot> taken;
};
/// The answer to ProbeDisk: why the worker's files can't be written, or "".
struct DiskProbed {
  std::string why;
};
/// The answer to CheckCheckpointRoot: why no checkpoints can be stored there, or "".
struct CheckpointRootChecked {
  std::string root;
  std::string why;  ///< One sentence for people.
};
/// The answers to WriteSpool.
struct SpoolWritten {
  engine::AttemptKey key;
  std::uint64_t write = 0;
};
struct SpoolNotWritten {
  engine::AttemptKey key;
  std::uint64_t write = 0;
  std::string why;
  bool disk_fails = true;  ///< Otherwise only this attempt's directory is missing or was replaced.
};
/// Messages of a program can't be written: the reason. Repeated while it lasts.
struct JournalNotWritten {
  std::string why;
};
/// The answer to ReadLogPart.
struct LogWasRead {
  proto::LogPart part;
};
/// The answer to HandOverLog.
struct LogHandedOver {
  engine::AttemptKey key;
  std::uint64_t delivery = 0;
  std::string problem;  ///< Why the daemon doesn't have all of it, or "".
};
/// Files that programs left are being sent to the daemon, or no longer.
struct SendingFiles {
  bool goes_on = false;
};
/// The worker should end: gracefully the first time, at once the second time.
struct StopAsked {};
/// Another scheduler takes the machine back after this time: programs save what they have and end. The time
/// gets shorter if it is asked again.
struct GiveBackAsked {
  engine::Duration within;
  bool is_warning = false;  ///< It will end the allocation; else it is ending it.
};
/// The answer to AskTimeLeft: how long the allocation lasts; nothing: the other scheduler did not answer.
struct TimeLeftLearned {
  std::optional<engine::Duration> left;
};
/// The worker should end while its programs continue: the next agent takes them over.
struct LeaveAsked {};
/// Measured use of the running programs since the measurement before.
struct AttemptsMeasured {
  std::map<engine::AttemptKey, proto::Utilization> now;
};
/// Only time has passed.
struct TimePassed {};

using Input =
    std::variant<FrameReceived, SendRefused, ConnectionMade, ProgramStarted, ProgramNotStarted,
                 ProgramMessageReceived, CheckpointPublished, CheckpointNotPublished, ProgramEnded,
                 ProgramStuck, ProgramLost, SpoolWritten, SpoolNotWritten, JournalNotWritten, LogWasRead,
                 LogHandedOver, SendingFiles, StopAsked, LeaveAsked, TimePassed, DevicesJudged, SlotsTaken,
                 DiskProbed, CheckpointRootChecked, GiveBackAsked, TimeLeftLearned, AttemptsMeasured>;

// --- effects, carried out in order ---

struct SendMessage {
  proto::Envelope envelope;
  proto::FromWorker message;
};
/// The address at which the daemon serves contexts and accepts logs, as in its options: "0.0.0.0:8077" or
/// "unix:///path"; "" = nowhere.
struct ContextsServed {
  std::string http;
  std::string key;  ///< The key to send there; "" = none is needed.
};
/// Make the attempt's directory and start the program. Answered by ProgramStarted or ProgramNotStarted;
/// ProgramEnded follows ProgramStarted some time later.
struct StartProgram {
  jobs::LaunchSpec spec;
};
/// Find a program that an earlier agent started, and read its journal from `position` on. Answered by
/// ProgramStarted, even if it has ended meanwhile, or by ProgramLost.
struct AttachProgram {
  engine::AttemptKey key;
  std::uint64_t position = 0;
};
/// Write this durably: at the end of the attempt's spool, or in place of all of it, atomically.
/// Answered by SpoolWritten or SpoolNotWritten; at most one is in progress per attempt.
struct WriteSpool {
  engine::AttemptKey key;
  std::uint64_t write = 0;  ///< Identifies the write in the answer.
  std::string bytes;
  bool anew = false;
  std::uint64_t position = 0;  ///< The journal before this position isn't needed once this is written.
};
/// Signal the program and all its child processes.
struct SignalProgram {
  engine::AttemptKey key;
  bool kill = false;        ///< SIGKILL instead of SIGTERM.
  bool checkpoint = false;  ///< Only its first process, with its experiment's checkpoint signal.
  /// After SIGTERM: processes that outlive the first one for longer are killed without another request.
  engine::Duration grace{};
};
/// A line of JSON that answers a question. It is dropped if the question was answered before, or if its
/// connection is closed.
struct AnswerProgram {
  engine::AttemptKey key;
  QuestionId question;
  std::string line;
};
/// From now on, answer metrics of steps below `below` with `line` as soon as they are in the journal, so that
/// no program waits while the agent is down. 0 = none. A shell without a journal may ignore this.
struct AnswerAhead {
  engine::AttemptKey key;
  engine::Units below{};
  std::string line;
};
/// Move the content of the checkpoint directory to its place. Answered by CheckpointPublished or
/// CheckpointNotPublished; at most one is in progress per attempt.
struct PublishCheckpoint {
  engine::AttemptKey key;
  engine::Units step{};
  std::string root;  ///< "" = the worker's own; an address if it is in an object store.
  std::map<std::string, std::string> storage_environment = {};  ///< For rclone in that case.
  std::string default_storage = {};                             ///< LaunchSpec::default_storage.
};
/// Remove the attempt's data, its spool and journal first.
struct DeleteAttempt {
  engine::AttemptKey key;
  bool keep_logs = true;
};
/// Drop the connection to the daemon, if any, and make a new one.
struct NewConnection {};
struct ReadLogPart {
  proto::ReadLog request;
};
/// Send the daemon the part of the attempt's output that it keeps, from all its processes here.
/// Answered by LogHandedOver.
struct HandOverLog {
  engine::AttemptKey key;
  std::uint64_t delivery = 0;  ///< Identifies the delivery in the answer.
  engine::Duration within{};   ///< The machine doesn't wait longer.
};
/// Write durably to which daemon the next agent on this state directory belongs, before any later effect:
/// later writes wait for it, too.
struct RememberDaemon {
  KnownDaemon daemon;
};
/// Try to write where the worker has its files. Answered by DiskProbed.
struct ProbeDisk {};
/// Check whether checkpoints can be stored there, and whether the store's daemon has the same directory
/// there. Answered by CheckpointRootChecked.
struct CheckCheckpointRoot {
  std::string root;
  std::uint64_t store = 0;
};
/// Ask the other scheduler how long the allocation lasts. Answered by TimeLeftLearned.
struct AskTimeLeft {};
/// The daemon leases none of the slots that SlotsTaken `number` named.
struct SlotsWanted {
  std::uint64_t slots = 0;  ///< The first trial that waits takes so many; 0: none waits for slots here.
  std::uint64_t number = 0;
};
/// A message for the operator.
struct Notice {
  enum class Level : std::uint8_t { info, warning, error };
  Level level = Level::info;
  std::string text;
};
/// All work is done. `failed`: the daemon refuses this worker.
struct EndAgent {
  bool failed = false;
  std::string why;
};

using Effect = std::variant<SendMessage, StartProgram, AttachProgram, WriteSpool, SignalProgram,
                            AnswerProgram, AnswerAhead, PublishCheckpoint, DeleteAttempt, NewConnection,
                            ReadLogPart, HandOverLog, Notice, EndAgent, ContextsServed, RememberDaemon,
                            ProbeDisk, CheckCheckpointRoot, AskTimeLeft, SlotsWanted>;

}  // namespace hpsearch::workers
