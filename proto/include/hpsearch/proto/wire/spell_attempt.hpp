#pragma once

#include <array>
#include <cstddef>

#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/engine/experiment/commands.hpp"
#include "hpsearch/engine/experiment/orders.hpp"
#include "hpsearch/jobs/launch/launch_spec.hpp"
#include "hpsearch/proto/encoding/spelling.hpp"

// Attempts, their reports and their orders, spelled the same on the wire and in the store.

namespace hpsearch::proto {

template <>
struct Words<engine::Directive> {
  static std::string_view of(engine::Directive directive) { return engine::name_of(directive); }
  static std::optional<engine::Directive> find(std::string_view word) {
    return engine::directive_named(word);
  }
};

/// For enums whose words are only in proto, in the order of their enumerators.
template <class Enum, std::size_t count>
struct WordList {
  std::array<std::string_view, count> words;

  [[nodiscard]] std::string_view of(Enum value) const { return words[static_cast<std::size_t>(value)]; }
  [[nodiscard]] std::optional<Enum> find(std::string_view word) const {
    for (std::size_t i = 0; i < count; ++i) {
      if (words[i] == word) {
        return static_cast<Enum>(i);
      }
    }
    return std::nullopt;
  }
};

template <class Out>
void put(Out& out, const jobs::Entrypoint& entrypoint) {
  std::visit([&out](const auto& command) { put(out, command); }, entrypoint.command);
}

[[nodiscard]] inline bool read(MsgpackItem item, jobs::Entrypoint& out, Trouble& trouble) {
  if (item.kind() == MsgpackItem::Kind::text) {
    out.command = std::string(item.text());
    return true;
  }
  std::vector<std::string> words;
  if (!read(item, words, trouble)) {
    return false;
  }
  out.command = std::move(words);
  return true;
}

template <>
struct Words<jobs::PassedAs> {
  static std::string_view of(jobs::PassedAs passed) { return name_of(passed); }
  static std::optional<jobs::PassedAs> find(std::string_view word) { return jobs::passed_as_named(word); }
};

template <>
struct Words<engine::BoolStyle> {
  static std::string_view of(engine::BoolStyle style) { return engine::name_of(style); }
  static std::optional<engine::BoolStyle> find(std::string_view word) {
    return engine::bool_style_named(word);
  }
};

template <>
struct Words<jobs::LaunchKind> {
  static std::string_view of(jobs::LaunchKind kind) { return name_of(kind); }
  static std::optional<jobs::LaunchKind> find(std::string_view word) { return jobs::launch_kind_named(word); }
};

template <>
struct Words<jobs::RankLevel> {
  static std::string_view of(jobs::RankLevel level) { return name_of(level); }
  static std::optional<jobs::RankLevel> find(std::string_view word) { return jobs::rank_level_named(word); }
};

template <>
struct Words<engine::ExitReport::Cause> {
  static constexpr WordList<engine::ExitReport::Cause, 8> list{{"exited", "signaled", "ended_by_agent",
                                                                "could_not_start", "out_of_memory", "lost",
                                                                "no_progress", "checkpoint_gone"}};
  static std::string_view of(engine::ExitReport::Cause cause) { return list.of(cause); }
  static std::optional<engine::ExitReport::Cause> find(std::string_view word) { return list.find(word); }
};

template <>
struct Words<engine::WelcomeWorker::Fate> {
  static constexpr WordList<engine::WelcomeWorker::Fate, 3> list{{"go_on", "fenced", "hold"}};
  static std::string_view of(engine::WelcomeWorker::Fate fate) { return list.of(fate); }
  static std::optional<engine::WelcomeWorker::Fate> find(std::string_view word) { return list.find(word); }
};

template <>
inline constexpr const char* tag_of<engine::MetricsReport> = "metrics";
void spell(auto& fields, Is<engine::MetricsReport> auto& report) {
  fields("step", report.step);
  fields("metrics", report.metrics);
}

template <>
inline constexpr const char* tag_of<engine::CheckpointReport> = "checkpoint";
void spell(auto& fields, Is<engine::CheckpointReport> auto& report) {
  fields("step", report.step);
  fields("path", report.path);
  fields.maybe("files", report.files);
  fields.maybe("bytes", report.bytes);
}

template <>
inline constexpr const char* tag_of<engine::InvalidHparamsReport> = "invalid_hyperparameters";
void spell(auto& fields, Is<engine::InvalidHparamsReport> auto& report) {
  fields.maybe("why", report.why);
}

template <>
inline constexpr const char* tag_of<engine::ExitReport> = "exit";
void spell(auto& fields, Is<engine::ExitReport> auto& report) {
  fields("cause", report.cause);
  fields.maybe("code", report.code);
  fields.maybe("message", report.message);
  fields.maybe("log_tail", report.log_tail);
  fields.maybe("unkillable", report.unkillable);
}

template <>
inline constexpr const char* tag_of<engine::NoteReport> = "note";
void spell(auto& fields, Is<engine::NoteReport> auto& report) {
  fields("about", report.about);
  fields.maybe("text", report.text);
}

template <>
inline constexpr const char* tag_of<engine::UnmeasuredReport> = "unmeasured";
void spell(auto& fields, Is<engine::UnmeasuredReport> auto& report) {
  fields("step", report.step);
}

void spell(auto& fields, Is<engine::Decision> auto& decision) {
  fields("decision", decision.id);
  fields("directive", decision.directive);
  fields.maybe("length", decision.length);
  fields.maybe("may_finish", decision.may_finish);
}

void spell(auto& fields, Is<engine::TimeLeft> auto& left) {
  fields.maybe("to_end_ms", left.to_end);
  fields.maybe("to_give_back_ms", left.to_give_back);
}

void spell(auto& fields, Is<engine::HeldAttempt> auto& held) {
  spell(fields, held.key);
  fields.maybe("exited", held.exited);
  fields.maybe("last_seq", held.last_seq);
  fields.maybe("last_decision", held.last_decision);
  fields.maybe("first_seq", held.first_seq);
  fields.maybe("slots", held.slots);
  fields.maybe("length", held.length);
  fields.maybe("unkillable", held.unkillable);
  fields.maybe("waits", held.waits);
  fields.maybe("held_ms", held.held_for);
}

void spell(auto& fields, Is<engine::SlotDevice> auto& device) {
  fields("uuid", device.uuid);
  fields.maybe("name", device.name);
  fields.maybe("index", device.index);
  fields.maybe("memory_bytes", device.memory_bytes);
}

void spell(auto& fields, Is<engine::SlotTrouble> auto& trouble) {
  fields("slot", trouble.slot);
  fields.maybe("why", trouble.why);
}

void spell(auto& fields, Is<engine::LeakedProcesses> auto& leaked_processes) {
  spell(fields, leaked_processes.key);
  fields("slots", leaked_processes.slots);
}

void spell(auto& fields, Is<engine::WelcomeWorker::Attempt> auto& attempt) {
  spell(fields, attempt.key);
  fields("fate", attempt.fate);
  fields.maybe("upto", attempt.upto);
  fields.maybe("new_lease", attempt.lease);
}

void spell(auto& fields, Is<jobs::Channel> auto& channel) {
  fields("name", channel.name);
  fields.maybe("path", channel.path);
  fields.maybe("passed_as", channel.passed_as);
  fields.maybe("pre_download", channel.pre_download);
}

void spell(auto& fields, Is<jobs::BindMount> auto& mount) {
  fields("host_path", mount.host_path);
  fields("container_path", mount.container_path);
  fields.maybe("read_only", mount.read_only);
}

void spell(auto& fields, Is<jobs::NamedBoolStyle> auto& named) {
  fields("name", named.name);
  fields("style", named.style);
}

void spell(auto& fields, Is<jobs::JobContract> auto& contract) {
  fields.maybe("inputs", contract.inputs);
  fields.maybe("outputs", contract.outputs);
  fields.maybe("bool_styles", contract.bool_styles);
  fields.maybe("pai_hps_strings", contract.pai_hps_strings);
  fields.maybe("ml_layout", contract.ml_layout);
  fields.maybe("in_place", contract.in_place);
  fields.maybe("image", contract.image);
  fields.maybe("gpu_image", contract.gpu_image);
  fields.maybe("pull_image", contract.pull_image);
  fields.maybe("bind_mounts", contract.bind_mounts);
  fields.maybe("terminal", contract.terminal);
}

void spell(auto& fields, Is<jobs::LaunchRoles> auto& roles) {
  fields.maybe("ps", roles.ps);
  fields.maybe("evaluator", roles.evaluator);
}

void spell(auto& fields, Is<jobs::LaunchConfig> auto& launch) {
  fields.maybe("kind", launch.kind);
  fields.maybe("rank", launch.rank);
  fields.maybe("roles", launch.roles);
}

void spell(auto& fields, Is<engine::Rendezvous> auto& rendezvous) {
  fields.maybe("rank", rendezvous.rank);
  fields.maybe("addresses", rendezvous.addresses);
  fields.maybe("port", rendezvous.port);
}

void spell(auto& fields, Is<jobs::LaunchSpec> auto& spec) {
  spell(fields, spec.key);
  fields("trial_id", spec.trial_id);
  fields("experiment_name", spec.experiment_name);
  fields("slots", spec.slots);
  fields("entrypoint", spec.entrypoint);
  fields("hparams", spec.hparams);
  fields("length", spec.length);
  fields.maybe("max_length", spec.max_length);
  fields("unit", spec.unit);
  fields("trial_seed", spec.trial_seed);
  fields("metric", spec.metric);
  fields.maybe("context_directory", spec.context_directory);
  fields.maybe("context_digest", spec.context_digest);
  fields.maybe("checkpoint_root", spec.checkpoint_root);
  fields.maybe("storage_environment", spec.storage_environment);
  fields.maybe("latest_checkpoint", spec.latest_checkpoint);
  fields.maybe("latest_step", spec.latest_step);
  fields.maybe("checkpoint_may_be_gone", spec.checkpoint_may_be_gone);
  fields.maybe("warm_start", spec.warm_start);
  fields.maybe("source_environment", spec.source_environment);
  fields.maybe("environment_variables", spec.environment_variables);
  fields.maybe("install_requirements", spec.install_requirements);
  fields.maybe("mirrors", spec.mirrors);
  fields.maybe("preload", spec.preload);
  fields.maybe("checkpoint_signal", spec.checkpoint_signal);
  fields.maybe("harness_config", spec.harness_config);
  fields.maybe("metric_patterns", spec.metric_patterns);
  fields.maybe("data", spec.data);
  fields.maybe("progress_timeout_ms", spec.progress_timeout);
  fields.maybe("despite_leaked_processes", spec.despite_leaked_processes);
  fields.maybe("hand_over_log", spec.hand_over_log);
  fields.maybe("keep_files_mb", spec.keep_files_mb);
  fields.maybe("larger_is_better", spec.larger_is_better);
  fields.maybe("contract", spec.contract);
  fields.maybe("launch", spec.launch);
  fields.maybe("rendezvous", spec.rendezvous);
  fields.maybe("unix_user", spec.unix_user);
  fields.maybe("default_storage", spec.default_storage);
  fields.maybe("finish_within_ms", spec.finish_within);
}

}  // namespace hpsearch::proto
