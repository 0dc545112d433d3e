#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/blobs/log_requests.hpp"
#include "daemon/core/runtime.hpp"
#include "daemon/metrics/worker_counts.hpp"
#include "daemon/sessions/hello_limit.hpp"
#include "daemon/sessions/report_credit.hpp"
#include "daemon/sessions/worker_outbox.hpp"
#include "hpsearch/io/net/timeline.hpp"
#include "hpsearch/io/zmq/peer_port.hpp"
#include "hpsearch/proto/wire/wire.hpp"

namespace hpsearch::daemon {

/// The interface to workers: frames become commands, orders become frames.
///
/// A connection becomes a session when its HELLO is accepted. The newest session of a worker counts; frames
/// of older ones are dropped, and a worker without a session is asked to send HELLO again. An order is
/// repeated until the worker has shown that it knows it.
class WorkerSessions {
 public:
  struct Settings {
    std::string checkpoint_root;  ///< For experiments that name no storage.
    engine::Duration repeat_after =
        engine::Duration::seconds(3);  ///< Unacknowledged orders are repeated after this.
    engine::Duration log_patience =
        engine::Duration::seconds(10);  ///< How long a worker may take to read a log.
    /// The name of the worker that has this key; null: it is not allowed, or not any more. Not set: every
    /// worker is accepted, under any name.
    std::function<std::optional<std::string>(const std::string& key)> worker_of_key{};
    /// Changes whenever worker_of_key may answer differently than before. Not set: it may at any time.
    std::function<std::uint64_t()> keys_version{};
    /// Whether this key is the key of an invite: its owner may send JOIN and nothing else. Not set: there are
    /// no invites.
    std::function<bool(const std::string& key)> is_invite{};
    /// A JOIN with the key of an invite. Calls `answer` once, on the loop.
    struct Guest {
      std::string invite_key;
      std::string address;  ///< "" = unknown.
    };
    using JoinAnswer = std::function<void(const engine::Result<proto::Joined>& joined)>;
    std::function<void(const Guest& guest, const proto::Join& join, JoinAnswer answer)> on_join{};
    std::uint64_t hellos_per_second = 500;  ///< Workers beyond this are asked to come later.
    CreditRules credit{};
    /// Makes the key with which a session fetches contexts over TCP and uploads logs. Not set: sessions have
    /// none.
    std::function<std::string()> new_http_key{};
    /// Called for logs that workers could not upload. Its arguments are not checked.
    std::function<void(engine::WorkerId worker, const proto::LogNotKept& message)> on_log_not_kept{};
    jobs::Programs::OpenSecrets open_secrets{};
  };

  /// Opens a port that passes received frames to `on_frame`.
  using OpenPort =
      std::function<engine::Result<std::unique_ptr<net::PeerPort>>(net::PeerPort::OnFrame on_frame)>;

  /// Listens at once; the runtime must outlive the sessions. Fails as `open_port` does.
  [[nodiscard]] static engine::Result<std::unique_ptr<WorkerSessions>> open(Runtime& runtime,
                                                                            const OpenPort& open_port,
                                                                            Settings settings);
  WorkerSessions(const WorkerSessions&) = delete;
  WorkerSessions& operator=(const WorkerSessions&) = delete;

  [[nodiscard]] std::string endpoint() const { return port_->endpoint(); }

  /// From now on, workers learn that the daemon serves contexts there.
  void announce_http(std::string address) { http_ = std::move(address); }

  /// The worker whose present session got this key in its WELCOME.
  [[nodiscard]] std::optional<engine::WorkerId> worker_of_http_key(std::string_view key) const;
  [[nodiscard]] bool is_http_key(std::string_view key) const { return worker_of_http_key(key).has_value(); }

  /// Carries out one order of the engine.
  void carry_out(const engine::Order& order);

  [[nodiscard]] bool connected(engine::WorkerId worker) const;
  /// The public key of its session; "" = it has none.
  [[nodiscard]] std::string key_of(engine::WorkerId worker) const;

  /// Attempts that the worker holds and the log does not have. They keep running until an operator adopts or
  /// disowns them.
  [[nodiscard]] std::vector<engine::HeldAttempt> on_hold(engine::WorkerId worker) const;
  /// The last report of a running program, from its worker's last beat; in memory only. Null: there was no
  /// report or no beat yet.
  struct Heard {
    engine::Units step{};                             ///< Highest reported step.
    engine::Instant at;                               ///< Time of its last message.
    std::optional<proto::Utilization> utilization{};  ///< What it used lately, if that was measured.
  };
  [[nodiscard]] std::optional<Heard> last_activity_of(engine::WorkerId worker,
                                                      const engine::AttemptKey& key) const;
  /// The same for all of the worker's attempts.
  [[nodiscard]] std::map<engine::AttemptKey, Heard> last_activity(engine::WorkerId worker) const;
  /// Calls `visit` with what each of the worker's attempts used of its machine lately, if that was measured.
  void for_each_utilization(engine::WorkerId worker,
                            const std::function<void(const proto::Utilization&)>& visit) const;
  /// Fields of a worker's HELLO that are not in the log. "" = not sent.
  struct About {
    std::string kills_by;  ///< How it finds the processes of a program that it kills: "cgroup" or "process
                           ///< table".
    std::string host;      ///< The name of its machine.
    std::string version;   ///< Version of its program.
  };
  [[nodiscard]] About about(engine::WorkerId worker) const;
  /// When its last message arrived; null: none has since this daemon was started.
  [[nodiscard]] std::optional<engine::Instant> heard_at(engine::WorkerId worker) const;
  /// Why it cannot store checkpoints of experiments that name no storage, or "".
  [[nodiscard]] std::string checkpoint_problem(engine::WorkerId worker) const;
  /// The number of reports for attempts whose trials other workers, or no workers, had by then.
  [[nodiscard]] std::uint64_t late_reports() const noexcept { return late_reports_; }
  [[nodiscard]] const WorkerCounts& counts() const noexcept { return counts_; }

