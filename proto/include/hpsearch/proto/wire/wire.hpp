#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/experiment/commands.hpp"
#include "hpsearch/engine/experiment/orders.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "hpsearch/proto/encoding/msgpack_writer.hpp"
#include "hpsearch/proto/wire/utilization.hpp"
#include "hpsearch/proto/wire/version.hpp"

namespace hpsearch::proto {

// The messages between hpsearchd and hpsearch-worker, one ZeroMQ frame each. SCHEMA.md describes every field.

/// No frame is larger; the receiver refuses larger ones unread.
inline constexpr std::size_t max_frame_bytes = 256UL * 1024;

/// No worker has more slots: memory is allocated for each, and all of them may be leased in one step.
inline constexpr std::uint64_t max_worker_slots = 1024;

/// Wraps every message.
struct Envelope {
  std::uint64_t cluster = 0;  ///< First 8 bytes of the store's identity; 0 in a first HELLO.
  std::uint64_t daemon_epoch =
      0;  ///< Counts daemon starts; a lower one than before is from an old daemon. 0 in a first HELLO.
  std::uint64_t session_epoch = 0;  ///< From WELCOME; 0 in HELLO.
  std::uint64_t msg_no = 0;  ///< Counts the sender's messages of this session; in HELLO, see SCHEMA.md.
};

// --- worker → daemon ---

/// The slots of a worker that shares them with other searches of its machine.
struct SharedSlots {
  std::uint64_t number = 0;                  ///< Grows with each change; WANTED repeats it.
  std::vector<engine::SlotTrouble> taken{};  ///< All that others have, or get next.
};
struct Hello {
  std::uint64_t speaks_from = oldest_wire_version;
  std::uint64_t speaks_to = wire_version;
  std::string uid;
  std::string name;
  std::uint64_t incarnation = 0;
  std::string boot_id;
  std::uint64_t pid = 0;  ///< The agent's pid, in its own namespace; 0 = unknown.
  std::uint64_t slots = 0;
  std::string slot_kind;  ///< As in a jobs::DeviceKind.
  std::vector<engine::HeldAttempt> held;
  std::string
      kills_by{};  ///< How it finds the processes of a program: "cgroup" or "process table"; "" = unknown.
  std::vector<engine::SlotDevice> devices{};  ///< One per slot, or none.
  std::string pool{};                         ///< "" = the default one.
  std::map<std::string, std::string> labels{};
  std::vector<engine::SlotTrouble> troubles{};  ///< All slots that can't be used.
  std::string address{};    ///< The address at which other workers reach it; "" = unknown.
  std::uint64_t nonce = 0;  ///< Random, for this run of the agent; 0 = unknown.
  std::optional<std::uint64_t> max_unslotted{};  ///< Maximum of attempts without slots; nothing = no limit.
  std::string host{};                            ///< The name of its machine.
  std::string version{};                         ///< The version of its program.
  std::string allocation{};                      ///< The allocation of this worker, as "gpu/17"; "" = none.
  std::optional<engine::TimeLeft> time_left{};   ///< Nothing: no end is known.
  std::optional<SharedSlots> shared{};           ///< Nothing: its slots are its own.
};
/// How far a running program is, from its last report.
struct Progress {
  engine::AttemptKey key;
  engine::Units step{};
  std::uint64_t silent_ms = 0;               ///< Time since that report.
  std::optional<Utilization> utilization{};  ///< What it used lately; nothing: it was not measured.
};
struct Beat {
  std::vector<Progress> progress{};
  std::vector<engine::LeakedProcesses> leaked_processes{};  ///< All that exist.
  bool draining = false;                        ///< It accepts no more work and will send Goodbye.
  std::vector<engine::SlotTrouble> troubles{};  ///< All that exist.
  /// Why it can't store checkpoints in WELCOME's directory, or "".
  std::string checkpoint_problem{};
  std::optional<engine::TimeLeft> time_left{};  ///< As in Hello, now.
  std::optional<SharedSlots> shared{};          ///< As in Hello, now.
};
struct Started {
  engine::AttemptKey key;
};
struct Reports {
  engine::AttemptKey key;
  std::uint64_t first_seq = 0;
  std::vector<engine::Report> reports;
};
struct DecisionAck {
  engine::AttemptKey key;
  engine::Lsn decision;
};
/// Part of an attempt's log, the answer to ReadLog.
struct LogPart {
  std::uint64_t request = 0;
  std::uint64_t offset = 0;  ///< The place of the first byte of `text`.
  std::uint64_t size = 0;    ///< The size of the whole log so far.
  std::string text;
  std::string problem;  ///< Why there is no text, or "".
};
/// The daemon could not get the output of an attempt that it should keep.
struct LogNotKept {
  engine::AttemptKey key;
  std::string why;  ///< One sentence for people.
};
/// The worker shuts down in order; its programs have ended.
struct Goodbye {
  std::string why;
};
/// The only message of a peer that connects with the key of an invite: it asks that a worker's key be
/// allowed.
struct Join {
  std::string name;        ///< How the worker is to be called.
  std::string public_key;  ///< Its own CURVE key, which is to be allowed.
};
using FromWorker =
    std::variant<Hello, Beat, Started, Reports, DecisionAck, LogPart, Goodbye, LogNotKept, Join>;

// --- daemon → worker ---

struct Welcome {
  engine::WorkerId worker;
  std::uint64_t beat_every_ms = 10'000;
  std::vector<engine::WelcomeWorker::Attempt> attempts;
  std::string http{};       ///< Where the daemon serves contexts, as in its option: "0.0.0.0:8077" or
                            ///< "unix:///path"; "" = nowhere.
  std::uint64_t hello = 0;  ///< The number of the HELLO that this answers; 0 = unknown.
  std::uint64_t credit =
      0;  ///< The maximum bytes of unacknowledged reports of all attempts; 0 = the worker's own limit.
  std::string http_key{};  ///< Allows reading contexts and sending logs while the session lasts; "" = there
                           ///< is none.
  /// The default directory for checkpoints: the worker tests it, and BEAT has the
  /// result. The daemon's mark of its store is in it (checkpoint_owner.hpp).
  std::string checkpoint_root{};
};
struct Lease {
  jobs::LaunchSpec spec;
};
struct Ack {
  engine::AttemptKey key;
  std::uint64_t upto = 0;
  std::uint64_t credit = 0;  ///< As in Welcome, from now on.
};
struct Nack {
  engine::AttemptKey key;
  std::uint64_t expect = 0;
};
struct Decide {
  engine::AttemptKey key;
  engine::Decision decision;
};
struct Fenced {
  engine::AttemptKey key;
};
struct Hold {
  engine::AttemptKey key;
};
/// The daemon doesn't know this session: send HELLO on a new connection.
struct Resync {};
struct ReadLog {
  std::uint64_t request = 0;
  engine::AttemptKey key;
  std::string stream;  ///< "stdout", "stderr" or utilization_stream
  std::uint64_t offset = 0;
  std::uint64_t limit = 0;  ///< Bytes, at most 128 KiB.
  bool from_end = false;    ///< The last `limit` bytes instead of those from `offset`.
  std::uint64_t process =
      0;  ///< The number of one of the attempt's processes on this worker, from 0; see RankLevel::process.
};
/// Too many workers connect at once: send HELLO again after a random time between zero and
/// this.
struct RetryAfter {
  std::uint64_t after_ms = 0;
};
/// Why the daemon refuses this worker, which must not retry without a change.
struct Refused {
  std::string why;
  std::uint64_t incarnation = 0;  ///< The incarnation in the HELLO that this answers; 0 = any.
};
/// The key of the JOIN is allowed: say HELLO with it. A JOIN that is not granted gets Refused.
struct Joined {
  std::string name;  ///< How the worker is called.
};
/// For a worker that shares its slots. Leases sent after this take no slot that it named as taken.
struct Wanted {
  std::uint64_t slots = 0;   ///< The slots of the first trial that waits for some there; 0 = none waits.
  std::uint64_t number = 0;  ///< The highest SharedSlots::number that came.
};
using FromDaemon = std::variant<Welcome, Lease, Ack, Nack, Decide, Fenced, Hold, Resync, ReadLog, RetryAfter,
                                Refused, Joined, Wanted>;

template <class Message>
struct Framed {
  Envelope envelope;
  Message message;
};

[[nodiscard]] Bytes encode(const Envelope& envelope, const FromWorker& message);
[[nodiscard]] Bytes encode(const Envelope& envelope, const FromDaemon& message);

/// corrupt: not one of our frames, or beyond a limit; version_mismatch: of an unsupported version.
/// Unknown keys are skipped. Never throws, never allocates more than a small multiple of the frame.
[[nodiscard]] engine::Result<Framed<FromWorker>> decode_from_worker(std::span<const std::byte> frame);
[[nodiscard]] engine::Result<Framed<FromDaemon>> decode_from_daemon(std::span<const std::byte> frame);

/// "HELLO", "REPORTS", …: for logs.
[[nodiscard]] const char* name_of(const FromWorker& message) noexcept;
[[nodiscard]] const char* name_of(const FromDaemon& message) noexcept;

}  // namespace hpsearch::proto
