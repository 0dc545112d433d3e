#include "proto/examples.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "proto/filled.hpp"

namespace hpsearch::test {
namespace {

using namespace hpsearch::engine;  // NOLINT(google-build-using-namespace)
using namespace hpsearch::jobs;    // NOLINT(google-build-using-namespace)

AttemptKey key() {
  return {ExperimentId{7}, TrialNumber{300}, AttemptNumber{2}, LeaseId{70'000}};
}

Value hparams() {
  return Value::Map{{"batch_size", 64},  {"layers", Value::List{32, 16}},
                    {"nesterov", true},  {"optimizer", Value::Map{{"lr", 0.001}, {"name", "sgd"}}},
                    {"warmup", Value{}}, {"width", 64.0}};
}

/// The same event, requested by a client.
template <class Body>
Body by_ann(Body body) {
  body.actor = "ann";
  return body;
}

std::vector<SlotDevice> devices() {
  return {{"GPU-5a1c3f60-0000-4000-8000-000000000000", "NVIDIA H200", 1, 150'754'820'096},
          {"GPU-5a1c3f60-0000-4000-8000-000000000001", "NVIDIA H200", 3, 150'754'820'096}};
}

/// Every field that a worker says when it comes.
proto::Hello hello_with_all(const std::string& allocation) {
  return proto::Hello{1,
                      1,
                      "0f8fad5b-d9cb-469f-a165-70867728950e",
                      "gpu-7",
                      12,
                      "b6b0f3a2",
                      1,
                      2,
                      "gpu",
                      {{key(),
                        true,
                        31,
                        Lsn{70'001},
                        30,
                        {SlotIndex{0}, SlotIndex{3}},
                        Units{81},
                        true,
                        true,
                        Duration::seconds(90)}},
                      "process table",
                      devices(),
                      "big",
                      {{"zone", "b"}},
                      {{SlotIndex{1}, "GPU 1 is lost"}},
                      "10.0.0.7",
                      0x9d2c'5680'1234'5678U,
                      8,
                      "node-7.example",
                      "0.2.0",
                      allocation};
}

/// The same in an allocation that ends.
proto::Hello hello_with_time_left() {
  proto::Hello hello = hello_with_all("gpu/17");
  hello.time_left = engine::TimeLeft{Duration::seconds(28'800), Duration::seconds(28'620)};
  return hello;
}

/// The same, where it shares its slots.
proto::Hello hello_with_shared_slots() {
  proto::Hello hello = hello_with_time_left();
  hello.shared = proto::SharedSlots{3, {{SlotIndex{1}, "in use by search lr (process 12)"}}};
  return hello;
}

/// The same worker in the store.
WorkerJoined joined_in_allocation() {
  return {WorkerId{6},
          "0f8fad5b-d9cb-469f-a165-708677289510",
          "gpu-17",
          1,
          2,
          "gpu",
          devices(),
          "big",
          {{"zone", "b"}},
          "10.0.0.8",
          8,
          "gpu/17"};
}

QueueSettings queue_settings() {
  return {.arguments = {"-p", "gpu", "--gres=gpu:4"},
          .workers = 2,
          .backlog = 2,
          .max_workers = 16,
          .slots = 4,
          .pool = "big",
          .labels = {{"zone", "b"}},
          .state_root = "/scratch",
          .before = "module load cuda",
          .after = "date",
          .wrap = "apptainer exec image.sif"};
}

ProgramChanged program_changed() {
  return {ExperimentId{3},
          TrialNumber{12},
          {TrialNumber{4}, TrialNumber{11}},
          "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
          10240,
          {"train.py", "model.py"}};
}

Report metrics_report() {
  return MetricsReport{Units{27},
                       {{"loss", std::numeric_limits<double>::quiet_NaN()},
                        {"penalty", std::numeric_limits<double>::infinity()},
                        {"val_acc", 0.9375}}};
}
Report checkpoint_report() {
  return CheckpointReport{Units{27}, "/data/checkpoints/7/300/2-27", 3, 1'048'576};
}
Report invalid_report() {
  return InvalidHparamsReport{"batch_size 64 does not divide 1000"};
}
Report exit_report() {
  return ExitReport{ExitReport::Cause::signaled, 9, "killed by signal 9", "Traceback …\nMemoryError\n"};
}
Report note_report() {
  return NoteReport{"backward", "it reports step 3 after step 9"};
}
Report unstarted_report() {
  return ExitReport{ExitReport::Cause::could_not_start, -1, "no program \"trian.py\"", "none"};
}
Report unkillable_report() {
  return ExitReport{ExitReport::Cause::no_progress, 9, "process 4711 survives SIGKILL", "epoch 3\n", true};
}

LaunchSpec launch_spec(Entrypoint entrypoint) {
  LaunchSpec spec;
  spec.key = key();
  spec.trial_id = TrialId{1'234};
  spec.experiment_name = "digits";
  spec.slots = {SlotIndex{0}, SlotIndex{3}};
  spec.entrypoint = std::move(entrypoint);
  spec.hparams = hparams();
  spec.length = Units{81};
  spec.unit = "epochs";
  spec.trial_seed = 2'147'483'647;
  spec.metric = "val_acc";
  spec.context_directory = "/home/ann/digits";
  spec.checkpoint_root = "/data/checkpoints";
  spec.latest_checkpoint = "/data/checkpoints/7/300/1-9";
  spec.latest_step = Units{9};
  spec.environment_variables = {{"OMP_NUM_THREADS", "2"}, {"WHO", "Änn"}};
  spec.metric_patterns = {{"val_acc", "acc=([0-9.]+)"}};
  spec.data = Value::Map{{"url", "file:///data/digits"}};
  return spec;
}

LaunchSpec impatient_spec() {
  LaunchSpec spec = launch_spec({std::vector<std::string>{"python3", "train.py", "{args}"}});
  spec.progress_timeout = Duration::seconds(600);
  spec.despite_leaked_processes = true;
  return spec;
}

LaunchSpec spec_with_a_contract() {
  LaunchSpec spec = impatient_spec();
  spec.contract = {.inputs = {{"data_url", "/data/digits", PassedAs::argument, true}},
                   .outputs = {{"train_url", "/results", PassedAs::variable, true}},
                   .bool_styles = {{"nesterov", BoolStyle::flag}},
                   .pai_hps_strings = true,
                   .ml_layout = true};
  return spec;
}

LaunchSpec remote_spec() {
  LaunchSpec spec = spec_with_a_contract();
  spec.checkpoint_root = "s3://models/digits";
  spec.storage_environment = {{"RCLONE_CONFIG_HPSEARCH_TYPE", "s3"}};
  return spec;
}

LaunchSpec packed_spec() {
  LaunchSpec spec = remote_spec();
  spec.context_digest = std::string(64, 'd');
  spec.contract.in_place = true;
  spec.contract.image = "docker.io/library/python:3.11";
  spec.contract.gpu_image = "docker.io/pytorch/pytorch:2.1.0";
  spec.contract.pull_image = true;
  spec.contract.bind_mounts = {{"/data/digits", "/data", true}};
  return spec;
}

LaunchSpec warm_spec() {
  LaunchSpec spec = packed_spec();
  spec.latest_checkpoint = "s3://models/letters/3/0/1-9";
  spec.warm_start = true;
  spec.source_environment = {{"RCLONE_CONFIG_HPSEARCH_TYPE", "s3"}};
  return spec;
}

LaunchSpec gang_spec() {
  LaunchSpec spec = warm_spec();
  spec.launch = {LaunchKind::pytorch, RankLevel::process};
  spec.rendezvous = {1, {"10.0.0.7", "10.0.0.8"}, 23456};
  return spec;
}

LaunchSpec gang_spec_with_roles() {
  LaunchSpec spec = gang_spec();
  spec.launch = {LaunchKind::tensorflow, RankLevel::process, {1, 2}};
  return spec;
}

LaunchSpec spec_after_a_restore() {
  LaunchSpec spec = gang_spec_with_roles();
  spec.checkpoint_may_be_gone = true;
  return spec;
}

LaunchSpec spec_whose_log_is_kept() {
  LaunchSpec spec = spec_after_a_restore();
  spec.hand_over_log = true;
  return spec;
}

LaunchSpec spec_on_a_terminal() {
  LaunchSpec spec = spec_whose_log_is_kept();
  spec.max_length = Units{27};
  spec.contract.terminal = true;
  return spec;
}

LaunchSpec spec_whose_files_are_kept() {
  LaunchSpec spec = spec_on_a_terminal();
  spec.keep_files_mb = 500;
  spec.larger_is_better = true;
  return spec;
}

LaunchSpec spec_with_unix_user() {
  LaunchSpec spec = spec_whose_files_are_kept();
  spec.unix_user = "ann";
  spec.default_storage = "/var/lib/hpsearch/checkpoints";
  return spec;
}

LaunchSpec spec_that_may_finish() {
  LaunchSpec spec = spec_with_unix_user();
  spec.finish_within = Duration::seconds(3600);
  return spec;
}

LaunchSpec spec_with_requirements() {
  LaunchSpec spec = spec_that_may_finish();
  spec.install_requirements = true;
  spec.mirrors = {"mlflow"};
  spec.preload = {"torch", "numpy"};
  spec.checkpoint_signal = "SIGUSR1";
  spec.harness_config = Value::Map{{"name", "digits"}};
  return spec;
}

Reason rung_reason(Reason::Why why) {
  return {why, 1U, 2U, 3U, 17U, 4U, 0.912, "of its rung", 12U, 2U, 40U, 0.25};
}

Reason expected_reason(Reason::Why why) {
  Reason reason = rung_reason(why);
  reason.expected = ExpectedResult{0.931, 0.0125, -3.25, 0.875, {12, 7, 3}};
  return reason;
}

/// A reason before it had the trial's own metric.
Reason reason_at_a_length(Reason::Why why) {
  Reason reason = expected_reason(why);
  reason.at = Units{27};
  return reason;
}

/// A reason with all fields set.
Reason whole_reason(Reason::Why why) {
  Reason reason = reason_at_a_length(why);
  reason.value = -0.75;
  return reason;
}

/// Adds an example of each kind that has none, made from its list of fields. If such a kind gets another
/// field, move its old example to example_events(), with `whole` false, and add the new one.
std::vector<Example<EventBody>> with_every_kind(std::vector<Example<EventBody>> examples) {
  for_each_kind_of_event([&examples]<class Kind>(const Kind& /*empty*/) {
    const auto is_one = [](const auto& example) { return std::holds_alternative<Kind>(example.value); };
    if (std::none_of(examples.begin(), examples.end(), is_one)) {
      examples.push_back({Kind::type, filled<Kind>()});
    }
  });
  return examples;
}

}  // namespace

proto::Envelope example_envelope() {
  return {0xFEDC'BA98'7654'3210, 5, (5ULL << 32) + 1, 42};
}

const std::vector<Example<proto::FromWorker>>& examples_from_worker() {
  static const std::vector<Example<proto::FromWorker>> examples = {
      {"hello",
       proto::Hello{1,
                    1,
                    "0f8fad5b-d9cb-469f-a165-70867728950e",
                    "gpu-7",
                    12,
                    "b6b0f3a2",
                    4'711,
                    8,
                    "gpu",
                    {{key(), true, 31, Lsn{70'001}, 30, {SlotIndex{0}, SlotIndex{3}}, Units{81}},
                     {key(), true, 1, Lsn{5}, 2, {SlotIndex{1}}, Units{9}}}},
       false},
      {"hello_with_leaked_processes",
       proto::Hello{1,
                    1,
                    "0f8fad5b-d9cb-469f-a165-70867728950e",
                    "gpu-7",
                    12,
                    "b6b0f3a2",
                    4'711,
                    8,
                    "gpu",
                    {{key(), true, 31, Lsn{70'001}, 30, {SlotIndex{0}, SlotIndex{3}}, Units{81}, true}},
                    "process table"},
       false},
      {"hello_with_devices",
       proto::Hello{1,
                    1,
                    "0f8fad5b-d9cb-469f-a165-70867728950e",
                    "gpu-7",
                    12,
                    "b6b0f3a2",
                    4'711,
                    2,
                    "gpu",
                    {{key(), true, 31, Lsn{70'001}, 30, {SlotIndex{0}, SlotIndex{3}}, Units{81}, true}},
                    "cgroup",
                    devices(),
                    "big",
                    {{"zone", "b"}},
                    {{SlotIndex{1}, "GPU 1 is lost"}}},
       false},
      {"hello_with_address",
       proto::Hello{1,
                    1,
                    "0f8fad5b-d9cb-469f-a165-70867728950e",
                    "gpu-7",
                    12,
                    "b6b0f3a2",
                    4'711,
                    2,
                    "gpu",
                    {{key(), true, 31, Lsn{70'001}, 30, {SlotIndex{0}, SlotIndex{3}}, Units{81}, true}},
                    "process table",
                    devices(),
                    "big",
                    {{"zone", "b"}},
                    {{SlotIndex{1}, "GPU 1 is lost"}},
                    "10.0.0.7"},
       false},
      {"hello_with_nonce",
       proto::Hello{1,
                    1,
                    "0f8fad5b-d9cb-469f-a165-70867728950e",
                    "gpu-7",
                    12,
                    "b6b0f3a2",
                    1,
                    2,
                    "gpu",
                    {{key(), true, 31, Lsn{70'001}, 30, {SlotIndex{0}, SlotIndex{3}}, Units{81}, true, true}},
                    "process table",
                    devices(),
                    "big",
                    {{"zone", "b"}},
                    {{SlotIndex{1}, "GPU 1 is lost"}},
                    "10.0.0.7",
                    0x9d2c'5680'1234'5678U},
       false},
      {"hello_with_max_unslotted",
       proto::Hello{1,
                    1,
                    "0f8fad5b-d9cb-469f-a165-70867728950e",
                    "gpu-7",
                    12,
                    "b6b0f3a2",
                    1,
                    2,
                    "gpu",
                    {{key(), true, 31, Lsn{70'001}, 30, {SlotIndex{0}, SlotIndex{3}}, Units{81}, true, true}},
                    "process table",
                    devices(),
                    "big",
                    {{"zone", "b"}},
                    {{SlotIndex{1}, "GPU 1 is lost"}},
                    "10.0.0.7",
                    0x9d2c'5680'1234'5678U,
                    8},
       false},
      {"hello_with_held_time",
       proto::Hello{1,
                    1,
                    "0f8fad5b-d9cb-469f-a165-70867728950e",
                    "gpu-7",
                    12,
                    "b6b0f3a2",
                    1,
                    2,
                    "gpu",
                    {{key(),
                      true,
                      31,
                      Lsn{70'001},
                      30,
                      {SlotIndex{0}, SlotIndex{3}},
                      Units{81},
                      true,
                      true,
                      Duration::seconds(90)}},
                    "process table",
                    devices(),
                    "big",
                    {{"zone", "b"}},
                    {{SlotIndex{1}, "GPU 1 is lost"}},
                    "10.0.0.7",
                    0x9d2c'5680'1234'5678U,
                    8},
       false},
      {"hello_with_host_and_version", hello_with_all(""), false},
      {"hello_with_allocation", hello_with_all("gpu/17"), false},
      {"hello_with_time_left", hello_with_time_left(), false},
      {"hello_with_shared_slots", hello_with_shared_slots()},
      {"beat", proto::Beat{}, false},
      {"beat_of_a_draining_worker",
       proto::Beat{{{key(), Units{27}, 4'200}}, {{key(), {SlotIndex{0}, SlotIndex{3}}}}, true}, false},
      {"beat_with_progress",
       proto::Beat{{{key(), Units{27}, 4'200}}, {{key(), {SlotIndex{0}, SlotIndex{3}}}}}, false},
      {"beat_with_troubles",
       proto::Beat{{{key(), Units{27}, 4'200}},
                   {{key(), {SlotIndex{0}, SlotIndex{3}}}},
                   true,
                   {{SlotIndex{1}, "GPU 1 is lost"}}},
       false},
      {"beat_with_a_checkpoint_problem",
       proto::Beat{{{key(), Units{27}, 4'200}},
                   {{key(), {SlotIndex{0}, SlotIndex{3}}}},
                   true,
                   {{SlotIndex{1}, "GPU 1 is lost"}},
                   "/shared is not there"},
       false},
      {"beat_with_time_left",
       proto::Beat{{{key(), Units{27}, 4'200}},
                   {{key(), {SlotIndex{0}, SlotIndex{3}}}},
                   true,
                   {{SlotIndex{1}, "GPU 1 is lost"}},
                   "/shared is not there",
                   engine::TimeLeft{Duration::seconds(28'800), Duration::seconds(28'620)}},
       false},
      {"beat_with_shared_slots",
       proto::Beat{{{key(), Units{27}, 4'200}},
                   {{key(), {SlotIndex{0}, SlotIndex{3}}}},
                   true,
                   {{SlotIndex{1}, "GPU 1 is lost"}},
                   "/shared is not there",
                   engine::TimeLeft{Duration::seconds(28'800), Duration::seconds(28'620)},
                   proto::SharedSlots{4, {{SlotIndex{0}, "in use by search lr (process 12)"}}}},
       false},
      {"beat_with_utilization",
       proto::Beat{{{key(), Units{27}, 4'200,
                     proto::Utilization{1'769'000'000'000,
                                        10'003,
                                        39'100,
                                        2'147'483'648,
                                        {{0, 8'700, 33'285'996'544}, {3, 0, 1'048'576}}}}},
                   {{key(), {SlotIndex{0}, SlotIndex{3}}}},
                   true,
                   {{SlotIndex{1}, "GPU 1 is lost"}},
                   "/shared is not there",
                   engine::TimeLeft{Duration::seconds(28'800), Duration::seconds(28'620)},
                   proto::SharedSlots{4, {{SlotIndex{0}, "in use by search lr (process 12)"}}}}},
      {"started", proto::Started{key()}},
      {"reports",
       proto::Reports{
           key(),
           28,
           {metrics_report(), checkpoint_report(), invalid_report(), exit_report(), unstarted_report()}},
       false},
      {"reports_note", proto::Reports{key(), 33, {note_report()}}},
      {"reports_unmeasured", proto::Reports{key(), 34, {UnmeasuredReport{Units{27}}}}},
      {"reports_of_the_unkillable",
       proto::Reports{
           key(), 28, {metrics_report(), checkpoint_report(), invalid_report(), unkillable_report()}}},
      {"decision_ack", proto::DecisionAck{key(), Lsn{70'002}}},
      {"log_part", proto::LogPart{3, 4'096, 9'999, std::string("epoch 3\n\xC3\x00\xFF", 11), "log was cut"}},
      {"goodbye", proto::Goodbye{"told to end"}},
      {"log_not_kept", proto::LogNotKept{key(), "the daemon did not take it within 30 s"}},
      {"join", proto::Join{"node-1", "54fcba24e93249969316fb617c872bb0c1d1ff14800427c594cbfacf1bc2d652"}},
  };
  return examples;
}

const std::vector<Example<proto::FromDaemon>>& examples_from_daemon() {
  using Fate = WelcomeWorker::Fate;
  static const std::vector<Example<proto::FromDaemon>> examples = {
      {"welcome",
       proto::Welcome{WorkerId{4},
                      10'000,
                      {{key(), Fate::go_on, 31, LeaseId{70'010}},
                       {key(), Fate::fenced, 1, LeaseId{1}},
                       {key(), Fate::hold, 2, LeaseId{1}}}},
       false},
      {"welcome_with_http",
       proto::Welcome{WorkerId{4}, 10'000, {{key(), Fate::fenced, 31, LeaseId{70'010}}}, "127.0.0.1:8077"},
       false},
      {"welcome_to_a_numbered_hello",
       proto::Welcome{WorkerId{4}, 10'000, {{key(), Fate::fenced, 31, LeaseId{70'010}}}, "127.0.0.1:8077", 3},
       false},
      {"welcome_with_credit",
       proto::Welcome{
           WorkerId{4}, 10'000, {{key(), Fate::fenced, 31, LeaseId{70'010}}}, "127.0.0.1:8077", 3, 262'144},
       false},
      {"welcome_with_an_http_key",
       proto::Welcome{WorkerId{4},
                      10'000,
                      {{key(), Fate::fenced, 31, LeaseId{70'010}}},
                      "127.0.0.1:8077",
                      3,
                      262'144,
                      std::string(43, 'k')},
       false},
      {"welcome_with_a_checkpoint_root", proto::Welcome{WorkerId{4},
                                                        10'000,
                                                        {{key(), Fate::fenced, 31, LeaseId{70'010}}},
                                                        "127.0.0.1:8077",
                                                        3,
                                                        262'144,
                                                        std::string(43, 'k'),
                                                        "/shared/checkpoints/7"}},
      {"lease", proto::Lease{launch_spec({std::vector<std::string>{"python3", "train.py", "{args}"}})},
       false},
      {"lease_of_a_shell_line",
       proto::Lease{launch_spec({std::string("python3 train.py --lr {optimizer.lr}")})}, false},
      {"lease_with_progress_timeout", proto::Lease{impatient_spec()}, false},
      {"lease_with_a_contract", proto::Lease{spec_with_a_contract()}, false},
      {"lease_with_remote_storage", proto::Lease{remote_spec()}, false},
      {"lease_with_a_packed_context", proto::Lease{packed_spec()}, false},
      {"lease_with_a_warm_start", proto::Lease{warm_spec()}, false},
      {"lease_of_a_gang", proto::Lease{gang_spec()}, false},
      {"lease_of_a_gang_with_roles", proto::Lease{gang_spec_with_roles()}, false},
      {"lease_after_a_restore", proto::Lease{spec_after_a_restore()}, false},
      {"lease_whose_log_is_kept", proto::Lease{spec_whose_log_is_kept()}, false},
      {"lease_on_a_terminal", proto::Lease{spec_on_a_terminal()}, false},
      {"lease_whose_files_are_kept", proto::Lease{spec_whose_files_are_kept()}, false},
      {"lease_with_unix_user", proto::Lease{spec_with_unix_user()}, false},
      {"lease_that_may_finish", proto::Lease{spec_that_may_finish()}, false},
      {"lease_with_requirements", proto::Lease{spec_with_requirements()}},
      {"ack", proto::Ack{key(), 31}, false},
      {"ack_with_credit", proto::Ack{key(), 31, 131'072}},
      {"nack", proto::Nack{key(), 29}},
      {"decision", proto::Decide{key(), {Lsn{70'002}, Directive::train_on, Units{81}}}, false},
      {"decision_at_its_length", proto::Decide{key(), {Lsn{70'002}, Directive::stop, Units{81}, true}}},
      {"fenced", proto::Fenced{key()}},
      {"hold", proto::Hold{key()}},
      {"resync", proto::Resync{}},
      {"read_log", proto::ReadLog{3, key(), "stdout", 4'096, 65'536, true}, false},
      {"read_log_of_a_process", proto::ReadLog{3, key(), "stderr", 4'096, 65'536, true, 5}},
      {"retry_after", proto::RetryAfter{2'500}},
      {"refused", proto::Refused{"this daemon speaks version 1 only"}, false},
      {"refused_start", proto::Refused{"a copy", 12}},
      {"joined", proto::Joined{"node-1"}},
      {"wanted", proto::Wanted{2, 17}},
  };
  return examples;
}

const std::vector<Example<EventBody>>& example_events() {
  const ExperimentId experiment{7};
  const TrialNumber trial{300};
  static const std::vector<Example<EventBody>> examples = with_every_kind({
      {"experiment_created",
       ExperimentCreated{experiment, Value::Map{{"hyperparameters", hparams()}, {"name", "digits"}},
                         "/home/ann/digits", "5f7c1f0e"},
       false},
      {"experiment_created_packed",
       ExperimentCreated{experiment, Value::Map{{"hyperparameters", hparams()}, {"name", "digits"}},
                         "/home/ann/digits", "5f7c1f0e", std::string(64, 'd'), 12'800},
       false},
      {"experiment_created_from_a_checkpoint",
       ExperimentCreated{
           experiment, Value::Map{{"name", "digits"}}, "/home/ann/digits", "5f7c1f0e", std::string(64, 'd'),
           12'800,
           SourceCheckpoint{ExperimentId{3}, TrialNumber{12}, Units{27}, "/data/checkpoints/3/12/2-27"}},
       false},
      {"experiment_created_with_owner",
       ExperimentCreated{
           experiment, Value::Map{{"name", "digits"}}, "/home/ann/digits", "5f7c1f0e", std::string(64, 'd'),
           12'800,
           SourceCheckpoint{ExperimentId{3}, TrialNumber{12}, Units{27}, "/data/checkpoints/3/12/2-27"},
           "ann"},
       false},
      {"experiment_created_with_unix_user",
       ExperimentCreated{
           experiment, Value::Map{{"name", "digits"}}, "/home/ann/digits", "5f7c1f0e", std::string(64, 'd'),
           12'800,
           SourceCheckpoint{ExperimentId{3}, TrialNumber{12}, Units{27}, "/data/checkpoints/3/12/2-27"},
           "ann-laptop", "ann"},
       false},
      {"experiment_created_as_written",
       ExperimentCreated{
           experiment, Value::Map{{"name", "digits"}}, "/home/ann/digits", "5f7c1f0e", std::string(64, 'd'),
           12'800,
           SourceCheckpoint{ExperimentId{3}, TrialNumber{12}, Units{27}, "/data/checkpoints/3/12/2-27"},
           "ann-laptop", "ann", SubmittedFile{"digits.yaml", "name: digits  # as ann says\n"},
           GitState{std::string(40, 'c'), "main", true}}},
      {"experiment_paused", ExperimentPaused{experiment}, false},
      {"experiment_paused_by_itself", ExperimentPaused{experiment, "its first attempts failed"}, false},
      {"experiment_paused_by", by_ann(ExperimentPaused{experiment, "its first attempts failed"})},
      {"experiment_resumed", ExperimentResumed{experiment}, false},
      {"experiment_resumed_by", by_ann(ExperimentResumed{experiment})},
      {"experiment_stopping",
       ExperimentStopping{experiment, ExperimentState::canceled, true, "killed by its user"}, false},
      {"experiment_stopping_by",
       by_ann(ExperimentStopping{experiment, ExperimentState::canceled, true, "killed by its user"}), false},
      {"experiment_stopping_cut_short", by_ann(ExperimentStopping{experiment, ExperimentState::canceled, true,
                                                                  "killed by its user", "", true})},
      {"experiment_ended", ExperimentEnded{experiment, ExperimentState::completed, "the space is exhausted"}},
      {"trial_created",
       TrialCreated{experiment,
                    trial,
                    TrialId{1'234},
                    hparams(),
                    Units{9},
                    {Reason::Why::given_point, 0U, 0U, 0U, 1U, 1U, -0.5, "point 2", 12U, 2U, 40U, 0.25}},
       false},
      {"trial_created_by_a_model",
       TrialCreated{experiment, trial, TrialId{1'234}, hparams(), Units{9},
                    expected_reason(Reason::Why::model_choice)},
       false},
      {"trial_created_at_a_length",
       TrialCreated{experiment, trial, TrialId{1'234}, hparams(), Units{9},
                    reason_at_a_length(Reason::Why::model_choice)},
       false},
      {"trial_created_with_a_value", TrialCreated{experiment, trial, TrialId{1'234}, hparams(), Units{9},
                                                  whole_reason(Reason::Why::model_choice)}},
      {"trial_promoted",
       TrialPromoted{experiment, trial, Units{81}, true, rung_reason(Reason::Why::promoted)}, false},
      {"trial_promoted_as_expected",
       TrialPromoted{experiment, trial, Units{81}, true, expected_reason(Reason::Why::promoted)}, false},
      {"trial_promoted_at_a_length",
       TrialPromoted{experiment, trial, Units{81}, true, reason_at_a_length(Reason::Why::promoted)}, false},
      {"trial_promoted_with_a_value",
       TrialPromoted{experiment, trial, Units{81}, true, whole_reason(Reason::Why::promoted)}},
      {"length_reached", LengthReached{experiment, trial, Units{27}, Units{28}, 0.9375}, false},
      {"length_reached_ended", LengthReached{experiment, trial, Units{27}, Units{10}, 0.9375, true}},
      {"trial_paused", TrialPaused{experiment, trial, rung_reason(Reason::Why::waits_at_rung)}, false},
      {"trial_paused_as_expected",
       TrialPaused{experiment, trial, expected_reason(Reason::Why::waits_at_rung)}, false},
      {"trial_paused_at_a_length",
       TrialPaused{experiment, trial, reason_at_a_length(Reason::Why::waits_at_rung)}, false},
      {"trial_paused_with_a_value", TrialPaused{experiment, trial, whole_reason(Reason::Why::waits_at_rung)}},
      {"trial_queued", TrialQueued{experiment, trial}, false},
      {"trial_exited_early",
       TrialExitedEarly{experiment, trial, ExitReason::errored, "exit code 1, five times"}, false},
      {"trial_exited_early_unmeasured",
       TrialExitedEarly{experiment, trial, ExitReason::errored, "its metric never came", true}, false},
      {"trial_exited_early_by",
       by_ann(TrialExitedEarly{experiment, trial, ExitReason::errored, "its metric never came", true})},
      {"trial_ended",
       TrialEnded{experiment, trial, TrialState::stopped, rung_reason(Reason::Why::rung_closed)}, false},
      {"trial_ended_as_expected",
       TrialEnded{experiment, trial, TrialState::stopped, expected_reason(Reason::Why::rung_closed)}, false},
      {"trial_ended_at_a_length",
       TrialEnded{experiment, trial, TrialState::stopped, reason_at_a_length(Reason::Why::rung_closed)},
       false},
      {"trial_ended_with_a_value",
       TrialEnded{experiment, trial, TrialState::stopped, whole_reason(Reason::Why::worse_than_others)}},
      {"lease_granted",
       LeaseGranted{
           experiment, trial, AttemptNumber{2}, WorkerId{4}, {SlotIndex{0}, SlotIndex{3}}, Units{81}},
       false},
      {"attempt_started", AttemptStarted{key()}, false},
      {"lease_granted_on_two",
       LeaseGranted{experiment,
                    trial,
                    AttemptNumber{2},
                    WorkerId{4},
                    {SlotIndex{0}, SlotIndex{3}},
                    Units{81},
                    {{WorkerId{5}, {SlotIndex{1}, SlotIndex{2}}}},
                    23456},
       false},
      {"lease_granted_to_client",
       LeaseGranted{.experiment = experiment,
                    .trial = trial,
                    .attempt = AttemptNumber{2},
                    .worker = WorkerId{4},
                    .slots = {},
                    .length = Units{81},
                    .lease_for = Duration::seconds(60),
                    .request = std::string(64, 'a')},
       false},
      {"lease_granted_with_all", LeaseGranted{experiment,
                                              trial,
                                              AttemptNumber{2},
                                              WorkerId{4},
                                              {SlotIndex{0}, SlotIndex{3}},
                                              Units{81},
                                              {{WorkerId{5}, {SlotIndex{1}, SlotIndex{2}}}},
                                              23456,
                                              Duration::seconds(60),
                                              std::string(64, 'a')}},
      {"attempt_started_elsewhere", AttemptStarted{key(), WorkerId{5}}},
      {"member_exited", MemberExited{key(), WorkerId{5}, std::get<ExitReport>(unkillable_report())}},
      {"member_lost", MemberLost{key(), WorkerId{5}, "gpu-7 was silent for 300 s"}},
      {"gang_ended", GangEnded{key()}},
      {"start_delayed",
       StartDelayed{ExperimentId{3}, TrialNumber{17}, 3, Duration::seconds(2), WorkerId{5}, 2,
                    Duration::seconds(1), "hpsearch-shim has died before it could start"},
       false},
      {"start_delayed_evicted",
       StartDelayed{ExperimentId{3}, TrialNumber{17}, 3, Duration::seconds(2), WorkerId{5}, 2,
                    Duration::seconds(1), "the worker ended before it started", true, true}},
      {"store_restored", StoreRestored{std::uint64_t{217'000'000} << 20U}, false},
      {"store_restored_after_a_while",
       StoreRestored{std::uint64_t{217'000'000} << 20U, Duration::seconds(90)}},
      {"report_taken_metrics", ReportTaken{key(), 28, metrics_report()}},
      {"report_taken_checkpoint", ReportTaken{key(), 29, checkpoint_report()}},
      {"report_taken_invalid_hyperparameters", ReportTaken{key(), 30, invalid_report()}},
      {"report_taken_exit", ReportTaken{key(), 31, exit_report()}, false},
      {"report_taken_note", ReportTaken{key(), 32, note_report()}},
      {"report_taken_unmeasured", ReportTaken{key(), 33, UnmeasuredReport{Units{27}}}},
      {"report_taken_unkillable", ReportTaken{key(), 31, unkillable_report()}},
      {"attempt_lost", AttemptLost{key(), "gpu-7 was silent for 300 s", true}},
      {"worker_joined",
       WorkerJoined{WorkerId{4}, "0f8fad5b-d9cb-469f-a165-70867728950e", "gpu-7", 12, 8, "gpu"}, false},
      {"worker_joined_with_devices",
       WorkerJoined{WorkerId{4},
                    "0f8fad5b-d9cb-469f-a165-70867728950e",
                    "gpu-7",
                    12,
                    2,
                    "gpu",
                    devices(),
                    "big",
                    {{"zone", "b"}}},
       false},
      {"worker_joined_with_address",
       WorkerJoined{WorkerId{5},
                    "0f8fad5b-d9cb-469f-a165-70867728950f",
                    "gpu-8",
                    3,
                    2,
                    "gpu",
                    devices(),
                    "big",
                    {{"zone", "b"}},
                    "10.0.0.8"},
       false},
      {"worker_joined_with_max_unslotted",
       WorkerJoined{WorkerId{5},
                    "0f8fad5b-d9cb-469f-a165-70867728950f",
                    "gpu-8",
                    3,
                    2,
                    "gpu",
                    devices(),
                    "big",
                    {{"zone", "b"}},
                    "10.0.0.8",
                    8},
       false},
      {"request_taken", RequestTaken{std::string(64, 'a'), std::string(64, 'b')}},
      {"workspace_created", WorkspaceCreated{"nlp", "alice"}},
      {"quota_changed", QuotaChanged{"nlp", 8, 4, 20, 1'000, std::nullopt, std::nullopt, "uid:1000"}, false},
      {"quota_changed_to_all_limits", QuotaChanged{"nlp", 8, 4, 20, 1'000, 5'000'000, 720, "uid:1000"}},
      {"quota_changed_to_one_limit", QuotaChanged{"nlp", 0}, false},
      {"time_noted", TimeNoted{Duration::seconds(90)}},
      {"lease_time_added", LeaseTimeAdded{key(), Duration::seconds(90)}},
      {"slot_withdrawn", SlotWithdrawn{WorkerId{4}, SlotIndex{1}, "GPU 1 is lost"}},
      {"slot_restored", SlotRestored{WorkerId{4}, SlotIndex{1}, true}},
      {"limits_changed", LimitsChanged{ExperimentId{3}, Value::Map{{"name", "digits"}}}, false},
      {"limits_changed_by_points", LimitsChanged{ExperimentId{3}, Value::Map{{"name", "digits"}}, true},
       false},
      {"limits_changed_by", by_ann(LimitsChanged{ExperimentId{3}, Value::Map{{"name", "digits"}}, true})},
      {"worker_lost", WorkerLost{WorkerId{4}, "told to end"}, false},
      {"worker_lost_silent", WorkerLost{WorkerId{4}, "no message from it for 300 s", true}},
      {"attempt_adopted", AttemptAdopted{key(), WorkerId{4}, {SlotIndex{0}, SlotIndex{3}}, Units{81}, 31},
       false},
      {"attempt_adopted_to_train_on",
       AttemptAdopted{key(), WorkerId{4}, {SlotIndex{0}, SlotIndex{3}}, Units{81}, 31, true}, false},
      {"attempt_adopted_with_unlogged_decision",
       AttemptAdopted{key(), WorkerId{4}, {SlotIndex{0}, SlotIndex{3}}, Units{81}, 31, true, true}, false},
      {"attempt_adopted_by",
       by_ann(AttemptAdopted{key(), WorkerId{4}, {SlotIndex{0}, SlotIndex{3}}, Units{81}, 31, true, true})},
      {"worker_quarantined", WorkerQuarantined{WorkerId{4}, "3 different trials failed there"}, false},
      {"worker_quarantined_by", by_ann(WorkerQuarantined{WorkerId{4}, "3 different trials failed there"}),
       false},
      {"worker_released", WorkerReleased{WorkerId{4}}, false},
      {"worker_released_by", by_ann(WorkerReleased{WorkerId{4}}), false},
      {"attempt_disowned", AttemptDisowned{WorkerId{4}, key()}, false},
      {"attempt_disowned_by", by_ann(AttemptDisowned{WorkerId{4}, key()})},
      {"slots_quarantined", SlotsQuarantined{WorkerId{4}, key(), {SlotIndex{0}, SlotIndex{3}}}},
      {"slots_released", SlotsReleased{WorkerId{4}, key(), true}},
      {"checkpoints_collected",
       CheckpointsCollected{
           experiment, trial, {"/data/checkpoints/7/300/1-9", "/data/checkpoints/7/300/2-27"}},
       false},
      {"checkpoints_collected_by",
       by_ann(CheckpointsCollected{experiment, trial, {"/data/checkpoints/7/300/1-9"}})},
      {"checkpoints_deleted", CheckpointsDeleted{experiment, {"/data/checkpoints/7/300/1-9"}}},
      {"experiment_reopened", ExperimentReopened{ExperimentId{3}}, false},
      {"experiment_reopened_by", by_ann(ExperimentReopened{ExperimentId{3}})},
      {"program_changed", program_changed(), false},
      {"program_changed_by", by_ann(program_changed())},
      {"experiment_archived", by_ann(ExperimentArchived{ExperimentId{3}})},
      {"annotated", by_ann(Annotated{.experiment = ExperimentId{3},
                                     .trial = TrialNumber{4},
                                     .note = "odd",
                                     .labels = {"good", "wide"},
                                     .starred = true})},
      {"trial_queued_judged", TrialQueued{ExperimentId{3}, TrialNumber{4}, true}},
      {"experiment_unarchived", by_ann(ExperimentUnarchived{ExperimentId{3}})},
      {"experiment_deleted", by_ann(ExperimentDeleted{ExperimentId{3}}), false},
      {"experiment_deleted_by_retention",
       by_ann(ExperimentDeleted{.experiment = ExperimentId{3}, .kept_for = Duration::seconds(31'536'000)})},
      {"trial_retried", by_ann(TrialRetried{experiment, trial})},
      {"logs_removed", LogsRemoved{experiment, trial}},
      {"rows_removed", RowsRemoved{experiment, TrialNumber{2}, trial}},
      {"curve_thinned", CurveThinned{experiment, trial, 200, {1, 2, 5, 2, 1, 40}}},
      {"worker_draining", by_ann(WorkerDraining{WorkerId{4}})},
      {"worker_quarantined_for_a_while",
       by_ann(WorkerQuarantined{WorkerId{4}, "3 trials failed there", "", Duration::seconds(300)})},
      {"worker_released_proven", by_ann(WorkerReleased{WorkerId{4}, "", true})},
      {"worker_joined_with_allocation", joined_in_allocation()},
      {"worker_end_noted", WorkerEndNoted{WorkerId{4}, Duration::seconds(28'800), Duration::seconds(28'620)}},
      {"queue_added", by_ann(QueueAdded{"gpu", queue_settings()})},
      {"queue_changed", by_ann(QueueChanged{"gpu", queue_settings()})},
      {"queue_paused", by_ann(QueuePaused{"gpu", "invalid partition specified: gpux"})},
      {"queue_paused_by", by_ann(QueuePaused{"gpu"}), false},
      {"queue_resumed", by_ann(QueueResumed{"gpu"})},
      {"queue_removed", by_ann(QueueRemoved{"gpu", true})},
      {"allocation_wanted", AllocationWanted{{"gpu", 17}, 2, "0123456789abcdef0123456789abcdef"}},
      {"allocation_submitted", AllocationSubmitted{{"gpu", 17}, "4711"}},
      {"allocation_started", AllocationStarted{{"gpu", 17}}},
      {"allocation_canceled", AllocationCanceled{{"gpu", 17}, "no trial needs it any more"}, false},
      {"allocation_canceled_by",
       by_ann(AllocationCanceled{{"gpu", 17}, "Slurm will not start it: PartitionTimeLimit", true})},
      {"allocation_ended", AllocationEnded{{"gpu", 17}, AllocationEnd::idle, "Slurm: COMPLETED"}},
      {"worker_forgotten", by_ann(WorkerForgotten{WorkerId{4}, "requested by an operator"})},
  });
  return examples;
}

}  // namespace hpsearch::test
