#include "hpsearch/proto/views/trial_fields.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

namespace hpsearch::views {

using engine::Errc;
using engine::Error;
using engine::ExperimentRecord;
using engine::HparamTable;
using engine::Instant;
using engine::Result;
using engine::TrialRecord;
using engine::Value;

namespace {

using FieldKind = TrialField::Kind;

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view hparam_prefix = "hparams.";
constexpr std::string_view nonfinite_words[] = {"nan", "inf", "-inf"};

double seconds_or_missing(Instant at) {
  return at == Instant{} ? missing : static_cast<double>(at.micros()) / 1e6;
}

double metric_or_missing(const std::optional<engine::Measurement>& measured) {
  return measured && std::isfinite(measured->metric) ? measured->metric : missing;
}

double whole(engine::Units units) {
  return static_cast<double>(engine::count(units));
}

Value whole_value(engine::Units units) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(engine::count(units), most));
}

double slot_seconds(const TrialRecord& trial, Instant now) {
  double seconds = trial.busy.in_seconds();
  if (trial.live && now > trial.live->leased_at) {
    seconds += (now - trial.live->leased_at).in_seconds() * static_cast<double>(trial.live->slots.size());
  }
  return seconds;
}

/// The value of a leaf if the configuration doesn't have the space's shape, or if a double would round it.
Value odd_value(const ExperimentRecord& experiment, std::size_t trial, std::size_t leaf) {
  const Value hparams = experiment.hparams[trial];
  const Value* found = hparams.at_keys(experiment.hparams.space().leaves()[leaf].keys);
  return found == nullptr ? Value() : *found;
}

Value hparam_value(const ExperimentRecord& experiment, std::size_t trial, std::size_t leaf) {
  const HparamTable::Cell cell = experiment.hparams.cell(trial, leaf);
  switch (cell.kind) {
    case HparamTable::Cell::Kind::absent:
      return {};
    case HparamTable::Cell::Kind::number:
      if (!std::holds_alternative<engine::IntParameter>(
              experiment.hparams.space().leaves()[leaf].parameter)) {
        return cell.number;
      }
      return std::abs(cell.number) < 9e15 ? Value(static_cast<std::int64_t>(cell.number))
                                          : odd_value(experiment, trial, leaf);
    case HparamTable::Cell::Kind::other:
      return odd_value(experiment, trial, leaf);
    case HparamTable::Cell::Kind::place:
      break;
  }
  const engine::Parameter& parameter = experiment.hparams.space().leaves()[leaf].parameter;
  if (const auto* constant = std::get_if<engine::ConstParameter>(&parameter)) {
    return constant->val;
  }
  return std::get<engine::CategoricalParameter>(parameter).vals[static_cast<std::size_t>(cell.place)];
}

