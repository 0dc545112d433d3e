#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "applier.hpp"
#include "event_checks.hpp"
#include "experiment/engine_state.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

/// Each once, ascending.
std::vector<std::string> in_order(std::vector<std::string> labels) {
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

Status check(const Annotate& command) {
  if (command.note && command.note->size() > Annotation::most_note_bytes) {
    return Error{Errc::bad_request, "note has " + std::to_string(command.note->size()) +
                                        " bytes; it may have " + std::to_string(Annotation::most_note_bytes)};
  }
  if (!command.labels) {
    return Done{};
  }
  if (command.labels->size() > Annotation::most_labels) {
    return Error{Errc::bad_request, "labels are " + std::to_string(command.labels->size()) +
                                        "; there may be " + std::to_string(Annotation::most_labels)};
  }
  for (const std::string& label : *command.labels) {
    if (label.empty() || label.size() > Annotation::most_label_bytes) {
      return Error{Errc::bad_request, "a label has " + std::to_string(label.size()) +
                                          " bytes; it may have 1 to " +
                                          std::to_string(Annotation::most_label_bytes)};
    }
  }
  return Done{};
}

}  // namespace

const Annotation& annotation_of(const ExperimentRecord& record,
                                const std::optional<TrialNumber>& trial) noexcept {
  static const Annotation none;
  if (!trial) {
    return record.annotation;
  }
  const auto found = record.trial_annotations.find(*trial);
  return found == record.trial_annotations.end() ? none : found->second;
}

Status annotate(Step& step, const Annotate& command) {
  const auto found = step.state().experiments.find(command.experiment);
  if (found == step.state().experiments.end()) {
    return no_experiment(step.state(), command.experiment);
  }
  const ExperimentRecord& record = found->second;
  if (command.trial && command.trial->number() >= record.trials.size()) {
    return Error{Errc::not_found, "experiment " + std::to_string(record.id.number()) + " has no trial " +
                                      std::to_string(command.trial->number())};
  }
  if (Status good = check(command); !good) {
    return good;
  }
  const Annotation& before = annotation_of(record, command.trial);
  Annotation after = before;
  after.note = command.note.value_or(before.note);
  after.labels = command.labels ? in_order(*command.labels) : before.labels;
  after.starred = command.starred.value_or(before.starred);
  if (!(after == before)) {
    step.emit(
        Annotated{record.id, command.trial, std::move(after.note), std::move(after.labels), after.starred});
  }
  return Done{};
}

void apply(const Applier& applier, const Annotated& event) {
  ExperimentRecord& record = applier.experiment(event.experiment);
  Annotation annotation{event.note, event.labels, event.starred};
  if (!event.trial) {
    record.annotation = std::move(annotation);
  } else if (annotation == Annotation{}) {
    record.trial_annotations.erase(*event.trial);
  } else {
    record.trial_annotations[*event.trial] = std::move(annotation);
  }
}

std::string problem_with(const EventChecks& checks, const Annotated& event) {
  return event.trial ? checks.trial(event.experiment, *event.trial) : checks.experiment(event.experiment);
}

}  // namespace hpsearch::engine
