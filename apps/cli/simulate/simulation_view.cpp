#include "cli/simulate/simulation_view.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/proto/api/trials.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/sentences/reason.hpp"

namespace hpsearch::cli {

using engine::Instant;
using engine::TrialNumber;
using engine::Units;
using engine::Value;
using engine::sim::Decided;
using engine::sim::DurationModel;
using engine::sim::Improvement;
using engine::sim::Simulated;
using engine::sim::SimulatedTrial;

namespace {

Value integer(std::uint64_t number) {
  return static_cast<std::int64_t>(number);
}
/// A sum, as a real number if it is too large for an integer.
Value integer(engine::Cardinality sum) {
  return sum <= static_cast<engine::Cardinality>(INT64_MAX) ? Value(static_cast<std::int64_t>(sum))
                                                            : Value(static_cast<double>(sum));
}
engine::Cardinality trained_full(const Simulated& simulated) {
  return engine::Cardinality{engine::count(simulated.max_length)} * simulated.trials.size();
}
Value units(Units length) {
  return integer(engine::count(length));
}
double seconds(Instant at) {
  return static_cast<double>(at.micros()) / 1e6;
}

Value list_of(const std::vector<TrialNumber>& trials) {
  Value::List list;
  for (const TrialNumber trial : trials) {
    list.push_back(integer(trial.number()));
  }
  return list;
}

Value trial_value(std::size_t number, const SimulatedTrial& trial, const std::string& unit) {
  Value::List lengths;
  for (const Units length : trial.lengths) {
    lengths.push_back(units(length));
  }
  return Value::Map{{"trial", integer(number)},
                    {"hparams", trial.hparams},
                    {"lengths", std::move(lengths)},
                    {"reached", units(trial.reached)},
                    {"metric", trial.metric ? Value(*trial.metric) : Value()},
                    {"state", engine::name_of(trial.state)},
                    {"reason", proto::encode_value(api::reason_with_text(trial.reason, unit))}};
}

Value decision_value(const Decided& decided, const std::string& unit) {
  Value::Map value{{"at", seconds(decided.at)},
                   {"decision", engine::sim::name_of(decided.what)},
                   {"trial", integer(decided.trial.number())}};
  switch (decided.what) {
    case Decided::What::create:
    case Decided::What::promote:
    case Decided::What::promote_in_place:
      value["length"] = units(decided.length);
      break;
    case Decided::What::pause:
      break;
    case Decided::What::exit_early:
      value["exit"] = engine::name_of(*decided.exit);
      return value;
    case Decided::What::end:
      value["state"] = engine::name_of(*decided.state);
      break;
  }
  value["reason"] = proto::encode_value(api::reason_with_text(decided.reason, unit));
  return value;
}

Value regret_value(const Simulation& simulation) {
  Value::List steps;
  for (const Improvement& improvement : simulation.simulated.improvements) {
    Value::Map step{{"at", seconds(improvement.at)},
                    {"trial", integer(improvement.trial.number())},
                    {"length", units(improvement.length)},
                    {"metric", improvement.metric}};
    if (simulation.yardstick) {
      step["regret"] =
          engine::sim::regret(improvement.metric, simulation.yardstick->metric, simulation.simulated.goal);
    }
    steps.emplace_back(std::move(step));
  }
  Value yardstick;
  if (simulation.yardstick) {
    yardstick =
        Value::Map{{"metric", simulation.yardstick->metric},
                   {"kind", simulation.yardstick->known_optimum ? "known_optimum" : "best_created_trial"}};
  }
  return Value::Map{{"against", std::move(yardstick)}, {"steps", std::move(steps)}};
}

Value exit_value(const engine::sim::EarlyExit& exit) {
  return Value::Map{{"trial", integer(exit.trial.number())},
                    {"op", integer(exit.op)},
                    {"reason", engine::name_of(exit.reason)}};
}

Value totals_value(const Simulation& simulation) {
  const Simulated& simulated = simulation.simulated;
  Value::List tenths;
  for (const double use : simulated.slot_use_by_tenth) {
    tenths.emplace_back(use);
  }
  return Value::Map{{"trials", integer(simulated.trials.size())},
                    {"decisions", integer(simulated.decisions.size())},
                    {"events", integer(simulated.events)},
                    {"seconds", seconds(simulated.end)},
                    {"trained", integer(simulated.trained)},
                    {"trained_full", integer(trained_full(simulated))},
                    {"slot_use", simulated.slot_use},
                    {"slot_use_by_tenth", std::move(tenths)}};
}

std::string lengths_text(const std::vector<Units>& lengths) {
  std::string text;
  for (const Units length : lengths) {
    text += (text.empty() ? "" : " ") + std::to_string(engine::count(length));
  }
  return text;
}

/// "3 4 0 1 2" or, of many, the first ones and how many more.
std::string order_text(const std::vector<TrialNumber>& trials) {
  constexpr std::size_t most = 24;
  std::string text;
  for (std::size_t i = 0; i < trials.size() && i < most; ++i) {
    text += (text.empty() ? "" : " ") + std::to_string(trials[i].number());
  }
  return trials.size() > most ? text + " ... (" + std::to_string(trials.size() - most) + " more)" : text;
}

std::string time_text(const Simulation& simulation, Instant at) {
  return simulation.duration == DurationModel::op ? metric_text(std::round(seconds(at) * 1e6) / 1e6)
                                                  : duration_text(seconds(at));
}

/// How the best result developed, thinned out to fit a screen: the first, the last and some between.
std::string regret_text(const Simulation& simulation) {
  const auto& steps = simulation.simulated.improvements;
  if (steps.empty()) {
    return "no trial measured a finite metric\n";
  }
  using Align = Table::Align;
  Table table({{"AT", Align::right},
               {"TRIAL", Align::right},
               {"LENGTH", Align::right},
               {"BEST SO FAR", Align::right},
               {"REGRET", Align::right}});
  constexpr std::size_t most = 12;
  const std::size_t shown = std::min(most, steps.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Improvement& step = steps[shown == 1 ? 0 : i * (steps.size() - 1) / (shown - 1)];
    const double behind =
        simulation.yardstick
            ? engine::sim::regret(step.metric, simulation.yardstick->metric, simulation.simulated.goal)
            : std::nan("");
    table.add({time_text(simulation, step.at), std::to_string(step.trial.number()),
               std::to_string(engine::count(step.length)), metric_text(step.metric), metric_text(behind)});
  }
  std::string text = table.text();
  if (simulation.yardstick) {
    const double best = simulation.yardstick->metric;
    const double found = steps.back().metric;
    const bool beyond = simulation.simulated.goal == engine::Goal::minimize ? found < best : found > best;
    text += "regret is the distance to " + metric_text(best) +
            (simulation.yardstick->known_optimum ? ", the best that is known"
                                                 : ", the best of the created trials at full length") +
            (beyond ? "; it is 0 for what noise lets appear better still\n" : "\n");
  }
  return text;
}

std::string trials_text(const Simulation& simulation, std::size_t most, std::size_t width) {
  using Align = Table::Align;
  Table table({{"TRIAL", Align::right},
               {"STATE"},
               {"LENGTHS"},
               {"METRIC", Align::right},
               {"WHY", Align::left, true},
               {"HYPERPARAMETERS"}});
  const auto& trials = simulation.simulated.trials;
  for (std::size_t i = 0; i < trials.size() && i < most; ++i) {
    const SimulatedTrial& trial = trials[i];
    engine::Reason why = trial.reason;
    if (why.detail == simulation.simulated.reason) {
      why.detail.clear();  // It is printed above, for all.
    }
    table.add({std::to_string(i), std::string(engine::name_of(trial.state)), lengths_text(trial.lengths),
               trial.metric ? metric_text(*trial.metric) : "-",
               sentences::describe(why, simulation.simulated.unit), flat_text(trial.hparams)});
  }
  std::string text = table.text(width);
  if (trials.size() > most) {
    text += "... and " + counted(trials.size() - most, "more trial") + "; --output json has them all\n";
  }
  return text;
}

std::string final_lengths_text(const Simulated& simulated) {
  std::map<std::uint64_t, std::uint64_t> finals;
  for (const SimulatedTrial& trial : simulated.trials) {
    ++finals[engine::count(trial.reached)];
  }
  Table table({{"REACHED", Table::Align::right}, {"TRIALS", Table::Align::right}});
  for (const auto& [length, trials] : finals) {
    table.add({std::to_string(length), std::to_string(trials)});
  }
  return table.text();
}

std::string totals_text(const Simulation& simulation) {
  const Simulated& simulated = simulation.simulated;
  const auto full = static_cast<double>(trained_full(simulated));
  std::string text = "simulated   " + time_text(simulation, simulated.end) +
                     (simulation.duration == DurationModel::op ? " ticks (one for each piece of work)" : "") +
                     ", " + counted(simulated.events, "event") + ", " +
                     counted(simulated.decisions.size(), "decision") + "\n";
  text += "trained     " + engine::to_text(simulated.trained) + " " + printable(simulated.unit);
  if (full > 0) {
    text += ", " + percent_text(static_cast<double>(simulated.trained) / full) +
            " of training every trial to the end";
  }
  text += "\nslot use    " + percent_text(simulated.slot_use) + "; by tenths of the time:";
  for (const double use : simulated.slot_use_by_tenth) {
    text += " " + std::to_string(std::lround(use * 100));
  }
  text += " %\nclosed      " +
          (simulated.closing_order.empty() ? "none" : order_text(simulated.closing_order)) + "\n";
  return text;
}

}  // namespace

std::string_view name_of(DurationModel duration) noexcept {
  switch (duration) {
    case DurationModel::unit:
      return "unit";
    case DurationModel::op:
      return "op";
    case DurationModel::curve:
      return "curve";
  }
  return "";
}

Value to_value(const Simulation& simulation) {
  const Simulated& simulated = simulation.simulated;
  const engine::SearcherConfig& searcher = simulation.config.searcher;
  Value::List trials;
  for (std::size_t i = 0; i < simulated.trials.size(); ++i) {
    trials.push_back(trial_value(i, simulated.trials[i], simulated.unit));
  }
  Value::List decisions;
  for (const Decided& decided : simulated.decisions) {
    decisions.push_back(decision_value(decided, simulated.unit));
  }
  Value::List unused;
  for (const auto& exit : simulated.unused_exits) {
    unused.push_back(exit_value(exit));
  }
  return Value::Map{{"name", simulation.config.name},
                    {"searcher", searcher.name},
                    {"metric", searcher.metric},
                    {"smaller_is_better", searcher.smaller_is_better},
                    {"unit", simulated.unit},
                    {"max_length", units(simulated.max_length)},
                    {"seed", integer(simulated.seed)},
                    {"workers", integer(simulated.workers)},
                    {"duration", name_of(simulation.duration)},
                    {"curves", simulation.curves},
                    {"state", engine::name_of(simulated.state)},
                    {"reason", simulated.reason},
                    {"totals", totals_value(simulation)},
                    {"trials", std::move(trials)},
                    {"closing_order", list_of(simulated.closing_order)},
                    {"regret", regret_value(simulation)},
                    {"decisions", std::move(decisions)},
                    {"unused_exits", std::move(unused)}};
}

std::string to_text(const Simulation& simulation, std::size_t most_trials, std::size_t width) {
  const Simulated& simulated = simulation.simulated;
  const engine::SearcherConfig& searcher = simulation.config.searcher;
  std::string text = printable(simulation.config.name) + ": " + searcher.name + ", " +
                     counted(simulated.trials.size(), "trial") + " on " +
                     counted(simulated.workers, "worker") + ", " + printable(simulation.curves) + ", seed " +
                     std::to_string(simulated.seed) + "\n" + std::string(engine::name_of(simulated.state)) +
                     (simulated.reason.empty() ? "" : ": " + printable(simulated.reason)) + "\n\n";
  text += trials_text(simulation, most_trials, width) + "\n" + final_lengths_text(simulated) + "\n" +
          regret_text(simulation) + "\n" + totals_text(simulation);
  return text;
}

}  // namespace hpsearch::cli
