#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/admin/invites.hpp"
#include "cli/events/events.hpp"
#include "cli/verbs/verbs.hpp"

namespace hpsearch::cli {

/// The values of all arguments; CLI11 writes them while it parses.
struct Arguments {
  std::string format = "table";
  ServerOptions server;
  FileOptions file;
  RunOptions run;
  SimulateOptions simulate;
  ExperimentOptions experiment;
  ConfigOptions config;
  std::vector<std::string> words;  ///< The words of [EXPERIMENT [TRIAL]].
  WaitOptions wait;
  EventsOptions events;
  LogsOptions logs;
  SetOptions set;
  AnnotateOptions annotate;
  TrialsOptions trials;
  BestOptions best;
  CompareOptions compare;
  CurvesOptions curves;
  ExportOptions exported;
  EndedOptions ended;
  ListOptions list;
  ExplainOptions explain;
  CheckpointOptions checkpoint;
  std::string checkpoint_word;  ///< For commands with a single checkpoint.
  FilesOptions files;
  NotifyOptions notify;
  StoreOptions store;
  KeyOptions key;
  TokenOptions token;
  ContextOptions context;
  AuditOptions audit;
  UsageOptions usage;
  WorkspaceOptions workspace;
  AllocOptions alloc;
  WorkerOptions worker;
  InviteOptions invite;
  ClusterOptions cluster;
  bool devices = false;
  bool no_browser = false;
  bool open_as_admin = false;
  std::optional<std::uint64_t> trial;
  bool yes = false;
  std::optional<std::string> context_directory;
  ImportOptions import_options;
  std::string shell;
  DoctorOptions doctor;
};

}  // namespace hpsearch::cli
