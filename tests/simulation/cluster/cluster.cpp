#include "simulation/cluster/cluster.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>

#include "hpsearch/engine/base/text.hpp"
#include "simulation/cluster/faults/foreign_store.hpp"
#include "simulation/invariants.hpp"

namespace hpsearch::simulation {
namespace {

using engine::Duration;
using engine::Instant;

// Checks that look at everything are made so often, in things that happened; in one life of a hundred after
// each.
constexpr std::uint64_t look_closely_every = 512;
constexpr std::uint64_t lives_looked_at_closely = 100;
// Healed, a search must end within this: every training left, one after the other, and the longest waits.
constexpr Duration bounded_end = Duration::seconds(10LL * 24 * 3'600);
// Two frames of the largest size per window: what one connection may have under way.
constexpr std::size_t most_bytes_under_way = std::size_t{16} << 20U;

class Cluster {
 public:
  Cluster(const RunOptions& options, Faults faults)
      : seed_(options.seed),
        draw_(options.seed, engine::TrialNumber(0), "cluster"),
        faults_(faults),
        hours_(options.hours > 0 ? options.hours : 1 + 7.2 * draw_.unit()),
        workers_wanted_(1 + draw_.below(4)),
        store_(options.store.value_or(
            engine::Draw(options.seed, engine::TrialNumber(0), "store").below(4) == 0 ? StoreKind::sqlite
                                                                                      : StoreKind::model)),
        lost_after_(Duration::seconds(static_cast<std::int64_t>(60 + draw_.below(600)))),
        network_(time_, faults_, seed_, workers_wanted_ + 2, 2,
                 {[this](const net::Peer& peer, std::size_t worker, const Frame& frame) {
                    if (foreign_answers_) {
                      if (worker < workers_.size()) {
                        workers_[worker]->meets_a_foreign_store();
                      }
                      foreign_.on_event(peer, frame);
                      return;
                    }
                    daemon_.on_event(peer, frame, heard_[worker]);
                  },
                  [this](std::size_t worker, const Frame& frame) { on_event(worker, frame); }}),
        promises_(time_),
        daemon_(time_, faults_, network_, promises_,
                engine::Patience{std::min(Duration::seconds(45), lost_after_), lost_after_}, store_, seed_),
        users_(time_, faults_, daemon_, promises_, seed_),
        stranger_(time_, faults_, network_, promises_, workers_wanted_, seed_),
        liar_(time_, faults_, network_, promises_, workers_wanted_ + 1, seed_),
        foreign_(network_),
        heard_(workers_wanted_ + 2) {
    for (std::size_t number = 0; number < workers_wanted_; ++number) {
      workers_.push_back(std::make_unique<WorkerNode>(time_, faults_, network_, promises_, bereaved_, number,
                                                      1 + draw_.below(3), seed_));
    }
    if (options.trace) {
      traced_ = true;
      network_.watch([this](const std::string& line) { trace(line); });
      promises_.watch([this](const std::string& line) { trace(line); });
    }
    promises_.ask({[this](const engine::AttemptKey& key, const std::string& uid) { return runs(key, uid); },
                   [this](const engine::AttemptKey& key, const std::string& uid, Instant at) {
                     return held_and_known(key, uid, at);
                   },
                   [this](engine::ExperimentId experiment, engine::TrialNumber trial) {
                     return flaw_of(faults_, seed_, experiment, trial) != Flaw::none;
                   }});
    users_.may_ask_for(slots_of_a_gang());
  }

  RunResult run() {
    daemon_.boot();
    for (const auto& worker : workers_) {
      worker->boot();
    }
    users_.submit();
    plan_submissions();
    for (const FaultKind& kind : fault_kinds()) {
      plan(kind);
    }
    const Instant end_of_faults = time_.now() + Duration::micros(static_cast<std::int64_t>(hours_ * 3.6e9));
    const Instant began = time_.now();
    run_until([&] { return time_.now() >= end_of_faults; });
    if (promises_.broken().empty()) {
      heal();
      const Instant limit = time_.now() + bounded_end;
      run_until([&] { return time_.now() >= limit || all_is_done(); });
      if (promises_.broken().empty() && !all_is_done()) {
        promises_.break_because("I7: everything is healed, but " + what_is_left());
      }
    }
    return result(began);
  }

 private:
  template <class Done>
  void run_until(Done done) {
    while (promises_.broken().empty() && !done()) {
      if (!time_.step()) {
        promises_.break_because("I7: nothing is left to happen");
      }
      if (seed_ % lives_looked_at_closely == 1 || time_.happened() % look_closely_every == 0) {
        look_closely();
      }
    }
  }

  void look_closely() {
    if (const engine::Engine* live = daemon_.settled()) {
      promises_.settled(*live);
    }
    if (network_.most_under_way() > most_bytes_under_way) {
      promises_.break_because("I8: " + std::to_string(network_.most_under_way()) + " bytes are on one wire");
    }
  }

  void trace(const std::string& line) const {
    std::cerr << time_.now().micros() / 1'000 << " ms  " << line << '\n';
  }

  // --- witnesses ---

  bool runs(const engine::AttemptKey& key, const std::string& uid) const {
    return std::any_of(workers_.begin(), workers_.end(), [&](const auto& worker) {
      return (uid.empty() || worker->uid() == uid) && worker->runs(key);
    });
  }
  /// Twice what the second largest worker has: it fits on the largest, or on these two, and on no other.
  std::uint64_t slots_of_a_gang() const {
    std::vector<std::uint64_t> sizes;
    for (const auto& worker : workers_) {
      sizes.push_back(worker->slots());
    }
    std::sort(sizes.rbegin(), sizes.rend());
    return sizes.size() < 2 ? 0 : 2 * sizes[1];
  }
  bool held_and_known(const engine::AttemptKey& key, const std::string& uid, Instant at) const {
    for (std::size_t number = 0; number < workers_.size(); ++number) {
      if ((uid.empty() || workers_[number]->uid() == uid) && workers_[number]->holds(key)) {
        const std::vector<Instant>& heard = heard_[number];
        const auto later = std::upper_bound(heard.begin(), heard.end(), at);
        const Instant last =
            std::max(daemon_.began(), later == heard.begin() ? Instant{} : *std::prev(later));
        return at - last < lost_after_;
      }
    }
    return false;
  }
  void on_event(std::size_t worker, const Frame& frame) {
    if (worker == workers_.size()) {
      stranger_.on_event(frame);
    } else if (worker > workers_.size()) {
      liar_.on_event(frame);
    } else {
      workers_[worker]->on_event(frame);
    }
  }

  // --- what goes wrong, when ---

  void plan_submissions() {
    time_.after(Duration::seconds(static_cast<std::int64_t>(600 + draw_.below(10'000))), [this] {
      if (!healed_) {
        users_.submit();
        plan_submissions();
      }
    });
  }

  void plan(const FaultKind& kind) {
    if (kind.rate != Rate::per_hour || faults_.rate(kind.fault) <= 0) {
      return;
    }
    time_.after(faults_.next(kind.fault), [this, &kind] {
      if (!healed_) {
        strike(kind.fault);
        plan(kind);
      }
    });
  }

  Duration between(std::int64_t least_ms, std::int64_t most_ms) {
    // Evenly in the logarithm: short ones matter as much as long ones.
    const double drawn = static_cast<double>(least_ms) *
                         std::pow(static_cast<double>(most_ms) / static_cast<double>(least_ms), draw_.unit());
    return Duration::millis(static_cast<std::int64_t>(drawn));
  }

  void strike(Fault fault) {
    WorkerNode& worker = *workers_[draw_.below(workers_.size())];
    const std::size_t cable = draw_.below(workers_.size());
    switch (fault) {
      case Fault::daemon_crash:
        daemon_.crash();
        break;
      case Fault::daemon_upgrade:
        daemon_.upgrade();
        break;
      case Fault::daemon_pause:
        daemon_.pause(between(500, 900'000));
        break;
      case Fault::daemon_suspend:
        daemon_.suspend(between(1'000, 7'200'000));
        break;
      case Fault::disk_full:
        daemon_.fill_disk(between(1'000, 1'800'000));
        break;
      case Fault::foreign_store:
        if (!let_another_store_answer(between(1'000, 900'000))) {
          return;
        }
        break;
      case Fault::shims_die_at_once:
        worker.break_shims(between(1'000, 7'200'000));
        break;
      case Fault::devices_in_trouble:
        worker.trouble_devices(between(1'000, 7'200'000));
        break;
      case Fault::worker_disk_full:
        worker.fill_disk(between(1'000, 1'800'000));
        break;
      case Fault::connection_reset:
        network_.reset(cable);
        break;
      case Fault::connection_lost_silently:
        network_.lose_silently(cable);
        break;
      case Fault::partition_both_ways:
        network_.block(cable, true, true, between(500, 3'600'000));
        break;
      case Fault::partition_to_daemon:
        network_.block(cable, true, false, between(500, 3'600'000));
        break;
      case Fault::partition_to_worker:
        network_.block(cable, false, true, between(500, 3'600'000));
        break;
      case Fault::daemon_isolated: {
        const Duration time = between(500, 3'600'000);
        for (std::size_t number = 0; number < workers_.size(); ++number) {
          network_.block(number, true, true, time);
        }
        break;
      }
      case Fault::hello_storm:
        for (std::size_t number = 0; number < workers_.size(); ++number) {
          network_.reset(number);
        }
        break;
      case Fault::frame_replayed:
        network_.replay(cable);
        return;  // Counted where it happens.
      case Fault::frame_of_an_earlier_daemon:
        network_.speak_as_before(cable);
        return;
      case Fault::wall_clock_set:
        set_wall_clock(draw_.below(2) == 0 ? nullptr : &worker);
        break;
      case Fault::agent_crash:
        worker.crash_agent(between(100, 600'000));
        break;
      case Fault::agent_stop:
        worker.stop_agent(between(100, 600'000));
        break;
      case Fault::agent_upgrade:
        worker.leave(between(100, 600'000));
        break;
      case Fault::eviction:
        worker.evict(between(100, 20'000));
        break;
      case Fault::worker_replaced:
        worker.replace(between(20'000, 1'800'000));
        break;
      case Fault::programs_fail_on_a_worker:
        worker.break_programs(between(60'000, 7'200'000));
        // One experiment says nothing about a worker.
        users_.submit_a_large_one();
        users_.submit_a_large_one();
        break;
      case Fault::worker_disk_full_at_a_stop:
        worker.fill_disk(between(10'000, 1'800'000));
        worker.stop_agent(between(100, 600'000));
        break;
      case Fault::shim_crash:
        worker.kill_shim();
        break;
      case Fault::agent_pause:
        worker.pause(between(500, 900'000));
        break;
      case Fault::node_reboot:
        worker.reboot(between(20'000, 1'800'000));
        break;
      case Fault::node_suspend:
        worker.suspend(between(1'000, 3'600'000));
        break;
      case Fault::random_bytes:
      case Fault::foreign_reports:
      case Fault::forged_lease:
      case Fault::raised_epoch:
      case Fault::stolen_name:
      case Fault::second_name:
        stranger_.act(fault, worker.uid());
        return;
      case Fault::lying_worker:
        liar_.lie();
        return;
      case Fault::user_pause:
      case Fault::user_cancel:
      case Fault::user_kill:
      case Fault::user_ends_trial:
      case Fault::user_changes_limits:
      case Fault::user_quarantines_worker:
        users_.act(fault);
        return;
      default:
        return;
    }
    faults_.struck(fault);
    if (traced_) {
      trace("fault " + std::string(fault_kinds()[static_cast<std::size_t>(fault)].name) + " (worker " +
            worker.uid() + ", cable " + std::to_string(cable) + ")");
    }
  }

  /// While the daemon is down. False when it is down already.
  bool let_another_store_answer(Duration time) {
    if (daemon_.listening() == nullptr) {
      return false;
    }
    daemon_.stay_away(time + Duration::millis(200));
    time_.after(Duration::millis(100), [this] {
      foreign_answers_ = true;
      network_.daemon_listens();
    });
    time_.after(time, [this] {
      foreign_answers_ = false;
      network_.daemon_is_gone();
    });
    return true;
  }

  /// Of a worker's machine, or of the daemon's: by a second to ten years, forwards or back.
  void set_wall_clock(WorkerNode* worker) {
    const Duration by = between(1'000, 315'360'000'000);
    const Duration set = draw_.below(2) == 0 ? by : Duration::micros(-by.in_micros());
    if (worker != nullptr) {
      worker->set_wall_clock(set);
    } else {
      daemon_.set_wall_clock(set);
    }
  }

  // --- the second phase ---

  void heal() {
    healed_ = true;
    faults_.calm_all();
    daemon_.heal();
    network_.heal();
    keep_resuming();
  }
  void keep_resuming() {
    users_.undo_all();
    time_.after(Duration::seconds(60), [this] { keep_resuming(); });
  }

  bool all_is_done() {
    if (users_.unanswered() > 0) {
      return false;
    }
    const engine::Engine* live = daemon_.settled();
    return live != nullptr &&
           std::all_of(live->experiments().begin(), live->experiments().end(),
                       [](const auto& entry) { return engine::is_ended(entry.second.state); }) &&
           std::all_of(live->workers().begin(), live->workers().end(), [](const auto& entry) {
             return entry.second.leaked_processes.empty() || entry.second.uid == liar_uid;
           });
  }
  std::string what_is_left() const {
    std::string text;
    for (const auto& [id, record] : promises_.fold().experiments()) {
      if (!engine::is_ended(record.state)) {
        text += "experiment " + std::to_string(id.number()) + " is " +
                std::string(engine::name_of(record.state)) + " with";
        for (std::size_t i = 0; i < record.trials.size(); ++i) {
          const engine::TrialRecord& trial = record.trials[i];
          if (!engine::is_closed(trial.state)) {
            text += " trial " + std::to_string(i) + " " + std::string(engine::name_of(trial.state)) +
                    (trial.live ? " on worker " + std::to_string(trial.live->worker.number()) : "");
          }
        }
        text += "; ";
      }
    }
    for (const auto& [id, worker] : promises_.fold().workers()) {
      if (!worker.leaked_processes.empty() && worker.uid != liar_uid) {
        text += "slots of worker " + std::to_string(id.number()) + " are in quarantine; ";
      }
    }
    return text.empty() ? "a user has no answer" : text;
  }

  RunResult result(Instant began) const {
    RunResult result;
    result.broken = promises_.broken();
    result.digest = promises_.digest() ^ network_.digest();
    result.simulated_hours = (time_.now() - began).in_seconds() / 3'600;
    result.happened = time_.happened();
    result.events = promises_.events();
    result.frames = network_.frames();
    result.faults = faults_.counts();
    result.kinds = promises_.kinds();
    result.options = "hours=" + std::to_string(hours_) + " workers=" + std::to_string(workers_wanted_) +
                     " lost_after=" + std::to_string(lost_after_.in_micros() / 1'000'000) +
                     "s store=" + (store_ == StoreKind::sqlite ? "sqlite " : "model ") + faults_.describe();
    return result;
  }

  std::uint64_t seed_;
  engine::Draw draw_;
  VirtualTime time_;
  Faults faults_;
  double hours_;
  std::size_t workers_wanted_;
  StoreKind store_;
  Duration lost_after_;
  Network network_;
  Promises promises_;
  DaemonNode daemon_;
  std::set<engine::AttemptKey> bereaved_;
  std::vector<std::unique_ptr<WorkerNode>> workers_;
  Users users_;
  Stranger stranger_;
  Liar liar_;
  ForeignStore foreign_;
  bool foreign_answers_ = false;
  std::vector<std::vector<Instant>> heard_;  // Of each worker: when.
  bool healed_ = false;
  bool traced_ = false;
};

}  // namespace

engine::Result<RunResult> run_cluster(const RunOptions& options) {
  Faults faults(options.seed);
  for (const auto& [name, rate] : options.rates) {
    if (auto set = faults.set(name, rate); !set) {
      return set.error();
    }
  }
  return Cluster(options, faults).run();
}

std::string replay_command(const RunOptions& options) {
  std::string command = "hpsearch-sim --seeds " + std::to_string(options.seed);
  if (options.hours > 0) {
    command += " --hours " + engine::python_float(options.hours);
  }
  if (options.store) {
    command += *options.store == StoreKind::sqlite ? " --store sqlite" : " --store model";
  }
  for (const auto& [name, rate] : options.rates) {
    command += " --option " + name + "=" + engine::python_float(rate);
  }
  return command;
}

}  // namespace hpsearch::simulation
