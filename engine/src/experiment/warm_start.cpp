#include "hpsearch/engine/experiment/warm_start.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/quoted.hpp"

namespace hpsearch::engine {
namespace {

using Experiments = std::map<ExperimentId, ExperimentRecord>;

constexpr const char* by_trial = "searcher.source_trial_id";
constexpr const char* by_checkpoint = "searcher.source_checkpoint_uuid";

struct TrialPlace {
  const ExperimentRecord* experiment = nullptr;
  TrialNumber trial;

  [[nodiscard]] const TrialRecord& record() const { return experiment->trials[trial.number()]; }
  [[nodiscard]] std::string name() const {
    return "trial " + std::to_string(trial.number()) + " of experiment " +
           std::to_string(experiment->id.number());
  }
};

/// O(experiments × log trials): ids grow within each.
std::optional<TrialPlace> find_trial(const Experiments& experiments, TrialId id) {
  for (const auto& [number, record] : experiments) {
    std::size_t from = 0;
    std::size_t to = record.trials.size();
    while (from < to) {
      const std::size_t middle = from + (to - from) / 2;
      if (record.trials[middle].id < id) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    if (from < record.trials.size() && record.trials[from].id == id) {
      return TrialPlace{&record, TrialNumber(from)};
    }
  }
  return std::nullopt;
}

/// The text after the last slash, which is removed with it.
std::string_view take_last(std::string_view& path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view last = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
  path = path.substr(0, slash == std::string_view::npos ? 0 : slash);
  return last;
}

/// The trial that an id, or a path that ends with one, speaks of.
std::optional<TrialPlace> trial_in(const Experiments& experiments, std::string_view id) {
  take_last(id);
  const auto trial = number_in<std::uint64_t>(take_last(id));
  const auto experiment = number_in<std::uint64_t>(take_last(id));
  const auto found = trial && experiment ? experiments.find(ExperimentId(*experiment)) : experiments.end();
  if (found == experiments.end() || *trial >= found->second.trials.size()) {
    return std::nullopt;
  }
  return TrialPlace{&found->second, TrialNumber(*trial)};
}

bool is_called(const TrialPlace& place, std::string_view path, std::string_view id) {
  return id == path || id == checkpoint_id(place.experiment->id, place.trial, path);
}

SourceCheckpoint source(const TrialPlace& place, const KnownCheckpoint& checkpoint) {
  return {place.experiment->id, place.trial, checkpoint.step, checkpoint.path};
}

std::optional<SourceCheckpoint> latest_of(const Experiments& experiments, std::uint64_t id,
                                          Problems& problems) {
  const std::optional<TrialPlace> place = find_trial(experiments, TrialId(id));
  if (!place) {
    problems.push_back(
        {by_trial, "is " + std::to_string(id) + "; there is no trial with this id",
         "the id of a trial of any experiment, as printed by `hpsearch show EXPERIMENT --trial N`"});
    return std::nullopt;
  }
  const auto& checkpoints = place->record().checkpoints;
  if (!checkpoints || checkpoints->kept.empty()) {
    problems.push_back({by_trial,
                        "is " + std::to_string(id) + ", " + place->name() + ", which has no checkpoint",
                        "a trial with a complete checkpoint that was not deleted"});
    return std::nullopt;
  }
  return source(*place, checkpoints->kept.back());
}

std::optional<SourceCheckpoint> exactly(const Experiments& experiments, const std::string& id,
                                        Problems& problems) {
  const std::optional<TrialPlace> place = trial_in(experiments, id);
  const auto refuse = [&](const std::string& what) {
    problems.push_back(
        {by_checkpoint, "is " + quoted(Value(id)) + ", " + what,
         "the id of a complete checkpoint, EXPERIMENT/TRIAL/ATTEMPT-STEP, as `hpsearch checkpoints list` "
         "shows them"});
    return std::nullopt;
  };
  if (!place) {
    return refuse("which names no trial's checkpoint here");
  }
  const auto& checkpoints = place->record().checkpoints;
  for (std::size_t i = 0; checkpoints && i < checkpoints->kept.size(); ++i) {
    if (is_called(*place, checkpoints->kept[i].path, id)) {
      return source(*place, checkpoints->kept[i]);
    }
  }
  const std::vector<std::string>& condemned = place->experiment->condemned;
  if (std::any_of(condemned.begin(), condemned.end(),
                  [&](const std::string& path) { return is_called(*place, path, id); })) {
    return refuse("which is being deleted");
  }
  return refuse("which " + place->name() + " does not have: it was deleted, or its upload never finished");
}

}  // namespace

std::string checkpoint_id(ExperimentId experiment, TrialNumber trial, std::string_view path) {
  return std::to_string(experiment.number()) + "/" + std::to_string(trial.number()) + "/" +
         std::string(take_last(path));
}

std::optional<SourceCheckpoint> find_source(const Experiments& experiments, const SearcherConfig& searcher,
                                            Problems& problems) {
  if (searcher.source_trial_id) {
    return latest_of(experiments, *searcher.source_trial_id, problems);
  }
  if (searcher.source_checkpoint_uuid) {
    return exactly(experiments, *searcher.source_checkpoint_uuid, problems);
  }
  return std::nullopt;
}

}  // namespace hpsearch::engine
