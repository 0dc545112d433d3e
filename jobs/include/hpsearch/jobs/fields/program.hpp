#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/config/experiment_config.hpp"
#include "hpsearch/jobs/contract/job_contract.hpp"
#include "hpsearch/jobs/fields/engine_types.hpp"
#include "hpsearch/jobs/fields/environment_fields.hpp"
#include "hpsearch/jobs/fields/field_kinds.hpp"
#include "hpsearch/jobs/fields/launch_fields.hpp"
#include "hpsearch/jobs/fields/resources_fields.hpp"
#include "hpsearch/jobs/fields/storage_fields.hpp"
#include "hpsearch/jobs/launch/launch.hpp"

// The program of an experiment, and its fields at the top of an experiment file. Each section with its
// own fields has a table in another header of this folder.

namespace hpsearch::jobs {

/// How the training program is started: an argv run without a shell, or a line for `sh -c`.
struct Entrypoint {
  std::variant<std::vector<std::string>, std::string> command;
};

/// Where users can read a program's output after its worker was lost.
enum class LogStorage : std::uint8_t {
  daemon,  ///< In the daemon, which keeps its beginning and its end.
  worker,  ///< Nowhere.
};
inline constexpr std::array<std::string_view, 2> log_storage_names = {"daemon", "worker"};

/// Which validations of the Determined harness are followed by a checkpoint.
enum class CheckpointPolicy : std::uint8_t { best, all, none };
inline constexpr std::array<std::string_view, 3> checkpoint_policy_names = {"best", "all", "none"};

/// `keep_files`: which files from the working directories of programs a worker keeps.
struct KeepFiles {
  std::uint64_t max_mb = 500;  ///< Limit for all trials on one worker, in 10^6 bytes; 0 = keeps nothing.
};

inline constexpr std::uint64_t most_kept_mb = 1'000'000'000;

inline constexpr std::tuple keep_files_fields{
    Field{"max_mb", &KeepFiles::max_mb, kind::Integer{0, most_kept_mb},
          "most megabytes of all trials on one worker; 0: nothing is kept"},
};

namespace kind {

/// A line for the shell, or a list of words.
struct Command {
  [[nodiscard]] std::optional<Entrypoint> read(Section& section, std::string_view key) const;
  [[nodiscard]] Value write(const Entrypoint& value) const;
  [[nodiscard]] std::string range() const {
    return "a line for `sh -c`, or a list of words that run without a shell: texts, after the first also "
           "integers";
  }
  [[nodiscard]] std::string allowed() const {
    return "a shell command, or a list of words run without a shell";
  }
  [[nodiscard]] Value schema() const;
};

/// Regular expressions by the names of metrics.
struct MetricPatterns {
  [[nodiscard]] std::optional<std::map<std::string, std::string>> read(Section& section,
                                                                       std::string_view key) const;
  [[nodiscard]] Value write(const std::map<std::string, std::string>& value) const {
    return engine::kind::MapOfTexts{}.write(value);
  }
  [[nodiscard]] std::string range() const {
    return "map of regular expressions (RE2) of at most 1,024 bytes, each with `{number}` where the number "
           "is";
  }
  [[nodiscard]] Value schema() const;
};

/// A component. The dialect for PAI reads it.
struct ComponentForm : Anything {
  [[nodiscard]] std::string range() const {
    return "path of the component file, relative to this file, or the map itself";
  }
  [[nodiscard]] Value schema() const;
};

}  // namespace kind

/// Fields that only the Determined harness reads.
struct HarnessFields {
  std::uint64_t scheduling_unit = 100;  ///< In batches.
  bool perform_initial_validation = false;
  CheckpointPolicy checkpoint_policy = CheckpointPolicy::best;
  Value profiling;  ///< This and the following field are kept as written.
  Value optimizations;
  Value debug;
};

inline constexpr std::tuple harness_fields{
    Field{"scheduling_unit", &HarnessFields::scheduling_unit, kind::Integer{1},
          "batches between two checks for new directives"},
    Field{"perform_initial_validation", &HarnessFields::perform_initial_validation, kind::Boolean{},
          "validates before training starts"},
    Field{
        "checkpoint_policy", &HarnessFields::checkpoint_policy,
        kind::one_of<CheckpointPolicy>(checkpoint_policy_names),
        "which validations are followed by a checkpoint. For other programs, `none` means that they save no "
        "checkpoints"},
    Field{"profiling", &HarnessFields::profiling, kind::AsWritten<kind::FreeMap>{}, "passed to the harness"},
    Field{"optimizations", &HarnessFields::optimizations, kind::AsWritten<kind::FreeMap>{},
          "passed to the harness"},
    Field{"debug", &HarnessFields::debug, kind::AsWritten<kind::Boolean>{}, "passed to the harness"},
};

/// Sections of other platforms. They have no effect here and are kept as written.
struct ForeignSections {
  Value slurm;
  Value pbs;
  Value tensorboard_storage;
  Value data_layer;
  Value security;
  Value internal;
};

inline constexpr kind::AsWritten foreign_scheduler{
    kind::FreeMap{}, "has no effect here: programs are started by this program's own workers"};
inline constexpr kind::AsWritten foreign_section{kind::FreeMap{}, "has no effect here"};

inline constexpr std::tuple foreign_sections_fields{
    Field{"slurm", &ForeignSections::slurm, foreign_scheduler,
          "no effect: hpsearch starts programs on its own workers"},
    Field{"pbs", &ForeignSections::pbs, foreign_scheduler,
          "no effect: hpsearch starts programs on its own workers"},
    Field{"tensorboard_storage", &ForeignSections::tensorboard_storage, foreign_section, "no effect"},
    Field{"data_layer", &ForeignSections::data_layer, foreign_section, "no effect"},
    Field{"security", &ForeignSections::security, foreign_section, "no effect"},
    Field{"internal", &ForeignSections::internal, foreign_section, "no effect"},
};

/// The program and how it is started: all fields of an experiment that its search doesn't use.
struct Program {
  Value::Map data;  ///< Free-form; passed to the program.
  Entrypoint entrypoint;
  Value component;  ///< As written; null if there is none.
  LogStorage log_storage = LogStorage::daemon;
  KeepFiles keep_files;
  std::map<std::string, std::string> metrics;  ///< Metric name → regular expression over the output.
  std::vector<Channel> inputs;
  std::vector<Channel> outputs;
  PaiVariables pai;
  bool ml_layout = false;
  bool in_place = false;
  LaunchConfig launch;  ///< How its processes find each other.
  std::vector<GivenMount> bind_mounts;
  HarnessFields harness;
  ForeignSections foreign;
  Environment environment;
  ProgramResources resources;
  CheckpointStorage checkpoint_storage;

