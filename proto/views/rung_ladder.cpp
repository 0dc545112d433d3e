#include "hpsearch/proto/views/rung_ladder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/amount.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/views/trial_fields.hpp"
#include "views/json_text.hpp"

namespace hpsearch::views {

using engine::ExperimentRecord;
using engine::TrialNumber;
using engine::TrialState;

namespace {

using Fate = RungLadder::Fate;

constexpr std::array<std::string_view, 5> fate_names = {"promoted", "waiting", "stopped", "finished",
                                                        "failed"};

Fate fate_of(const engine::RungResult& result, bool is_top, TrialState state) {
  switch (result.standing) {
    case engine::RungResult::Standing::promoted:
      return Fate::promoted;
    case engine::RungResult::Standing::dead:
      return Fate::failed;
    case engine::RungResult::Standing::waiting:
      return engine::is_closed(state) ? Fate::stopped : Fate::waiting;
    case engine::RungResult::Standing::settled:
      break;
  }
  return state == TrialState::failed ? Fate::failed : is_top ? Fate::finished : Fate::stopped;
}

std::string rule_of(const engine::BracketStanding& bracket, bool is_top) {
  if (is_top) {
    return "full length";
  }
  const std::string divisor = engine::short_number(bracket.divisor);
  return bracket.stops_at_once
             ? "a trial goes on if its result is among the best 1 of " + divisor + " of those reported so far"
             : "the best 1 of " + divisor + " of all results are promoted; others wait";
}

RungLadder::Bracket bracket_of(const std::vector<TrialState>& states, engine::BracketStanding& standing,
                               std::size_t number) {
  RungLadder::Bracket bracket;
  bracket.name = "bracket " + std::to_string(number);
  for (std::size_t i = 0; i < standing.rungs.size(); ++i) {
    engine::RungStanding& its = standing.rungs[i];
    const bool is_top = i + 1 == standing.rungs.size();
    RungLadder::Rung rung;
    rung.length = its.length;
    rung.rule = rule_of(standing, is_top);
    rung.keep = its.keep;
    rung.cutoff = its.cutoff;
    rung.training = std::move(its.training);
    rung.results.reserve(its.results.size());
    for (const engine::RungResult& result : its.results) {
      const TrialState state = states[result.trial.number()];
      rung.results.push_back({result.trial, result.metric, fate_of(result, is_top, state), {}});
    }
    bracket.rungs.push_back(std::move(rung));
  }
  return bracket;
}

/// The bracket of a search that compares trials only at full length.
RungLadder::Bracket only_bracket(const ExperimentRecord& experiment) {
  RungLadder::Rung rung;
  rung.length = experiment.config.searcher.max_length;
  rung.rule = "full length";
  const bool smaller = experiment.config.searcher.smaller_is_better;
  for (std::size_t i = 0; i < experiment.trials.size(); ++i) {
    const engine::TrialRecord& trial = experiment.trials[i];
    const bool has_metric = trial.latest && std::isfinite(trial.latest->metric) && !trial.invalid;
    if (trial.state == TrialState::paused) {
      continue;  // With its experiment: it neither trains nor has a result.
    }
    if (!engine::is_closed(trial.state)) {
      rung.training.emplace_back(i);
    } else if (trial.state == TrialState::completed ||
               trial.reached >= rung.length) {  // Otherwise it didn't reach the rung.
      const Fate fate = trial.state == TrialState::failed    ? Fate::failed
                        : trial.state == TrialState::stopped ? Fate::stopped
                                                             : Fate::finished;
      rung.results.push_back(
          {TrialNumber(i), has_metric ? std::optional(trial.latest->metric) : std::nullopt, fate, {}});
    }
  }
  std::stable_sort(rung.results.begin(), rung.results.end(),
                   [smaller](const RungLadder::Result& a, const RungLadder::Result& b) {
                     if (!a.metric || !b.metric) {
                       return a.metric.has_value() && !b.metric.has_value();
                     }
                     return smaller ? *a.metric < *b.metric : *b.metric < *a.metric;
                   });
  RungLadder::Bracket bracket;
  bracket.name = "bracket 0";
  bracket.rungs.push_back(std::move(rung));
  return bracket;
}

void put_rung(JsonText& json, const RungLadder::Rung& rung, std::uint64_t number) {
  json.open('{')
      .member("rung", number)
      .member("length", rung.length)
      .member("rule", rung.rule)
      .member("keep", rung.keep)
      .member("size", std::uint64_t{rung.results.size()})
      .member("cut_off", rung.cutoff)
      .key("results")
      .open('[');
  for (std::size_t rank = 0; rank < rung.results.size(); ++rank) {
    const RungLadder::Result& result = rung.results[rank];
    json.open('{').member("trial", result.trial).member("metric", result.metric).key("nonfinite");
    if (result.nonfinite.empty()) {
      json.null();
    } else {
      json.put(result.nonfinite);
    }
    json.member("rank", std::uint64_t{rank})
        .member("state", fate_names[static_cast<std::size_t>(result.fate)])
        .close('}');
  }
  json.close(']').list("training", rung.training).close('}');
}

}  // namespace

RungLadder rung_ladder(const ExperimentRecord& experiment, engine::Lsn lsn, engine::Instant at) {
  RungLadder ladder;
  ladder.lsn = lsn;
  ladder.at = at;
  ladder.first = experiment.created_by;
  ladder.last = experiment.changed_by;
  ladder.metric = experiment.config.searcher.metric;
  ladder.smaller_is_better = experiment.config.searcher.smaller_is_better;
  std::vector<engine::BracketStanding> standings = experiment.searcher->brackets();
  std::vector<TrialState> states;  // Results aren't ordered by trial: lookups here rarely miss the cache.
  states.reserve(standings.empty() ? 0 : experiment.trials.size());
  for (const engine::TrialRecord& trial : experiment.trials) {
    states.push_back(trial.state);
  }
  for (std::size_t i = 0; i < standings.size(); ++i) {
    ladder.brackets.push_back(bracket_of(states, standings[i], i));
  }
  if (standings.empty()) {
    ladder.brackets.push_back(only_bracket(experiment));
  }
  for (RungLadder::Bracket& bracket : ladder.brackets) {
    for (RungLadder::Rung& rung : bracket.rungs) {
      for (RungLadder::Result& result : rung.results) {
        if (!result.metric) {
          result.nonfinite = nonfinite_of(experiment.trials[result.trial.number()]);
        }
      }
    }
  }
  return ladder;
}

std::string to_json(const RungLadder& ladder) {
  JsonText json;
  json.open('{')
      .member("lsn", ladder.lsn)
      .member("time", ladder.at)
      .member("first_lsn", ladder.first)
      .member("last_lsn", ladder.last)
      .member("metric", ladder.metric)
      .member("smaller_is_better", ladder.smaller_is_better)
      .key("brackets")
      .open('[');
  for (std::size_t i = 0; i < ladder.brackets.size(); ++i) {
    const RungLadder::Bracket& bracket = ladder.brackets[i];
    json.open('{').member("bracket", std::uint64_t{i}).member("name", bracket.name).key("rungs").open('[');
    for (std::size_t rung = 0; rung < bracket.rungs.size(); ++rung) {
      put_rung(json, bracket.rungs[rung], rung);
    }
    json.close(']').close('}');
  }
  return json.close(']').close('}').take();
}

}  // namespace hpsearch::views
