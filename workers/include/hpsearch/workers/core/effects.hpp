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

/// EX_CONFIG of sysexits.h, of an attempt that could not start: no other trial would fare better.
inline constexpr int status_same_everywhere = 78;
/// EX_NOPERM: this worker starts no programs of that user, or none of that kind as its submitter.
inline constexpr int status_refuses_submitter = 77;

/// One line of a program that waits for an answer; never reused within the attempt, not by a later agent
/// either, so that an answer given twice is known as such.
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
  bool broken = false;  ///< Its device is; else it only cannot be asked.
  friend bool operator==(const UnusableSlot&, const UnusableSlot&) = default;
};

// --- what happened: the inputs of WorkerMachine ---

/// A message came on the present connection.
struct FrameReceived {
  proto::Framed<proto::FromDaemon> frame;
};
/// The present connection did not take a message: the daemon is away, or the queue is full.
struct SendRefused {};
/// The present connection takes messages now.
struct ConnectionMade {
  bool again = false;  ///< It was made before, and broke: the other end may be another start of the daemon.
};
struct ProgramStarted {
  engine::AttemptKey key;
};
struct ProgramNotStarted {
  engine::AttemptKey key;
  std::string why;  ///< One sentence naming what is missing.
  bool not_its_fault =
      false;                ///< Nothing that the experiment could do better: not counted against the trial.
  bool disk_fails = false;  ///< Files could not be written; perhaps none can be.
  bool checkpoint_gone = false;  ///< ExitReport::Cause::checkpoint_gone.
  int status = 0;  ///< If the submission is the cause: status_same_everywhere, status_refuses_submitter.
};
/// A message of a program: on its socket, or as a line that it printed, which is no question.
struct ProgramMessageReceived {
  engine::AttemptKey key;
  std::optional<QuestionId> question;
  ProgramMessage message;
  std::uint64_t position = 0;  ///< In the attempt's journal, behind this message; 0 where there is none.
  bool answered = false;       ///< By AnswerAhead.
};
struct CheckpointPublished {
  engine::AttemptKey key;
  engine::CheckpointReport report;
};
/// The answer to PublishCheckpoint when there is no new checkpoint.
struct CheckpointNotPublished {
  engine::AttemptKey key;
  bool was_empty = false;  ///< Nothing lay in the directory.
  std::string why;
};
/// The program and everything it started has exited; all its messages came before.
struct ProgramEnded {
  engine::AttemptKey key;
  bool by_signal = false;
  int code = 0;  ///< Exit status, or the signal's number.
  std::string log_tail;
  bool asked = false;          ///< An agent had signaled it before.
  bool out_of_memory = false;  ///< The kernel ended it for that.
};
/// Something of the program survives SIGKILL for a minute. ProgramEnded or ProgramLost follows when it has
/// exited.
struct ProgramStuck {
  engine::AttemptKey key;
  std::string why;  ///< One sentence naming a process.
  std::optional<ProgramEnded>
      end{};  ///< How its program ended, when that is known: what is left is in a device.
};
/// Nobody saw the program's end and nothing of it is left: the machine was restarted, its shim was killed,
/// or it never began. Instead of ProgramEnded, or the answer to AttachProgram.
struct ProgramLost {
  engine::AttemptKey key;
  std::string why;  ///< One sentence for people.
};
/// All slots that cannot be used now. Programs in a broken one are ended.
struct DevicesJudged {
  std::vector<UnusableSlot> unusable;
};
/// The answer to ProbeDisk: why the worker's files cannot be written, or "".
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
  bool disk_fails = true;  ///< Or else only this attempt's directory is not there as the worker made it.
};
/// Messages of a program cannot be written: why. Repeated while it lasts.
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
  std::string problem;  ///< Why the daemon does not have all of it, or "".
};
/// The worker should end: gently the first time, at once the second.
struct StopAsked {};
/// The worker should end while its programs run on: the next agent takes them over.
struct LeaveAsked {};
/// Nothing but time.
struct TimePassed {};

using Input = std::variant<FrameReceived, SendRefused, ConnectionMade, ProgramStarted, ProgramNotStarted,
                           ProgramMessageReceived, CheckpointPublished, CheckpointNotPublished, ProgramEnded,
                           ProgramStuck, ProgramLost, SpoolWritten, SpoolNotWritten, JournalNotWritten,
                           LogWasRead, LogHandedOver, StopAsked, LeaveAsked, TimePassed, DevicesJudged,
                           DiskProbed, CheckpointRootChecked>;