  /// Requests a part of a log from an attempt's worker; `answer` is called once. unavailable: the worker is
  /// disconnected.
  struct LogQuestion {
    engine::WorkerId worker;
    engine::AttemptKey key;
    std::string stream;
    std::uint64_t offset = 0;
    std::uint64_t limit = 0;
    bool from_end = false;
    std::uint64_t process = 0;  ///< Number of the process on that worker.
  };
  void read_log(const LogQuestion& question, LogAnswer answer);

  /// Accepts no more frames and fails pending requests for logs.
  void stop();

 private:
  struct Session {
    engine::WorkerId worker;
    std::uint64_t epoch = 0;
    std::uint64_t sent = 0;
    std::uint64_t newest = 0;  ///< Highest number of a received message.
    bool superseded = false;
    engine::Instant superseded_at;
    std::string key;  ///< The key with which it was admitted; "" if keys are not checked.
    std::string http_key_hash{};
  };
  /// One run of an agent: two agents that differ only in this are copies of one state directory.
  struct Agent {
    std::uint64_t incarnation = 0;
    std::string boot_id;
    std::uint64_t pid = 0;
    std::uint64_t nonce = 0;
  };
  struct Counterpart {
    net::Peer peer;  ///< Connection of its newest session.
    Agent agent;
    About about;
    std::string checkpoint_problem;                          ///< From its last beat.
    std::map<engine::AttemptKey, Heard> progress;            ///< From its last beat.
    std::string cloned;                                      ///< Why this incarnation is refused, or "".
    std::map<engine::AttemptKey, engine::HeldAttempt> held;  ///< From its last HELLO.
    std::map<engine::AttemptKey, engine::HeldAttempt> on_hold;
    std::vector<engine::AttemptKey> in_doubt;   ///< Its HELLO did not name them, and it has sent no message
                                                ///< since.
    std::optional<engine::Instant> heard_at{};  ///< When its last message arrived.
    std::uint64_t hello = 0;                    ///< Number of its newest HELLO, as its agent counts them.
    std::uint32_t welcomes_due = 0;             ///< Number of its HELLOs whose answers are in transit.
    bool welcomed = false;
    std::optional<std::uint64_t> shared;  ///< SharedSlots::number of its last message that had one.
    WorkerOutbox outbox;
  };
  WorkerSessions(Runtime& runtime, Settings settings);

  void take_frame(const net::Peer& peer, std::span<const std::byte> frame);
  /// A frame from the owner of an invite.
  void take_from_guest(const net::Peer& peer, std::span<const std::byte> frame);
  [[nodiscard]] bool has_room_for(const proto::Reports& reports) const;
  [[nodiscard]] bool is_allowed(const net::Peer& peer, proto::Hello& hello);
  void end_what_is_not_allowed();
  [[nodiscard]] bool is_clone(const net::Peer& peer, const proto::Hello& hello);
  void greet(const net::Peer& peer, const proto::Envelope& envelope, const proto::Hello& hello);
  /// Gives a worker that has joined a session; its earlier session gets no more orders.
  void begin_session(const net::Peer& peer, const proto::Envelope& envelope, const proto::Hello& hello,
                     engine::WorkerId worker);
  void take(const net::Peer& peer, engine::WorkerId worker, const proto::FromWorker& message);
  void take_beat(engine::WorkerId worker, const proto::Beat& beat);
  void take_shared(engine::WorkerId worker, const proto::SharedSlots& shared);
  void end_session(const net::Peer& peer);
  void end_sessions_of_the_lost();
  /// `incarnation` is that of the HELLO which this answers; 0 if it answers none.
  void refuse(const net::Peer& peer, Refusal kind, const std::string& why, std::uint64_t incarnation);
  void ask_for_hello(const net::Peer& peer);
  void note_heard(Counterpart& counterpart);

  bool send(engine::WorkerId worker, const proto::FromDaemon& message);
  bool send_to(const net::Peer& peer, std::uint64_t session_epoch, std::uint64_t number,
               const proto::FromDaemon& message);
  /// An attempt that no worker could start ends, with the reason.
  void set_places(jobs::LaunchSpec& spec) const;
  void end_unstarted(engine::WorkerId worker, const engine::AttemptKey& key, const std::string& why);
  void launch_acknowledged(engine::WorkerId worker, const engine::AttemptKey& key);
  void tick();
  [[nodiscard]] std::string name_of(engine::WorkerId worker) const;
  [[nodiscard]] std::uint64_t beat_every_ms() const;
  [[nodiscard]] std::uint64_t credit() const;

  Runtime& runtime_;
  Settings settings_;
  jobs::Programs programs_;
  HelloLimit hello_limit_;
  std::optional<std::uint64_t> keys_seen_{};
  std::uint64_t late_reports_ = 0;
  WorkerCounts counts_;
  std::string http_;
  std::uint64_t sessions_made_ = 0;
  std::map<net::Peer, Session> sessions_;
  std::set<net::Peer> joining_;  ///< Their JOIN is on its way to the disk.
  std::map<engine::WorkerId, Counterpart> counterparts_;
  LogRequests log_requests_;
  bool stopped_ = false;
  net::Watch clock_;
  std::unique_ptr<net::PeerPort> port_;
};

}  // namespace hpsearch::daemon