const engine::Annotation& annotation_of(const ExperimentRecord& experiment, std::size_t trial) {
  return engine::annotation_of(experiment, engine::TrialNumber(trial));
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

bool TrialField::is_number(const engine::Space& space) const {
  switch (kind) {
    case Kind::state:
    case Kind::failure:
    case Kind::reason:
    case Kind::nonfinite:
    case Kind::starred:
    case Kind::labels:
    case Kind::note:
      return false;
    case Kind::hparam: {
      const engine::Parameter& parameter = space.leaves()[leaf].parameter;
      return !std::holds_alternative<engine::ConstParameter>(parameter) &&
             !std::holds_alternative<engine::CategoricalParameter>(parameter);
    }
    default:
      return true;
  }
}

const std::vector<std::string>& trial_field_names() {
  static const std::vector<std::string> names = {
      "trial",    "state",        "metric",     "result",     "last",        "nonfinite",
      "at",       "length",       "reached",    "rung",       "bracket",     "attempts",
      "restarts", "slot_seconds", "created_at", "started_at", "reported_at", "ended_at",
      "worker",   "failure",      "reason",     "starred",    "labels",      "note"};
  return names;
}

std::vector<Value> TrialField::words(const engine::Space& space) const {
  std::vector<Value> words;
  if (kind == Kind::state) {
    for (std::size_t state = 0; state <= static_cast<std::size_t>(engine::TrialState::canceled); ++state) {
      words.emplace_back(engine::name_of(static_cast<engine::TrialState>(state)));
    }
  } else if (kind == Kind::starred) {
    words = {Value(false), Value(true)};
  } else if (kind == Kind::nonfinite) {
    words.assign(std::begin(nonfinite_words), std::end(nonfinite_words));
  } else if (kind == Kind::reason) {
    for (std::size_t why = 0; why <= static_cast<std::size_t>(engine::Reason::Why::experiment_end); ++why) {
      words.emplace_back(engine::name_of(static_cast<engine::Reason::Why>(why)));
    }
  } else if (kind == Kind::hparam) {
    words = engine::Names(space.leaves().subspan(leaf, 1))[0].values;
  }
  return words;
}

engine::Names trial_names(const engine::Space& space) {
  std::vector<engine::Name> own;
  for (std::size_t i = 0; i < trial_field_names().size(); ++i) {
    const TrialField field{static_cast<FieldKind>(i), 0, trial_field_names()[i]};
    own.push_back({field.name, false, field.is_number(space), true, field.words(space)});
  }
  return engine::Names(space.leaves(), std::move(own), true);
}

TrialField trial_field(const engine::Space& space, std::size_t name) {
  const std::vector<std::string>& own = trial_field_names();
  if (name < own.size()) {
    return {static_cast<FieldKind>(name), 0, own[name]};
  }
  const std::size_t leaf = name - own.size();
  return {FieldKind::hparam, leaf, std::string(hparam_prefix) + space.leaves()[leaf].path};
}

Result<TrialField> find_field(const engine::Space& space, const engine::Names& names, std::string_view option,
                              std::string_view name) {
  const auto found = names.find(name);
  if (!found) {
    return Error{Errc::bad_request, std::string(option) + ": " + found.error().message};
  }
  return trial_field(space, *found);
}

TrialReader::Start TrialReader::start_of(const ExperimentRecord& experiment, std::size_t trial) {
  for (; spans_seen_ < experiment.spans.size(); ++spans_seen_) {
    const engine::AttemptSpan& span = experiment.spans[spans_seen_];
    if (starts_.size() <= span.trial) {
      starts_.resize(std::max<std::size_t>(span.trial + std::size_t{1}, experiment.trials.size()));
    }
    Start& start = starts_[span.trial];
    start.at = start.at == Instant{} ? span.from : std::min(start.at, span.from);
    start.last_worker = span.worker;
  }
  Start start = trial < starts_.size() ? starts_[trial] : Start{};
  if (const auto& live = experiment.trials[trial].live) {
    start.at = start.at == Instant{} ? live->slots_since : start.at;
    start.last_worker = static_cast<std::uint32_t>(live->worker.number());
  }
  return start;
}

double TrialReader::number(const ExperimentRecord& experiment, std::size_t number, const TrialField& field) {
  const TrialRecord& trial = experiment.trials[number];
  switch (field.kind) {
    case FieldKind::trial:
      return static_cast<double>(number);
    case FieldKind::state:
      return static_cast<double>(trial.state);
    case FieldKind::metric:
      return metric_or_missing(trial.best);
    case FieldKind::result: {
      const std::vector<double>& measured = results(experiment).metric;
      return number < measured.size() ? measured[number] : missing;
    }
    case FieldKind::last:
      return metric_or_missing(trial.latest);
    case FieldKind::nonfinite: {
      const auto* const word =
          std::find(std::begin(nonfinite_words), std::end(nonfinite_words), nonfinite_of(trial));
      return word == std::end(nonfinite_words) ? missing
                                               : static_cast<double>(word - std::begin(nonfinite_words));
    }
    case FieldKind::at:
      return trial.best ? whole(trial.best->step) : missing;
    case FieldKind::length:
      return whole(trial.length);
    case FieldKind::reached:
    case FieldKind::rung:
      return whole(trial.reached);
    case FieldKind::bracket: {
      const auto bracket = experiment.searcher->bracket_of(engine::TrialNumber(number));
      return bracket ? static_cast<double>(*bracket) : missing;
    }
    case FieldKind::attempts:
      return static_cast<double>(trial.attempts);
    case FieldKind::restarts:
      return static_cast<double>(trial.restarts);
    case FieldKind::slot_seconds:
      return slot_seconds(trial, now_);
    case FieldKind::created_at:
      return seconds_or_missing(trial.created_at);
    case FieldKind::started_at:
      return seconds_or_missing(start_of(experiment, number).at);
    case FieldKind::reported_at:
      return trial.best ? seconds_or_missing(trial.best_at) : missing;
    case FieldKind::ended_at:
      return engine::is_closed(trial.state) ? seconds_or_missing(trial.ended_at) : missing;
    case FieldKind::worker: {
      const std::uint32_t worker = start_of(experiment, number).last_worker;
      return worker == 0 ? missing : static_cast<double>(worker);
    }
    case FieldKind::starred:
      return annotation_of(experiment, number).starred ? 1 : 0;
    case FieldKind::labels:
    case FieldKind::note:
    case FieldKind::failure:
    case FieldKind::reported:  // Its values aren't in the engine's record (MetricNames).
      return missing;
    case FieldKind::reason:
      return static_cast<double>(trial.reason.why());
    case FieldKind::hparam:
      break;
  }
  const HparamTable::Cell cell = experiment.hparams.cell(number, field.leaf);
  return cell.kind == HparamTable::Cell::Kind::number  ? cell.number
         : cell.kind == HparamTable::Cell::Kind::place ? static_cast<double>(cell.place)
                                                       : missing;
}

Value TrialReader::value(const ExperimentRecord& experiment, std::size_t number, const TrialField& field) {
  const TrialRecord& trial = experiment.trials[number];
  switch (field.kind) {
    case FieldKind::state:
      return engine::name_of(trial.state);
    case FieldKind::failure:
      return trial.last_failure && !trial.last_failure->empty() ? Value(first_line(*trial.last_failure))
                                                                : Value();
    case FieldKind::reason:
      return engine::name_of(trial.reason.why());
    case FieldKind::starred:
      return annotation_of(experiment, number).starred;
    case FieldKind::labels: {
      const std::vector<std::string>& labels = annotation_of(experiment, number).labels;
      return labels.empty() ? Value() : Value(Value::List(labels.begin(), labels.end()));
    }
    case FieldKind::note: {
      const std::string& note = annotation_of(experiment, number).note;
      return note.empty() ? Value() : Value(note);
    }
    case FieldKind::nonfinite: {
      const std::string_view word = nonfinite_of(trial);
      return word.empty() ? Value() : Value(word);
    }
    case FieldKind::hparam:
      return hparam_value(experiment, number, field.leaf);
    case FieldKind::rung: {
      const double rung = rung_reached(experiment.tally.rungs(), whole(trial.reached));
      return std::isnan(rung) ? Value() : Value(rung);
    }
    case FieldKind::length:
      return whole_value(trial.length);
    case FieldKind::reached:
      return whole_value(trial.reached);
    case FieldKind::at:
      return trial.best ? whole_value(trial.best->step) : Value();
    default:
      break;
  }
  const double it = this->number(experiment, number, field);
  return std::isnan(it) ? Value() : Value(it);
}

std::string_view nonfinite_of(const TrialRecord& trial) noexcept {
  if (!trial.latest || std::isfinite(trial.latest->metric)) {
    return {};
  }
  return std::isnan(trial.latest->metric) ? "nan" : trial.latest->metric > 0 ? "inf" : "-inf";
}

const ComparedResults& TrialReader::results(const ExperimentRecord& experiment) {
  if (!results_) {
    results_ = compared_results(experiment, length_);
  }
  return *results_;
}

void TrialReader::refresh_results(const ExperimentRecord& experiment) {
  if (results_) {
    results_ = compared_results(experiment, results_->length);
  }
}

double rung_reached(const std::vector<engine::TrialTally::Rung>& lengths, double reached) noexcept {
  double rung = missing;
  for (std::size_t i = 0; i < lengths.size() && whole(lengths[i].length) <= reached; ++i) {
    rung = static_cast<double>(i);
  }
  return rung;
}

}  // namespace hpsearch::views
