#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

#include "cli/completion/completion_program.hpp"
#include "cli/verbs/argument_checks.hpp"
#include "cli/verbs/verb_groups.hpp"

namespace hpsearch::cli {

void add_store_verbs(VerbBuilder& build) {
  CLI::App& group = build.add_family("store", "Check, copy and repair the store of a daemon");
  group.require_subcommand(1);
  const auto add_verb = [&](const char* name, const char* about,
                            int (*verb)(const StoreOptions&, const Output&), const char* to) -> CLI::App& {
    CLI::App& added = build.add_to(
        group, name, about, [&build, verb](const Output& output) { return verb(build.given.store, output); });
    added
        .add_option("STORE", build.given.store.store,
                    "State directory of a daemon or a run, a backup, or the address of a database\n"
                    "(postgresql://…)")
        ->required()
        ->check(not_empty());
    if (to != nullptr) {
      added.add_option("--to", build.given.store.to, to)->required()->check(not_empty());
    }
    return added;
  };
  const auto add_keys = [&](CLI::App& verb, const char* without) {
    CLI::Option_group& keys = *verb.add_option_group("keys", "What the keys are sealed with");
    keys.add_option("--key-file", build.given.store.key_file, "File whose content seals the keys")
        ->check(not_empty());
    keys.add_flag("--passphrase", build.given.store.passphrase,
                  "Ask for a passphrase, or read it from the standard input");
    keys.add_flag("--without-keys", build.given.store.without_keys, without);
    keys.require_option(0, 1);
  };
  add_verb("verify", "Check every event and the tables beside them; changes nothing", store_verify, nullptr);
  add_keys(add_verb("backup", "Copy all that a restore needs, in use or not, and check the copy",
                    store_backup, "Directory to create"),
           "Leave the keys out; workers and clients need new ones after a restore");
  CLI::App& restore = add_verb("restore", "Create a state directory from a backup", store_restore,
                               "State directory to create");
  add_keys(restore, "Leave the keys sealed; workers and clients need new ones");
  restore
      .add_option("--upto", build.given.store.upto,
                  "Number of the last event to restore (hpsearch store export prints them); default: all")
      ->check(CLI::Range(std::uint64_t{1}, std::numeric_limits<std::uint64_t>::max()));
  restore
      .add_option(
          "--endpoint-url", build.given.store.endpoint_url,
          "Where the object store of a backup at s3://BUCKET/PREFIX/NAME is reached, if its provider\n"
          "isn't Amazon; default: as rclone does")
      ->check(not_empty());
  add_verb("salvage", "Create a state directory from the undamaged part of a store", store_salvage,
           "State directory to create");
  add_verb("export", "Print every event as a line of JSON", store_export, nullptr);
  CLI::App& copy =
      build.add_to(group, "copy", "Move the store of a stopped daemon into a database, or back, and check it",
                   [&build](const Output& output) { return store_copy(build.given.store, output); });
  copy.add_option("--from", build.given.store.store,
                  "State directory of a daemon, or the address of a database (postgresql://…)")
      ->required()
      ->check(not_empty());
  copy.add_option("--to", build.given.store.to,
                  "Address of a database without a store, or a state directory to create")
      ->required()
      ->check(not_empty());
}

void add_notify(VerbBuilder& build) {
  CLI::App& verb = build.add("notify", "Send a test to those whom a daemon notifies",
                             [&build](const Output& output) { return notify(build.given.notify, output); });
  verb.add_option("FILE", build.given.notify.file, "The file of hpsearchd --notify")
      ->required()
      ->check(CLI::ExistingFile);
  verb.add_option("--receiver", build.given.notify.receiver, "Only this receiver")->check(not_empty());
}

void add_cluster_verbs(VerbBuilder& build) {
  CLI::App& group = build.add_family("cluster", "Set up a daemon for workers on other machines");
  group.require_subcommand(1);
  ClusterOptions& given = build.given.cluster;
  CLI::App& init = build.add_to(
      group, "init",
      "Make keys, an invite and the command or the systemd unit of the daemon, and print what to do",
      [&build](const Output& output) { return cluster_init(build.given.cluster, output); });
  init.add_option("DIR", given.directory,
                  "The daemon's state directory (default: hpsearchd in $HPSEARCH_STATE_HOME, else in\n"
                  "$XDG_STATE_HOME/hpsearch, else in .hpsearch)")
      ->check(not_empty());
  init.add_option(
          "--address", given.address,
          "Host name or IP address by which other machines reach this one (default: its first address)")
      ->check(not_empty());
  init.add_option("--checkpoint-root", given.checkpoint_root,
                  "Directory that all machines have at the same path, for checkpoints and the invite")
      ->check(not_empty());
  init.add_option(
          "--invite-file", given.invite_file,
          "Where the invite is written, for you alone (default: hpsearch-invite in --checkpoint-root,\n"
          "else in DIR)")
      ->check(not_empty());
  init.add_option("--for", given.life, "How long workers can join with the invite, as 30m, 12h or 7d")
      ->capture_default_str();
  init.add_option("--uses", given.uses, "How many workers may join with the invite")
      ->capture_default_str()
      ->transform(integer_from(1, 100'000));
  init.add_option("--http-port", given.http_port, "Port for clients")
      ->capture_default_str()
      ->transform(integer_from(1, 65'535));
  init.add_option("--workers-port", given.workers_port, "Port for workers")
      ->capture_default_str()
      ->transform(integer_from(1, 65'535));
  init.add_option(
          "--unit", given.unit,
          "Write a systemd unit: user for a service of yours, system for one that root installs; none")
      ->capture_default_str()
      ->check(CLI::IsMember({"none", "user", "system"}));
}

void add_key_verbs(VerbBuilder& build) {
  CLI::App& group = build.add_family("keys", "Manage the keys of workers that reach a daemon over TCP");
  group.require_subcommand(1);
  const auto add_verb = [&](const char* name, const char* about,
                            int (*verb)(const KeyOptions&, const Output&)) -> CLI::App& {
    CLI::App& added = build.add_to(
        group, name, about, [&build, verb](const Output& output) { return verb(build.given.key, output); });
    added.add_option("STATE_DIR", build.given.key.state_dir, "The daemon's state directory")
        ->required()
        ->check(not_empty());
    return added;
  };
  add_verb("list", "List the daemon's own key and the allowed worker keys", keys_list);
  CLI::App& allow = add_verb("allow", "Allow a worker's key; a running daemon uses it at once", keys_allow);
  allow.add_option("NAME", build.given.key.name, "Name of the worker")->required();
  allow.add_option("KEY", build.given.key.key, "Public key, as printed by hpsearch-worker --show-key")
      ->required();
  add_verb("deny", "Deny all keys of a worker, or one key", keys_deny)
      .add_option("NAME_OR_KEY", build.given.key.name, "Name of the worker, or a key")
      ->required();
}

void add_token_verbs(VerbBuilder& build) {
  CLI::App& group = build.add_family("token", "Manage the tokens that clients need over TCP");
  group.require_subcommand(1);
  const auto add_verb = [&](const char* name, const char* about,
                            int (*verb)(const TokenOptions&, const Output&)) -> CLI::App& {
    CLI::App& added = build.add_to(group, name, about, [&build, verb](const Output& output) {
      build.given.token.server = build.given.server;
      return verb(build.given.token, output);
    });
    build.add_server(added);
    return added;
  };
  CLI::App& create = add_verb("create", "Create a token and print it, this once", token_create);
  create.add_option("--name", build.given.token.name, "Name of the token, for people")->required();
  create
      .add_option("--role", build.given.token.role,
                  "viewer reads; submitter also submits experiments and changes its own ones; operator also\n"
                  "changes all experiments and workers; admin also manages tokens, workspaces and backups")
      ->required()
      ->check(one_of({"viewer", "submitter", "operator", "admin"}));
  create
      .add_option("--workspace", build.given.token.workspaces,
                  "Only in this workspace; repeat it for several (default: in all)")
      ->check(not_empty())
      ->take_all();
  create.add_option("--unix-user", build.given.token.unix_user,
                    "The Unix user as whom workers with --run-as submitter run what it submits (none)");
  create
      .add_option("--expires", build.given.token.expires,
                  "Lifetime, as 30d, 12h or never (an admin's, over the socket)")
      ->capture_default_str();
  CLI::App& tokens =
      build.add_to(group, "list", "List the tokens, without their secrets",
                   [&build](const Output& output) { return token_list(build.given.server, output); });
  build.add_server(tokens);
  add_verb("rotate", "Replace the secret of a token and print the new token", token_rotate)
      .add_option("ID", build.given.token.id, "As listed by hpsearch token list")
      ->required();
  add_verb("revoke", "End a token", token_revoke)
      .add_option("ID", build.given.token.id, "As listed by hpsearch token list")
      ->required();
}

void add_context_verbs(VerbBuilder& build) {
  CLI::App& group = build.add_family("context", "Remember daemons by name, and which one is used");
  group.require_subcommand(1);
  const auto add_verb = [&](const char* name, const char* about,
                            int (*verb)(const ContextOptions&, const Output&)) -> CLI::App& {
    CLI::App& added = build.add_to(group, name, about, [&build, verb](const Output& output) {
      return verb(build.given.context, output);
    });
    added.add_option("NAME", build.given.context.name, "Name of the context")->required();
    return added;
  };
  CLI::App& adding = add_verb("add", "Add a daemon, or change the one of that name", context_add);
  adding
      .add_option("ADDRESS", build.given.context.address,
                  "Where it listens: unix:///PATH, https://HOST:PORT or HOST:PORT")
      ->required();
  adding.add_option("--fingerprint", build.given.context.fingerprint,
                    "SHA-256 of its certificate, as hpsearchd logs it; no other one is accepted");
  adding.add_option("--token-file", build.given.context.token_file,
                    "File with the token for it, - for standard input; the token is copied");
  add_verb("use", "Use this daemon unless --server, HPSEARCH_SERVER or --state-dir names another",
           context_use);
  add_verb("remove", "Forget a daemon and its token", context_remove);
  build.add_to(group, "list", "List the daemons", [](const Output& output) { return context_list(output); });
}

void add_usage(VerbBuilder& build) {
  CLI::App& verb =
      build.add("usage", "Show how long slots were used, and by whom", [&build](const Output& output) {
        build.given.usage.server = build.given.server;
        return usage(build.given.usage, output);
      });
  build.add_server(verb);
  verb.add_option("--by", build.given.usage.by, "user, workspace or experiment")
      ->capture_default_str()
      ->check(one_of({"user", "workspace", "experiment"}));
  verb.add_option(
      "--since", build.given.usage.since,
      "Only later use: hours or days before now, as 12h or 30d, or a day, as 2026-11-01; counted by the\n"
      "hour (default: all)");
}

void add_workspace_verbs(VerbBuilder& build) {
  CLI::App& group = build.add_family("workspace", "Manage workspaces and their quotas");
  group.require_subcommand(1);
  const auto add_verb = [&](const char* name, const char* about,
                            int (*verb)(const WorkspaceOptions&, const Output&)) -> CLI::App& {
    CLI::App& added = build.add_to(group, name, about, [&build, verb](const Output& output) {
      build.given.workspace.server = build.given.server;
      return verb(build.given.workspace, output);
    });
    build.add_server(added);
    return added;
  };
  add_verb("list", "List the workspaces, what they use, and their quotas", workspace_list);
  add_verb("create", "Create a workspace; from the first one on, experiments name one that exists",
           workspace_create)
      .add_option("NAME", build.given.workspace.name, "1 to 63 lower-case letters, digits and -")
      ->required();
  CLI::App& quota = add_verb("quota", "Show or change the quota of a workspace", workspace_quota);
  quota.add_option("NAME", build.given.workspace.name, "Name of the workspace")
      ->required()
      ->check(not_empty());
  for (std::size_t i = 0; i < engine::quota_limits.size(); ++i) {
    const engine::QuotaLimit& limit = engine::quota_limits[i];
    quota.add_option(std::string(limit.option), build.given.workspace.limits[i],
                     "Most " + std::string(limit.about) + ": a number, or none");
  }
}

std::vector<CLI::Option*> add_queue_options(CLI::App& to, AllocOptions& options) {
  constexpr std::pair<const char*, const char*> settings[] = {
      {"time-limit", "Time of an allocation, as 8h or 30m (8h)"},
      {"workers-per-alloc", "Workers of an allocation, each on a node of its own (1)"},
      {"backlog", "Most allocations that wait for their start (1)"},
      {"max-workers",
       "Most workers at once, waiting ones included (as many as an allocation has; for run\nas many as "
       "max_concurrent_trials needs)"},
      {"idle-timeout", "Time without a trial after which a worker ends (5m)"},
      {"give-back", "Time before its end in which trials of an allocation save a checkpoint and end (3m)"},
      {"min-utilization", "Fraction of its slots that trials keep busy in a further allocation (0.5)"},
      {"state-root", "Directory for the state of workers, for a shell on the node ($TMPDIR)"},
      {"before", "Line of shell before each worker"},
      {"after", "Line of shell after all workers of an allocation"},
      {"wrap", "Words before the command of each worker, as \"apptainer exec image.sif\""},
  };
  std::vector<CLI::Option*> added;
  for (const auto& [name, about] : settings) {
    added.push_back(to.add_option_function<std::string>(
        std::string("--") + name,
        [&options, key = std::string(name)](const std::string& text) { options.settings[key] = text; },
        about));
  }
  added.push_back(to.add_flag("--no-check", options.no_check,
                              "Ask for allocations whatever the other scheduler says about them first"));
  return added;
}

void add_alloc_verbs(VerbBuilder& build) {
  CLI::App& group = build.add_family(
      "alloc", "Manage queues that ask Slurm, Kubernetes or another scheduler for workers when trials wait");
  group.require_subcommand(1);
  const auto add_verb = [&](const char* name, const char* about) -> CLI::App& {
    CLI::App& added =
        build.add_to(group, name, about, [&build, what = std::string(name)](const Output& output) {
          build.given.alloc.server = build.given.server;
          return alloc(what, build.given.alloc, output);
        });
    build.add_server(added);
    return added;
  };
  CLI::App& adding = add_verb("add", "Add a queue, after a check that its allocations could start");
  adding
      .add_option("BACKEND", build.given.alloc.backend,
                  "The other scheduler: slurm, kubernetes, kubernetes/NAMESPACE, pbs, lsf, gridengine, ray, "
                  "or the path\n"
                  "of a directory, from /, with the programs submit, status and cancel")
      ->required()
      ->check(not_empty());
  adding.add_option("--name", build.given.alloc.queue, "Name of the queue: lower-case letters, digits and -")
      ->required();
  add_queue_options(adding, build.given.alloc);
  adding.add_option_function<std::string>(
      "--slots", [&build](const std::string& text) { build.given.alloc.settings["slots"] = text; },
      "Slots of a worker, or auto: each finds out by itself (auto)");
  adding.add_option_function<std::string>(
      "--pool", [&build](const std::string& text) { build.given.alloc.settings["pool"] = text; },
      "Resource pool of its workers (default)");
  adding
      .add_option("--label", build.given.alloc.labels, "KEY=VALUE, a label of its workers. Can be repeated")
      ->take_all();
  adding.add_option(
      "ARGUMENT", build.given.alloc.arguments,
      "After --: arguments for the command that submits a job, as -p gpu; for kubernetes: --image\n"
      "IMAGE, --gpus N, --gpu-resource NAME, --cpu N, --memory SIZE, --pod-template FILE, --worker\n"
      "PROGRAM, --kueue-queue NAME, --scheduler-name NAME");
  CLI::App& applying = add_verb("apply", "Add and change queues until they are as in a file");
  applying
      .add_option(
          "FILE", build.given.alloc.file,
          "queues: {NAME: {time-limit: 8h, arguments: [-p, gpu]}}, with the options of alloc add; - reads\n"
          "standard input")
      ->required();
  applying.add_flag("--no-check", build.given.alloc.no_check, "Whatever the other scheduler says");
  add_verb("list", "List the queues");
  const auto add_of_queue = [&](const char* name, const char* about) -> CLI::App& {
    CLI::App& added = add_verb(name, about);
    added.add_option("QUEUE", build.given.alloc.queue, "Name of the queue")->required()->check(not_empty());
    return added;
  };
  add_of_queue("show", "Show a queue, its allocations, and why it asks for no more");
  add_verb("log", "Print what the nodes of an allocation wrote")
      .add_option("ALLOCATION", build.given.alloc.queue, "QUEUE/NUMBER, as hpsearch alloc show lists it")
      ->required();
  add_of_queue("script", "Print the scripts of an allocation");
  add_of_queue("check", "Ask the other scheduler whether an allocation could start; starts none");
  add_of_queue("pause", "Ask for no more allocations; those that run go on");
  add_of_queue("resume", "Ask for allocations again");
  add_of_queue("set", "Change settings of a queue")
      .add_option("CHANGE", build.given.alloc.assignments,
                  "SETTING=VALUE; settings are named as the options of alloc add")
      ->required();
  add_of_queue("remove", "Remove a queue when its allocations have ended")
      .add_flag("--now", build.given.alloc.at_once,
                "Cancel its allocations; their trials run again elsewhere");
}

void add_audit_verbs(VerbBuilder& build) {
  CLI::App& group = build.add_family("audit", "Show who changed what, and check that record");
  group.require_subcommand(1);
  CLI::App& listing = build.add_to(group, "list", "List changes and sign-ins, the oldest first",
                                   [&build](const Output& output) {
                                     build.given.audit.server = build.given.server;
                                     return audit_list(build.given.audit, output);
                                   });
  build.add_server(listing);
  listing.add_option("--after", build.given.audit.after, "Only lines with higher numbers")
      ->transform(integer_from(0));
  listing.add_flag("--refusals", build.given.audit.refusals, "List refused requests instead");
  CLI::App& verify =
      build.add_to(group, "verify", "Check that no line was changed or removed",
                   [&build](const Output& output) { return audit_verify(build.given.audit, output); });
  verify.add_option("STATE_DIR", build.given.audit.state_dir, "State directory of a daemon or a run")
      ->required()
      ->check(not_empty());
  verify.add_option("--holds", build.given.audit.holds,
                    "Hash of a line that must be there, as an earlier verify printed it: finds lines that "
                    "were\ncut off at the end");
}

void add_component_verbs(VerbBuilder& build) {
  CLI::App& group = build.add_family("component", "Check component files");
  group.require_subcommand(1);
  CLI::App& check =
      build.add_to(group, "check", "Check a component file and print its declarations",
                   [&build](const Output& output) { return component_check(build.given.file.file, output); });
  check.add_option("FILE", build.given.file.file, "Component file, in YAML or JSON; - reads standard input")
      ->required();
}

void add_doctor(VerbBuilder& build) {
  DoctorOptions& given = build.given.doctor;
  CLI::App& verb = build.add(
      "doctor", "Check a daemon, its state directory and this machine, with a remedy for each problem",
      [&build](const Output& output) {
        build.given.doctor.server = build.given.server;
        return doctor(build.given.doctor, output);
      });
  build.add_server(verb);
  verb.add_flag("--worker", given.worker, "Check this machine as one that runs a worker");
  verb.add_flag("--all", given.all, "Print the checks without a problem, too");
  verb.add_flag("--list", given.list, "List the checks instead");
  CLI::Option* bundle =
      verb.add_option(
              "--bundle", given.bundle,
              "Write a new file FILE.tar.zst for a bug report: findings, versions, log, metrics, mounts;\n"
              "secrets are masked")
          ->check(not_empty());
  verb.add_option(
          "--log", given.logs,
          "With --bundle: a log file, whose last 2000 lines go into the bundle; can be repeated (default:\n"
          "the journal of the services, or the logs of a run)")
      ->needs(bundle)
      ->allow_extra_args(false);
  verb.footer(
      "Exit codes: 0 no problem, 1 warnings, 2 errors or wrong arguments, 3 no such state directory, 4 the "
      "bundle is there already, 74 disk failed.");
}

void add_completion(VerbBuilder& build) {
  build
      .add("completion", "Print the completion script of a shell: source <(hpsearch completion bash)",
           [&build](const Output& output) { return print_completion(build.given.shell, output); })
      .add_option("SHELL", build.given.shell, "bash, zsh or fish")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
}

}  // namespace hpsearch::cli
