#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "cli/client/which.hpp"
#include "cli/verbs/argument_checks.hpp"
#include "cli/verbs/verb_groups.hpp"

namespace hpsearch::cli {
namespace {

void add_set(VerbBuilder& build) {
  CLI::App& verb = build.add("set", "Change limits of a running experiment", [&build](const Output& output) {
    build.given.set.server = build.given.server;
    return set_limits(build.given.set, output);
  });
  verb.add_option("EXPERIMENT", build.given.set.experiment, "Its ID or name, or a search of this directory")
      ->required();
  verb.add_option("LIMIT=VALUE", build.given.set.assignments,
                  "max_trials, max_concurrent_trials, max_time, max_slot_hours, target, max_failed_trials,\n"
                  "max_slots, weight, priority, on_duplicate or points_to_evaluate (a JSON list).\n"
                  "none restores the default: no limit for budgets and max_slots, 16 for\n"
                  "max_concurrent_trials (0: one trial per slot)")
      ->required();
  build.add_server(verb);
}

void add_annotate(VerbBuilder& build) {
  CLI::App& verb =
      build.add("annotate", "Write a note, labels or a star on an experiment, or on one TRIAL of it",
                build.about_either([&build](const Output& output) {
                  build.given.annotate.experiment = build.experiment();
                  build.given.annotate.trial = build.given.trial;
                  return annotate(build.given.annotate, output);
                }));
  build.add_experiment_or_trial(verb);
  AnnotateOptions& given = build.given.annotate;
  verb.add_option("--note", given.note, "Any text; \"\" removes it");
  verb.add_option("--label", given.labels, "Add this label; can be repeated")->check(not_empty());
  verb.add_option("--no-label", given.removed_labels, "Remove this label; can be repeated");
  CLI::Option* star = verb.add_flag("--star", given.star, "Mark it with a star");
  verb.add_flag("--no-star", given.no_star, "Take the star away")->excludes(star);
}

void add_invite_verbs(VerbBuilder& build, CLI::App& group) {
  InviteOptions& given = build.given.invite;
  const auto add_verb = [&](const char* name, const char* about,
                            int (*verb)(const InviteOptions&, const Output&)) -> CLI::App& {
    CLI::App& added = build.add_to(group, name, about, [&build, verb](const Output& output) {
      build.given.invite.server = build.given.server;
      return verb(build.given.invite, output);
    });
    build.add_server(added);
    return added;
  };
  CLI::App& invite = add_verb(
      "invite", "Make an invite and print it, this once: hpsearch-worker join takes it", invite_create);
  invite.add_option("--for", given.life, "How long workers can join with it, as 30m, 12h or 7d")
      ->capture_default_str();
  invite.add_option("--uses", given.uses, "How many workers may join with it")
      ->capture_default_str()
      ->transform(integer_from(1, 100'000));
  invite
      .add_option(
          "--address", given.address,
          "HOST or HOST:PORT by which the workers reach this daemon (default: where it listens, or the\n"
          "first address of its machine)")
      ->check(not_empty());
  invite
      .add_option("--to", given.to, "Write it to this file, which only you can read, instead of printing it")
      ->check(not_empty());
  build.add_server(
      build.add_to(group, "invites", "List the invites, without their secrets",
                   [&build](const Output& output) { return invite_list(build.given.server, output); }));
  add_verb("revoke", "End an invite; workers that have joined with it stay", invite_revoke)
      .add_option("INVITE", given.id, "As listed by hpsearch worker invites")
      ->required();
}

}  // namespace

void add_control_verbs(VerbBuilder& build) {
  const std::pair<const char*, const char*> verbs[] = {
      {"pause", "Pause an experiment: trials write checkpoints and release their slots"},
      {"resume", "Resume a paused experiment"},
      {"cancel", "End an experiment, or one TRIAL of it; running programs may write checkpoints"},
      {"kill", "End an experiment at once"},
  };
  for (const auto& [name, about] : verbs) {
    const std::string what = name;
    const auto action = [&build, what](const Output& output) {
      return control(what, {build.experiment(), build.given.trial, build.given.yes}, output);
    };
    const bool is_of_trials = what == "cancel";
    CLI::App& verb = build.add(what, about, is_of_trials ? build.about_either(action) : action);
    if (is_of_trials) {
      build.add_experiment_or_trial(verb);
    } else {
      build.add_experiment(verb);
    }
    if (what == "cancel" || what == "kill") {
      verb.add_flag("--yes", build.given.yes, "Don't ask before an experiment is ended");
    }
  }
  CLI::App& retrying = build.add("retry", "Try a failed trial once more", [&build](const Output& output) {
    const Outcome<Which> which = read_which(build.given.words, About::trial);
    if (!which) {
      return output.fail(which.failure());
    }
    build.given.experiment.experiment = which->experiment;
    return control("retry", {build.experiment(), which->trial}, output);
  });
  build.add_trial(retrying, build.given.words);
  add_set(build);
  add_annotate(build);
}

void add_following_verbs(VerbBuilder& build) {
  CLI::App& verb = build.add("wait", "Wait until an experiment has ended", [&build](const Output& output) {
    build.given.wait.experiment = build.experiment();
    return wait(build.given.wait, output);
  });
  build.add_experiment(verb);
  verb.add_option("--timeout", build.given.wait.timeout_seconds, "Stop waiting after this many seconds")
      ->check(seconds_above(false));
  CLI::App& telling =
      build.add("events", "Show what happened to an experiment", [&build](const Output& output) {
        build.given.events.experiment = build.experiment();
        return events(build.given.events, output);
      });
  build.add_experiment(telling);
  telling.add_flag("-f,--follow", build.given.events.follow,
                   "Continue with what happens, until the experiment has ended");
  telling.add_option("--after", build.given.events.after, "Only events with higher numbers (LSN)")
      ->transform(integer_from(0));
  build.add_experiment(
      build.add("watch", "Watch a search on the whole terminal",
                [&build](const Output& output) { return watch(build.experiment(), output); }));
}

void add_worker_verbs(VerbBuilder& build) {
  CLI::App& list = build.add("workers", "List workers and their problems", [&build](const Output& output) {
    return workers(build.given.server, build.given.devices, output);
  });
  list.add_flag("--devices", build.given.devices, "List each GPU with its slots, number, memory and UUID");
  build.add_server(list);
  const std::pair<const char*, const char*> verbs[] = {
      {"quarantine", "Stop leasing trials to a worker; running trials continue"},
      {"release", "End the quarantine or the draining of a worker, and the quarantine of its slots"},
      {"adopt", "Reattach an orphaned attempt to its trial"},
      {"disown", "Kill an orphaned attempt"},
  };
  for (const auto& [name, about] : verbs) {
    const std::string what = name;
    CLI::App& verb = build.add(what, about, [&build, what](const Output& output) {
      build.given.worker.server = build.given.server;
      return change_worker(what, build.given.worker, output);
    });
    verb.add_option("WORKER", build.given.worker.worker,
                    "Number or name of the worker, as listed by hpsearch workers")
        ->required();
    if (what == "quarantine") {
      verb.add_option("--why", build.given.worker.why, "Reason, shown by hpsearch workers");
    } else if (what != "release") {
      verb.add_option("ATTEMPT", build.given.worker.attempt, "EXPERIMENT/TRIAL/ATTEMPT, or all")->required();
    }
    build.add_server(verb);
  }
  CLI::App& group = build.add_family(
      "worker", "Invite workers; let a worker become idle, get trials again, or be forgotten");
  group.require_subcommand(1);
  const std::pair<const char*, const char*> in_group[] = {
      {"drain", "Lease no more trials to a worker; running trials continue"},
      {"release", "Lease trials to a worker again; the same as hpsearch release"},
      {"forget", "Remove a lost worker from the list, and its key; history keeps its name"},
  };
  for (const auto& [name, about] : in_group) {
    CLI::App& verb =
        build.add_to(group, name, about, [&build, what = std::string(name)](const Output& output) {
          build.given.worker.server = build.given.server;
          return change_worker(what, build.given.worker, output);
        });
    verb.add_option("WORKER", build.given.worker.worker,
                    "Number or name of the worker, as listed by hpsearch workers")
        ->required();
    build.add_server(verb);
  }
  add_invite_verbs(build, group);
}

}  // namespace hpsearch::cli
