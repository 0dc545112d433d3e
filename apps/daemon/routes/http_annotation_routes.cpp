#include <optional>
#include <utility>

#include "daemon/http/http_request_context.hpp"
#include "hpsearch/engine/experiment/annotation.hpp"
#include "hpsearch/proto/api/experiments.hpp"
#include "hpsearch/proto/api/schema.hpp"
#include "hpsearch/proto/encoding/record.hpp"

namespace hpsearch::daemon {
namespace {

api::Annotation shown(const engine::ExperimentRecord& record,
                      const std::optional<engine::TrialNumber>& trial) {
  const engine::Annotation& annotation = engine::annotation_of(record, trial);
  return {annotation.note, annotation.labels, annotation.starred};
}

void annotate(RequestContext& context, const Call& call, std::optional<engine::TrialNumber> trial) {
  const auto body = call.object();
  auto change =
      body ? proto::decode_value<api::AnnotationChange>(*body) : Result<api::AnnotationChange>(body.error());
  if (!change) {
    call.reply(failure(Error{Errc::bad_request, change.error().message}));
    return;
  }
  engine::Annotate command{call.experiment(), trial, std::move(change->note), std::move(change->labels),
                           change->starred};
  context.perform(call, std::move(command), [&context, id = call.experiment(), trial] {
    const engine::ExperimentRecord* record = context.runtime.engine().find(id);
    return record != nullptr ? with(200, shown(*record, trial))
                             : failure(context.runtime.engine().no_experiment(id));
  });
}

void annotate_experiment(RequestContext& context, Call call) {
  annotate(context, call, std::nullopt);
}

void annotate_trial(RequestContext& context, Call call) {
  annotate(context, call, call.trial());
}

constexpr Route annotation_table[] = {
    {"PATCH",
     "/api/v1/experiments/{experiment}/annotation",
     Role::submit,
     &annotate_experiment,
     {"annotate_experiment", "experiments", "Changes the note, the labels or the star of an experiment",
      api::schema_of<api::Annotation>, api::schema_of<api::AnnotationChange>}},
    {"PATCH",
     "/api/v1/experiments/{experiment}/trials/{trial}/annotation",
     Role::submit,
     &annotate_trial,
     {"annotate_trial", "trials", "Changes the note, the labels or the star of a trial",
      api::schema_of<api::Annotation>, api::schema_of<api::AnnotationChange>}},
};

}  // namespace

std::span<const Route> annotation_routes() noexcept {
  return annotation_table;
}

}  // namespace hpsearch::daemon
