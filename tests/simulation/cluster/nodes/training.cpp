#include "simulation/cluster/nodes/training.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

namespace hpsearch::simulation {
namespace {

using engine::Duration;

std::string digits(double value) {
  if (std::isnan(value)) {
    return "NaN";
  }
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

Duration millis(std::uint64_t count) {
  return Duration::millis(static_cast<std::int64_t>(count));
}

}  // namespace

Training::Training(VirtualTime& time, Faults& faults, const jobs::LaunchSpec& spec, std::uint64_t seed,
                   Surroundings world)
    : time_(time),
      faults_(faults),
      spec_(spec),
      world_(std::move(world)),
      draw_(seed, engine::TrialNumber(spec.key.lease.number()), "training"),
      voice_(draw_.below(4) == 0 ? Voice::stdout_lines : Voice::socket),
      ignores_sigterm_(faults.strikes(Fault::program_ignores_sigterm)),
      leaves_children_(faults.strikes(Fault::program_leaves_children)),
      saves_(draw_.below(3) != 0),
      step_time_(draw_.below(6) == 0 ? millis(100 + draw_.below(1'500))
                                     : millis(20'000 + draw_.below(400'000))),
      step_(engine::count(spec.latest_step)),
      length_(engine::count(spec.length)),
      flaw_(flaw_of(faults, seed, spec.key.experiment, spec.key.trial)) {
  const std::uint64_t some_step =
      step_ + 1 + draw_.below(std::max<std::uint64_t>(1, length_ - std::min(length_, step_)));
  if (faults.strikes(Fault::program_crash)) {
    fails_at_ = some_step;
    exit_code_ = draw_.below(2) == 0 ? 1 : -11;
  } else if (faults.strikes(Fault::program_asks_to_run_again)) {
    fails_at_ = some_step;
    exit_code_ = 75;
  } else if (faults.strikes(Fault::program_exits_without_metric)) {
    leaves_at_ = some_step;
  } else if (faults.strikes(Fault::program_hang)) {
    hangs_at_ = some_step;
  } else if (faults.strikes(Fault::invalid_hyperparameters)) {
    invalid_ = true;
  }
}

void Training::after(Duration wait, std::function<void()> task) {
  time_.after(wait, [state = state_, task = std::move(task)] {
    if (state->alive && !state->stuck) {
      task();
    }
  });
}

void Training::start() {
  if (flaw_ == Flaw::exits_at_once) {
    faults_.struck(Fault::configuration_exits_at_once);
    after(millis(500), [this] { end(false, 1); });
    return;
  }
  if (flaw_ == Flaw::kills_its_shim) {
    faults_.struck(Fault::configuration_kills_its_shim);
    after(millis(500), [kill = world_.kill_shim] { kill(); });
    return;
  }
  after(millis(500 + draw_.below(5'000)), [this] {
    if (invalid_ && voice_ == Voice::socket) {
      world_.reported_invalid();
      state_->waits = true;
      world_.say(true, R"({"type":"invalid_hyperparameters","why":"as it was told to"})", std::nullopt);
      return;
    }
    train_one_step();
  });
}

void Training::fail_at_once() {
  after(millis(500), [this] { end(false, 1); });
}

void Training::train_one_step() {
  after(step_time_, [this] {
    ++step_;
    if (world_.peer_is_gone()) {
      end(false, 1);  // As trainings fail of a connection that breaks: long before anybody else knows.
    } else if (fails_at_ == step_) {
      end(exit_code_ < 0, std::abs(exit_code_));
    } else if (leaves_at_ == step_) {
      end(false, 0);
    } else if (hangs_at_ == step_) {
      after(Duration::seconds(600 + static_cast<std::int64_t>(draw_.below(7'200))), [this] { report(); });
    } else {
      report();
    }
  });
}

void Training::report() {
  const double good = draw_.unit() / static_cast<double>(step_);
  const double score =
      faults_.strikes(Fault::program_reports_nan) ? std::numeric_limits<double>::quiet_NaN() : good;
  std::uint64_t step = step_;
  if (step > 1 && faults_.strikes(Fault::program_reports_out_of_order)) {
    step = draw_.below(step);
  }
  world_.measured(engine::Units{step}, score);
  if (voice_ == Voice::socket) {
    state_->waits = true;
    world_.say(true,
               R"({"type":"report","step":)" + std::to_string(step) + R"(,"metrics":{"score":)" +
                   digits(score) + "}}",
               engine::Units{step});
    return;
  }
  world_.say(false, R"({"step":)" + std::to_string(step) + R"(,"score":)" + digits(score) + "}",
             std::nullopt);
  if (step_ < length_) {
    train_one_step();
  } else {
    after(millis(100 + draw_.below(3'000)), [this] { end(false, 0); });
  }
}

void Training::on_event(const std::string& line) {
  if (!state_->alive || !state_->waits || state_->stuck) {
    return;
  }
  state_->waits = false;
  if (std::exchange(state_->saving, false)) {
    if (ending_) {
      after(millis(50 + draw_.below(2'000)), [this] { end(false, 0); });
    } else {
      train_one_step();
    }
    return;
  }
  if (line.find(R"("continue")") == std::string::npos) {
    ending_ = true;
    if (saves_ && line.find("error") == std::string::npos && !invalid_) {
      state_->waits = true;
      state_->saving = true;
      world_.say(true, R"({"type":"checkpoint","step":)" + std::to_string(step_) + "}", std::nullopt);
    } else {
      after(millis(50 + draw_.below(2'000)), [this] { end(false, 0); });
    }
    return;
  }
  if (!said_twice_ && faults_.strikes(Fault::program_reports_twice)) {
    said_twice_ = true;
    report();
    return;
  }
  said_twice_ = false;
  if (saves_ && draw_.below(4) == 0) {
    state_->waits = true;
    state_->saving = true;
    world_.say(true, R"({"type":"checkpoint","step":)" + std::to_string(step_) + "}", std::nullopt);
    return;
  }
  train_one_step();
}

void Training::terminate() {
  if (state_->alive && !ignores_sigterm_) {
    after(millis(10 + draw_.below(4'000)), [this] { end(true, 15); });
  }
}

void Training::kill() {
  if (state_->alive) {
    leaves_children_ = false;  // They are killed with it.
    if (state_->stuck) {
      return;
    }
    // Now and then it is stuck in the kernel for a while, or for long.
    const std::uint64_t time = 1 + draw_.below(draw_.below(4) == 0 ? 5'000 : 20);
    const bool for_long = faults_.strikes(Fault::program_survives_sigkill);
    state_->stuck = for_long;
    time_.after(millis(for_long ? 61'000 + draw_.below(7'200'000) : time), [this, state = state_] {
      if (state->alive) {
        end(true, 9);
      }
    });
  }
}

void Training::end(bool by_signal, int code) {
  if (!std::exchange(state_->alive, false)) {
    return;
  }
  const Duration children = leaves_children_ ? millis(100 + draw_.below(20'000)) : Duration{};
  world_.ended(by_signal, code, children);
}

}  // namespace hpsearch::simulation
