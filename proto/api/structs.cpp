#include "api/struct_fields.hpp"
#include "hpsearch/proto/api/access.hpp"
#include "hpsearch/proto/api/ask.hpp"
#include "hpsearch/proto/api/charts.hpp"
#include "hpsearch/proto/api/daemon.hpp"
#include "hpsearch/proto/api/experiments.hpp"
#include "hpsearch/proto/api/files.hpp"
#include "hpsearch/proto/api/queues.hpp"
#include "hpsearch/proto/api/trials.hpp"
#include "hpsearch/proto/api/utilization.hpp"
#include "hpsearch/proto/api/workers.hpp"

namespace hpsearch::api {

namespace {

/// A member whose type only the table knows, spelled as any other.
template <class Pointer>
struct Member {
  const StructFields::Field& field;
  Pointer at;

  [[nodiscard]] bool empty() const { return field.is_empty(at); }
};

void put(proto::ValueWriter& out, const Member<const std::byte*>& member) {
  member.field.type.put(out, member.at);
}
bool read(proto::MsgpackItem item, Member<std::byte*>& member, proto::Trouble& trouble) {
  return member.field.type.read(item, member.at, trouble);
}

template <class Pointer>
void spell_all(auto& spelling, const StructFields& fields, Pointer self) {
  for (const StructFields::Field& field : fields.list()) {
    Member<Pointer> member{field, self + field.place};
    field.is_empty == nullptr ? spelling(field.key, member) : spelling.maybe(field.key, member);
  }
}

}  // namespace

void put_fields(proto::ValueWriter& out, const StructFields& fields, const void* self) {
  const auto* bytes = static_cast<const std::byte*>(self);
  proto::FieldCounter counter;
  spell_all(counter, fields, bytes);
  out.map(counter.count());
  proto::FieldWriter<proto::ValueWriter> writer(out);
  spell_all(writer, fields, bytes);
}

bool read_fields(proto::MsgpackItem item, const StructFields& fields, void* self, proto::Trouble& trouble) {
  if (!expect(item, proto::MsgpackItem::Kind::map, "a map", trouble)) {
    return false;
  }
  proto::FieldReader reader(item, trouble);
  spell_all(reader, fields, static_cast<std::byte*>(self));
  return trouble.what.empty();
}

template <proto::Described T>
const StructFields& fields_of() {
  static const StructFields fields{T{}};
  return fields;
}

// access.hpp
template const StructFields& fields_of<Quota>();
template const StructFields& fields_of<QuotaUse>();
template const StructFields& fields_of<QuotaRequest>();
template const StructFields& fields_of<Workspace>();
template const StructFields& fields_of<WorkspaceList>();
template const StructFields& fields_of<WorkspaceRequest>();
template const StructFields& fields_of<Used>();
template const StructFields& fields_of<Usage>();
template const StructFields& fields_of<AuditEntry>();
template const StructFields& fields_of<AuditPage>();
template const StructFields& fields_of<Session>();
template const StructFields& fields_of<SignIn>();
template const StructFields& fields_of<SignInCodeRequest>();
template const StructFields& fields_of<SignInCode>();
template const StructFields& fields_of<SignInProvider>();
template const StructFields& fields_of<SignInAtProvider>();
template const StructFields& fields_of<ProviderAnswer>();
template const StructFields& fields_of<HttpPort>();
template const StructFields& fields_of<Caller>();
template const StructFields& fields_of<Token>();
template const StructFields& fields_of<NewToken>();
template const StructFields& fields_of<TokenList>();
template const StructFields& fields_of<RevokedToken>();
template const StructFields& fields_of<TokenRequest>();
template const StructFields& fields_of<Invite>();
template const StructFields& fields_of<NewInvite>();
template const StructFields& fields_of<InviteList>();
template const StructFields& fields_of<InviteRequest>();

// ask.hpp
template const StructFields& fields_of<TrialsWanted>();
template const StructFields& fields_of<AskedTrial>();
template const StructFields& fields_of<AskedTrials>();
template const StructFields& fields_of<MetricsOfLease>();
template const StructFields& fields_of<TrialVerdict>();
template const StructFields& fields_of<EndOfLease>();
template const StructFields& fields_of<EndedTrial>();

// charts.hpp
template const StructFields& fields_of<CurveEvent>();
template const StructFields& fields_of<Curve>();
template const StructFields& fields_of<RungLine>();
template const StructFields& fields_of<Curves>();
template const StructFields& fields_of<CurveDensity>();
template const StructFields& fields_of<HparamShare>();
template const StructFields& fields_of<Importance>();
template const StructFields& fields_of<BestPoint>();
template const StructFields& fields_of<HistoryEnd>();
template const StructFields& fields_of<HistoryBudget>();
template const StructFields& fields_of<History>();
template const StructFields& fields_of<MetricName>();
template const StructFields& fields_of<MetricNames>();
template const StructFields& fields_of<RungResult>();
template const StructFields& fields_of<LadderRung>();
template const StructFields& fields_of<LadderBracket>();
template const StructFields& fields_of<RungLadder>();
template const StructFields& fields_of<TimelineSlot>();
template const StructFields& fields_of<TimelineTaken>();
template const StructFields& fields_of<TimelineBar>();
template const StructFields& fields_of<TimelineQuarantine>();
template const StructFields& fields_of<TimelineBins>();
template const StructFields& fields_of<Timeline>();
template const StructFields& fields_of<ComparedLength>();
template const StructFields& fields_of<ColumnField>();
template const StructFields& fields_of<Columns>();

// daemon.hpp
template const StructFields& fields_of<Health>();
template const StructFields& fields_of<FailingCheck>();
template const StructFields& fields_of<Readiness>();
template const StructFields& fields_of<Searcher>();
template const StructFields& fields_of<SearcherList>();
template const StructFields& fields_of<Version>();
template const StructFields& fields_of<Storage>();
template const StructFields& fields_of<Status>();
template const StructFields& fields_of<ConfiguredOption>();
template const StructFields& fields_of<Configuration>();
template const StructFields& fields_of<Event>();
template const StructFields& fields_of<EventPage>();
template const StructFields& fields_of<ApiDescription>();
template const StructFields& fields_of<BackupResult>();
template const StructFields& fields_of<StoreCopy>();
template const StructFields& fields_of<FieldProblem>();
template const StructFields& fields_of<Error>();
template const StructFields& fields_of<ProblemItem>();
template const StructFields& fields_of<Problem>();

// experiments.hpp
template const StructFields& fields_of<SubmittedFile>();
template const StructFields& fields_of<GitState>();
template const StructFields& fields_of<Submission>();
template const StructFields& fields_of<CreatedExperiment>();
template const StructFields& fields_of<DeletedExperiment>();
template const StructFields& fields_of<Fork>();
template const StructFields& fields_of<Validation>();
template const StructFields& fields_of<BracketPreview>();
template const StructFields& fields_of<Preview>();
template const StructFields& fields_of<Annotation>();
template const StructFields& fields_of<AnnotationChange>();
template const StructFields& fields_of<BestResult>();
template const StructFields& fields_of<ExperimentSummary>();
template const StructFields& fields_of<ExperimentPage>();
template const StructFields& fields_of<SourceCheckpoint>();
template const StructFields& fields_of<ProgramChange>();
template const StructFields& fields_of<Note>();
template const StructFields& fields_of<ReachedLength>();
template const StructFields& fields_of<Training>();
template const StructFields& fields_of<Finalist>();
template const StructFields& fields_of<Experiment>();
template const StructFields& fields_of<ModelImportance>();
template const StructFields& fields_of<ModelLength>();
template const StructFields& fields_of<ModelBest>();
template const StructFields& fields_of<Model>();
template const StructFields& fields_of<Checkpoint>();
template const StructFields& fields_of<CheckpointPage>();
template const StructFields& fields_of<LimitChanges>();
template const StructFields& fields_of<ProgramRequest>();

// files.hpp
template const StructFields& fields_of<TrialFileSum>();
template const StructFields& fields_of<TrialFileSums>();
template const StructFields& fields_of<KeptFile>();
template const StructFields& fields_of<OtherFile>();
template const StructFields& fields_of<TrialFiles>();
template const StructFields& fields_of<CheckpointFile>();
template const StructFields& fields_of<CheckpointFiles>();
template const StructFields& fields_of<StoredContext>();

// queues.hpp
template const StructFields& fields_of<QueueSettings>();
template const StructFields& fields_of<QueueRequest>();
template const StructFields& fields_of<QueueRemoval>();
template const StructFields& fields_of<Allocation>();
template const StructFields& fields_of<Queue>();
template const StructFields& fields_of<QueueList>();
template const StructFields& fields_of<QueueCheck>();
template const StructFields& fields_of<QueueText>();

// trials.hpp
template const StructFields& fields_of<Reason>();
template const StructFields& fields_of<Trial>();
template const StructFields& fields_of<TrialPage>();
template const StructFields& fields_of<TrialCheckpointPage>();
template const StructFields& fields_of<CheckpointDeletion>();
template const StructFields& fields_of<Explanation>();
template const StructFields& fields_of<MetricPoint>();
template const StructFields& fields_of<MetricPage>();
template const StructFields& fields_of<LogMatch>();
template const StructFields& fields_of<LogPiece>();

// workers.hpp
template const StructFields& fields_of<AttemptName>();
template const StructFields& fields_of<LeakedProcesses>();
template const StructFields& fields_of<Device>();
template const StructFields& fields_of<WithdrawnSlot>();
template const StructFields& fields_of<HeldAttempt>();
template const StructFields& fields_of<DeviceLoad>();
template const StructFields& fields_of<AttemptLoad>();
template const StructFields& fields_of<DeviceUtilization>();
template const StructFields& fields_of<Utilization>();
template const StructFields& fields_of<Worker>();
template const StructFields& fields_of<WorkerPage>();
template const StructFields& fields_of<ForgottenWorker>();
template const StructFields& fields_of<ForgottenWorkerPage>();
template const StructFields& fields_of<Slot>();
template const StructFields& fields_of<SlotPage>();
template const StructFields& fields_of<QuarantineRequest>();

}  // namespace hpsearch::api
