#include "simulation/cluster/nodes/daemon_node.hpp"

#include <cerrno>
#include <chrono>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/store/memory_store.hpp"
#include "daemon/store/sqlite_store.hpp"
#include "hpsearch/searchers/registry.hpp"
#include "simulation/cluster/faults/probes.hpp"

namespace hpsearch::simulation {

using engine::Duration;

namespace {

// The most that a daemon does not notice of its own standing still.
constexpr Duration own_silence = Duration::seconds(15);

// Lives are short: small numbers, so that there are checkpoints in them.
constexpr int pages_per_checkpoint = 60;

}  // namespace

class DaemonNode::Port final : public net::PeerPort {
 public:
  explicit Port(DaemonNode& node) : node_(node) {}
  [[nodiscard]] std::string endpoint() const override { return "simulated"; }
  bool send(const net::Peer& peer, std::span<const std::byte> frame) override {
    return node_.send(peer, frame);
  }

 private:
  DaemonNode& node_;
};

DaemonNode::DaemonNode(VirtualTime& time, Faults& faults, Network& network, Promises& promises,
                       engine::Patience patience, StoreKind store, std::uint64_t seed)
    : time_(time),
      faults_(faults),
      network_(network),
      promises_(promises),
      patience_(patience),
      draw_(seed, engine::TrialNumber(0), "daemon"),
      process_(time),
      forget_after_(Duration::seconds(static_cast<std::int64_t>(
          600 + engine::Draw(seed, engine::TrialNumber(0), "forget").below(36'000)))) {
  disk_.kind = store;
}

DaemonNode::~DaemonNode() = default;

void DaemonNode::boot() {
  if (process_.alive()) {
    return;
  }
  ++starts_;
  began_ = time_.now();
  promises_.daemon_began();
  ending_ = false;
  // The wall clock may say anything when a machine starts.
  const std::int64_t ten_years = 315'360'000;
  const Duration wrong =
      faults_.strikes(Fault::wall_clock_jump)
          ? Duration::seconds(static_cast<std::int64_t>(draw_.below(2 * ten_years)) - ten_years)
          : Duration{};
  process_.begin(time_.now() + Duration::seconds(2 * ten_years) + wrong);
  disk_failed_ = false;
  if (const engine::Status recovered = recover(); !recovered) {
    if (!disk_failed_) {
      promises_.break_because("I1: the daemon does not recover: " + recovered.error().message);
    }
    crash();
    return;
  }
  promises_.recovered(runtime_->engine());
  auto sessions = daemon::WorkerSessions::open(
      *runtime_,
      [this](net::PeerPort::OnFrame on_frame) -> engine::Result<std::unique_ptr<net::PeerPort>> {
        on_frame_ = std::move(on_frame);
        return std::unique_ptr<net::PeerPort>(std::make_unique<Port>(*this));
      },
      {.checkpoint_root = "/checkpoints", .credit = credit_rules()});
  sessions_ = std::move(sessions).value();
  runtime_->start([this](const engine::Order& order) { sessions_->carry_out(order); },
                  [this](const engine::Error&) { crash(); });
  lost_workers_ = std::make_unique<daemon::LostWorkers>(
      *runtime_, daemon::LostWorkers::Settings{.forget_after = forget_after_});
  network_.daemon_listens();
}

/// Lives are short, and so are queues: what counts as long and as little fits them.
daemon::CreditRules DaemonNode::credit_rules() {
  daemon::CreditRules rules;
  if (faults_.strikes(Fault::daemon_under_load)) {
    rules.calm_events = draw_.below(4);
    rules.most = 400 + draw_.below(4'000);
    rules.least = 1 + draw_.below(rules.most);
    rules.under_way_bytes = draw_.below(3 * rules.most);
  }
  return rules;
}

engine::Result<std::unique_ptr<daemon::EventStore>> DaemonNode::open_store() {
  if (disk_.kind == StoreKind::model) {
    return std::unique_ptr<daemon::EventStore>(std::make_unique<daemon::MemoryStore>(disk_.log));
  }
  mount_ = std::make_unique<MountedDisk>(disk_.files);
  mount_->before = [this](DiskCall call, const std::string&) { return before_storage_call(call); };
  auto opened = daemon::SqliteStore::open("/state/events.db", {*mount_, pages_per_checkpoint});
  if (!opened) {
    return opened.error();
  }
  return std::unique_ptr<daemon::EventStore>(std::move(opened).value());
}

engine::Status DaemonNode::recover() {
  auto opened = open_store();
  if (!opened) {
    return opened.error();
  }
  store_ = std::make_unique<SimulatedStore>(
      std::move(opened).value(), disk_,
      SimulatedStore::Surroundings{time_, process_, faults_, promises_, [this] { crash(); }});
  runtime_ = std::make_unique<daemon::Runtime>(process_, *store_, searchers::registry(), patience_,
                                               on_a_slow_disk(process_, faults_, draw_));
  if (engine::Status recovered = runtime_->recover(); !recovered) {
    return recovered;
  }
  if (!process_.alive()) {
    return engine::Error{engine::Errc::unavailable, "the machine died"};
  }
  const std::vector<engine::Event> in_doubt = std::exchange(disk_.in_doubt, {});
  if (!in_doubt.empty()) {
    const bool there = runtime_->engine().last_lsn() >= in_doubt.back().lsn;
    reached(there ? Probe::recovered_a_group_in_doubt : Probe::lost_a_group_in_doubt);
    if (there) {
      promises_.committed(in_doubt);
    }
  }
  return engine::Done{};
}

int DaemonNode::before_storage_call(DiskCall call) {
  if (faults_.strikes(Fault::crash_at_a_storage_call)) {
    disk_failed_ = true;
    crash();
    return EIO;
  }
  // Most calls are writes: one that fails is rarer than a sync that does.
  if ((call != DiskCall::write || mount_->calls() % 8 == 0) && faults_.strikes(Fault::disk_error)) {
    disk_failed_ = true;
    return EIO;
  }
  const bool needs_room =
      call == DiskCall::write || call == DiskCall::create || call == DiskCall::make_directory;
  if (needs_room && disk_.full_until > time_.now()) {
    disk_failed_ = true;
    return ENOSPC;
  }
  return 0;
}

Duration DaemonNode::usual_absence() {
  if (faults_.strikes(Fault::daemon_away_long)) {
    return Duration::seconds(
        static_cast<std::int64_t>(60 + draw_.below(draw_.below(3) == 0 ? 86'400 : 1'800)));
  }
  return Duration::millis(static_cast<std::int64_t>(20 + draw_.below(5'000)));
}

void DaemonNode::crash() {
  end(false);
}

void DaemonNode::stay_away(Duration away) {
  end(false, away);
}

void DaemonNode::end(bool cleanly, std::optional<Duration> away) {
  if (!process_.alive()) {
    return;
  }
  process_.kill();
  promises_.daemon_ended();
  welcomed_.clear();
  told_leases_.clear();
  told_decisions_.clear();
  network_.daemon_is_gone();
  if (mount_ && !cleanly) {
    mount_->die();
    if (faults_.strikes(Fault::power_lost)) {
      disk_.files.lose_power(draw_);
    }
  }
  // We may be deep inside its own code.
  time_.at(time_.now(), [this, start = starts_] {
    if (start == starts_) {
      draining_ = net::Watch{};
      lost_workers_.reset();
      sessions_.reset();
      runtime_.reset();
      if (mount_) {
        mount_->before = {};  // A clean end closes the store, and nothing goes wrong any more.
      }
      store_.reset();
      mount_.reset();
    }
  });
  start_again_after(away ? *away : usual_absence());
}

void DaemonNode::upgrade() {
  if (!listening()) {
    return;
  }
  process_.deliver([this] {
    ending_ = true;
    sessions_->stop();
    runtime_->stop();
    draining_ = process_.every(std::chrono::milliseconds(5), [this] {
      if (runtime_->idle()) {
        promises_.settled(runtime_->engine());
        end(true);
      }
    });
  });
}

void DaemonNode::start_again_after(Duration away) {
  time_.after(away, [this, start = starts_] {
    if (start == starts_) {
      boot();
    }
  });
}

void DaemonNode::on_event(const net::Peer& peer, const Frame& frame, std::vector<engine::Instant>& heard) {
  // What it takes from a session that is over says nothing of who is there now.
  const auto session = welcomed_.find(peer);
  const bool is_there = session != welcomed_.end() && frame.session == session->second;
  const engine::Instant arrived = time_.now();
  if (is_there) {
    heard.push_back(arrived);
  } else if (frame.session == 0) {
    // A HELLO ends the session before it at once; that it is answered waits for the disk.
    end_sessions_of(peer);
  }
  process_.deliver([this, peer, frame, is_there, arrived, &heard] {
    // It came while the daemon stood still for a moment, over a connection that ended meanwhile: it is of no
    // session any more. A longer standstill is noticed, and then everybody counts as heard.
    if (is_there && !network_.knows(peer) && time_.now() - arrived <= own_silence) {
      std::erase(heard, arrived);
    }
    on_frame_(peer, *frame);
  });
}

daemon::Runtime* DaemonNode::listening() noexcept {
  return process_.alive() && !process_.stopped() && !ending_ ? runtime_.get() : nullptr;
}

const engine::Engine* DaemonNode::settled() const noexcept {
  return process_.alive() && runtime_->idle() ? &runtime_->engine() : nullptr;
}

void DaemonNode::pause(Duration time) {
  if (time > own_silence && process_.alive()) {
    reached(Probe::silence_while_the_daemon_stood_still);
  }
  process_.stop_for(time);
}

void DaemonNode::end_sessions_of(const net::Peer& peer) {
  if (std::erase_if(welcomed_, [&](const auto& other) { return network_.same_worker(other.first, peer); }) >
      0) {
    reached(Probe::session_superseded);
  }
}

void DaemonNode::observe(const net::Peer& peer, std::uint64_t session, const proto::FromDaemon& message) {
  if (session != 0 && !welcomed_.contains(peer)) {
    // It listens to the session it speaks in; the HELLO since then came too late to begin another.
    end_sessions_of(peer);
    welcomed_[peer] = session;
  }
  if (std::holds_alternative<proto::Welcome>(message)) {
    welcomed_[peer] = session;
  } else if (std::holds_alternative<proto::Resync>(message)) {
    welcomed_.erase(peer);  // Whoever is there has to say HELLO first.
  } else if (const auto* lease = std::get_if<proto::Lease>(&message)) {
    if (!told_leases_.insert(engine::Lsn(lease->spec.key.lease.number())).second) {
      reached(Probe::lease_told_again);
    }
  } else if (const auto* decide = std::get_if<proto::Decide>(&message)) {
    if (!told_decisions_.insert(decide->decision.id).second) {
      reached(Probe::decision_told_again);
    }
  } else if (std::holds_alternative<proto::Fenced>(message)) {
    reached(Probe::reports_of_a_superseded_attempt);
  } else if (std::holds_alternative<proto::Hold>(message)) {
    reached(Probe::attempt_put_on_hold);
  } else if (std::holds_alternative<proto::Nack>(message)) {
    reached(Probe::reports_asked_for_again);
  }
}

bool DaemonNode::send(const net::Peer& peer, std::span<const std::byte> frame) {
  if (!process_.alive()) {
    return true;  // Nobody is there any more to whom it matters.
  }
  if (faults_.strikes(Fault::daemon_crash_while_speaking)) {
    crash();
    return true;
  }
  std::uint64_t session = 0;
  if (const auto framed = proto::decode_from_daemon(frame)) {
    session = framed->envelope.session_epoch;
    promises_.ordered(framed->message);
    if (network_.honest(peer)) {
      promises_.told(framed->message);
    }
    observe(peer, session, framed->message);
  } else {
    promises_.break_because("the daemon sends what nobody can read: " + framed.error().message);
  }
  const bool sent = network_.send_to_worker(peer, Frame(proto::Bytes(frame.begin(), frame.end()), session));
  if (!sent) {
    welcomed_.erase(peer);  // The daemon gives the session up.
  }
  return sent;
}

}  // namespace hpsearch::simulation
