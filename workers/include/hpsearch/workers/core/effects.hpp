#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/proto/wire.hpp"

namespace hpsearch::workers {

/// One connection of a program to its attempt's socket; never reused within the attempt.
using ConnectionId = engine::Id<struct ConnectionKind>;

// --- what happened: the inputs of WorkerMachine ---

/// The daemon said something on the present connection.
struct FrameReceived {
  proto::Framed<proto::FromDaemon> frame;
};
/// The present connection did not take a message: nobody is there, or its queue is full.
struct SendRefused {};
struct ProgramStarted {
  engine::AttemptKey key;
};
struct ProgramNotStarted {
  engine::AttemptKey key;
  std::string why;  ///< One sentence naming what is missing.
};
/// One line of a program: on its socket, or on stdout when there is no connection.
struct ProgramSaid {
  engine::AttemptKey key;
  std::optional<ConnectionId> connection;
  std::string line;
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
/// The program and everything it started is gone; all it said was handed in before.
struct ProgramEnded {
  engine::AttemptKey key;
  bool by_signal = false;
  int code = 0;  ///< Exit status, or the signal's number.
  std::string log_tail;
};
/// The answer to ReadLogPart.
struct LogWasRead {
  proto::LogPart part;
};
/// The worker is to end: gently the first time, at once the second.
struct StopAsked {};
/// Nothing but time.
struct TimePassed {};

using Input = std::variant<FrameReceived, SendRefused, ProgramStarted, ProgramNotStarted, ProgramSaid,
                           CheckpointPublished, CheckpointNotPublished, ProgramEnded, LogWasRead, StopAsked,
                           TimePassed>;

// --- what to do about it: the effects, carried out in order ---

struct SendMessage {
  proto::Envelope envelope;
  proto::FromWorker message;
};
/// Make the attempt's directory and start the program. Answered by ProgramStarted or ProgramNotStarted, and
/// after ProgramStarted some time by ProgramEnded.
struct StartProgram {
  engine::LaunchSpec spec;
};
/// Signal the program and everything it started.
struct SignalProgram {
  engine::AttemptKey key;
  bool kill = false;  ///< SIGKILL instead of SIGTERM.
};
/// A line of JSON for one connection. One that is closed by now hears nothing; that is fine.
struct AnswerProgram {
  engine::AttemptKey key;
  ConnectionId connection;
  std::string line;
};
/// Move what lies in the checkpoint directory to its place. Answered by CheckpointPublished or
/// CheckpointNotPublished; the machine asks for one at a time per attempt.
struct PublishCheckpoint {
  engine::AttemptKey key;
  engine::Units step{};
  std::string root;  ///< "" = the worker's own.
};
struct DeleteAttempt {
  engine::AttemptKey key;
  bool keep_logs = true;
};
/// Drop the connection to the daemon, if any, and make a new one.
struct NewConnection {};
struct ReadLogPart {
  proto::ReadLog request;
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

using Effect = std::variant<SendMessage, StartProgram, SignalProgram, AnswerProgram, PublishCheckpoint,
                            DeleteAttempt, NewConnection, ReadLogPart, Notice, EndAgent>;

}  // namespace hpsearch::workers