// --- what to do about it: the effects, carried out in order ---

struct SendMessage {
  proto::Envelope envelope;
  proto::FromWorker message;
};
/// The address where the daemon serves contexts and takes logs, as in its options: "0.0.0.0:8077" or
/// "unix:///path"; "" = nowhere.
struct ContextsServed {
  std::string http;
  std::string key;  ///< To be shown there; "" = none is needed.
};
/// Make the attempt's directory and start the program. Answered by ProgramStarted or ProgramNotStarted, and
/// after ProgramStarted some time by ProgramEnded.
struct StartProgram {
  jobs::LaunchSpec spec;
};
/// Find a program that an earlier agent has started, and read its journal from `position` on. Answered by
/// ProgramStarted, though it may have ended meanwhile, or by ProgramLost.
struct AttachProgram {
  engine::AttemptKey key;
  std::uint64_t position = 0;
};
/// Write this durably: at the end of the attempt's spool, or in place of all of it, whole or not at all.
/// Answered by SpoolWritten or SpoolNotWritten; the machine wants one at a time per attempt.
struct WriteSpool {
  engine::AttemptKey key;
  std::uint64_t write = 0;  ///< Names it in the answer.
  std::string bytes;
  bool anew = false;
  std::uint64_t position = 0;  ///< The journal before this position is not needed once this is written.
};
/// Signal the program and everything it started.
struct SignalProgram {
  engine::AttemptKey key;
  bool kill = false;        ///< SIGKILL instead of SIGTERM.
  bool checkpoint = false;  ///< Only its first process, with its experiment's checkpoint signal.
  /// After SIGTERM: processes that outlive the first one for longer are killed, also without another request.
  engine::Duration grace{};
};
/// A line of JSON that answers a question. A question that was answered before, or whose connection is
/// closed, gets nothing; that is fine.
struct AnswerProgram {
  engine::AttemptKey key;
  QuestionId question;
  std::string line;
};
/// From now on, answer metrics of steps below `below` with `line` as soon as they are in the journal, so that
/// no training waits for an agent that is away. 0 = none. A shell without a journal may ignore this.
struct AnswerAhead {
  engine::AttemptKey key;
  engine::Units below{};
  std::string line;
};
/// Move what lies in the checkpoint directory to its place. Answered by CheckpointPublished or
/// CheckpointNotPublished; the machine asks for one at a time per attempt.
struct PublishCheckpoint {
  engine::AttemptKey key;
  engine::Units step{};
  std::string root;  ///< "" = the worker's own; an address when it is in an object store.
  std::map<std::string, std::string> storage_environment = {};  ///< For rclone then.
  std::string default_storage = {};                             ///< LaunchSpec::default_storage.
};
/// Forget the attempt: its spool and journal first.
struct DeleteAttempt {
  engine::AttemptKey key;
  bool keep_logs = true;
};
/// Drop the connection to the daemon, if any, and make a new one.
struct NewConnection {};
struct ReadLogPart {
  proto::ReadLog request;
};
/// Deliver to the daemon the part of the attempt's output that it keeps, from all its processes here.
/// Answered by LogHandedOver.
struct HandOverLog {
  engine::AttemptKey key;
  std::uint64_t delivery = 0;  ///< Names it in the answer.
  engine::Duration within{};   ///< The machine does not wait longer.
};
/// Write durably which daemon the next agent on this state directory belongs to, before any later effect:
/// later writes wait for it too.
struct RememberDaemon {
  KnownDaemon daemon;
};
/// Try to write where the worker keeps its files. Answered by DiskProbed.
struct ProbeDisk {};
/// Find out whether checkpoints can be stored there, and whether the store's daemon has the same directory
/// there. Answered by CheckpointRootChecked.
struct CheckCheckpointRoot {
  std::string root;
  std::uint64_t store = 0;
};
/// Something the operator wants to know.
struct Notice {
  enum class Level : std::uint8_t { info, warning, error };
  Level level = Level::info;
  std::string text;
};
/// Everything is done. With `failed` the daemon will not have this worker.
struct EndAgent {
  bool failed = false;
  std::string why;
};

using Effect =
    std::variant<SendMessage, StartProgram, AttachProgram, WriteSpool, SignalProgram, AnswerProgram,
                 AnswerAhead, PublishCheckpoint, DeleteAttempt, NewConnection, ReadLogPart, HandOverLog,
                 Notice, EndAgent, ContextsServed, RememberDaemon, ProbeDisk, CheckCheckpointRoot>;

}  // namespace hpsearch::workers