  // The following members are derived from the fields.
  bool needs_harness = false;  ///< The program is written for the Determined harness.
  JobContract contract;        ///< The program's requirements on its start.
};

/// The fields at the top of the file, with those of `harness_fields` and `foreign_sections_fields`.
inline constexpr std::tuple program_fields{
    Field{"data", &Program::data, kind::FreeMap{}, "anything; the program receives it as `HPSEARCH_DATA`"},
    Field{"entrypoint", &Program::entrypoint, kind::Command{},
          "the program's command, [with placeholders](job-contract.md#placeholders-and-shells)",
          "required, except with `workers: external`"},
    Field{"component", &Program::component, kind::AsWritten<kind::ComponentForm>{},
          "[declared parameters and channels of the program](components.md)"},
    Field{"log_storage", &Program::log_storage, kind::one_of<LogStorage>(log_storage_names),
          "who keeps the output of attempts that have ended: the daemon ([beginning and "
          "end](operating/worker.md#logs-after-the-worker)), or only the worker that ran them"},
    Field{"keep_files", &Program::keep_files, kind::Group<KeepFiles, keep_files_fields>{},
          "`{max_mb: 500}`: most megabytes of [files left in working "
          "directories](job-contract.md#where-to-write-files) that a worker keeps (copies at the daemon: "
          "`hpsearchd --kept-quota`); `max_mb: 0` keeps nothing"},
    Field{"metrics", &Program::metrics, kind::MetricPatterns{},
          "metrics read from the program's output, [name and pattern](reporting.md#4-no-change-at-all)"},
    Field{"inputs", &Program::inputs, kind::Channels<input_fields>{},
          "[channels](#inputs-and-outputs) that the program reads"},
    Field{"outputs", &Program::outputs, kind::Outputs{},
          "[channels](#inputs-and-outputs) that the program writes"},
    Field{"pai", &Program::pai, kind::Subsection<PaiVariables, pai_fields>{},
          "[format of PAI's variables](#pai)"},
    Field{"layout", &Program::ml_layout, kind::OneOf<bool, 1>{{{{"/ml", true}}}},
          "`/ml` mounts the [attempt's tree](job-contract.md#the-tree) at `/ml`"},
    Field{"source", &Program::in_place, kind::OneOf<bool, 2>{{{{"packed", false}, {"in_place", true}}}},
          "`packed`: programs run in a copy of the context directory, made at submission; `in_place`: in the "
          "directory itself"},
    Field{"launch", &Program::launch, kind::Subsection<LaunchConfig, launch_fields>{},
          "[trials with several processes](#launch)"},
    Field{"bind_mounts", &Program::bind_mounts, kind::ListOf<GivenMount, bind_mount_fields>{},
          "[additional files and directories](#bind_mounts)"},
};

/// Reads the program of an experiment's effective tree (engine::to_value). `space` is that experiment's.
[[nodiscard]] Result<Program> read_program(const Value& effective, const Space& space);

/// The fields of the effective tree: ExperimentConfig::program. Reading them gives the same program.
[[nodiscard]] Value::Map to_value(const Program& program);

}  // namespace hpsearch::jobs
