#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/client/server.hpp"
#include "cli/doctor/bundle.hpp"
#include "cli/doctor/checks.hpp"
#include "cli/doctor/masked.hpp"
#include "cli/doctor/observe.hpp"
#include "cli/render/table.hpp"
#include "cli/render/text.hpp"
#include "cli/verbs/verbs.hpp"
#include "hpsearch/proto/sentences/words.hpp"

namespace hpsearch::cli {
namespace {

namespace fs = std::filesystem;
using engine::Value;

/// The daemon that runs on a state directory, without starting one.
Outcome<Client> daemon_on(const std::string& state_dir) {
  const fs::path directory = daemon_directory_in(state_dir);
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    return not_found_failure("there is no state directory " + printable(directory.string()));
  }
  const auto addresses = lock_holder(directory / "lock") ? read_daemon_file(directory) : std::nullopt;
  return addresses
             ? Outcome<Client>(Client(addresses->socket))
             : Outcome<Client>(unreachable_failure("no daemon runs on " + printable(directory.string())));
}

Outcome<Client> daemon_of(const ServerOptions& options, const Output& output) {
  if (options.state_dir) {
    return daemon_on(*options.state_dir);
  }
  const Outcome<Server> server = Server::reach_shared(options, output);
  return server ? Outcome<Client>(server->client()) : Outcome<Client>(server.failure());
}

/// The daemon's state directory, if it is on this machine.
std::optional<std::string> state_directory_of(const DoctorOptions& options, const Facts& facts) {
  if (options.server.state_dir) {
    return options.server.state_dir;
  }
  const bool is_here = facts.daemon && facts.daemon->address.starts_with("unix://");
  return is_here && !facts.daemon->status.state_dir.empty() ? std::optional(facts.daemon->status.state_dir)
                                                            : std::nullopt;
}

Facts observe(const DoctorOptions& options, const Outcome<Client>& daemon) {
  const bool has_daemon = !options.worker || options.server.server || options.server.state_dir;
  auto machine = std::async(std::launch::async, observe_machine);
  auto worker = options.worker ? std::async(std::launch::async, observe_worker) : std::future<WorkerFacts>();
  Facts facts;
  // A state directory without a daemon is no error: it is looked at alone.
  if (has_daemon && (daemon || !options.server.state_dir)) {
    facts.daemon = observe_daemon(daemon);
  }
  if (const auto directory = has_daemon ? state_directory_of(options, facts) : std::nullopt) {
    const api::ConfiguredOption* root = facts.daemon && facts.daemon->configuration
                                            ? option_in(*facts.daemon->configuration, "checkpoints.root")
                                            : nullptr;
    facts.state = observe_state(*directory, root == nullptr || root->values.empty()
                                                ? std::nullopt
                                                : std::optional(root->values.front()));
  }
  facts.machine = machine.get();
  if (options.worker) {
    facts.worker = worker.get();
  }
  return facts;
}

std::string paint(Verdict verdict, const Output& output) {
  using enum Output::Color;
  const Output::Color color = verdict == Verdict::error     ? red
                              : verdict == Verdict::warning ? yellow
                              : verdict == Verdict::good    ? green
                                                            : dim;
  return output.paint(color, name_of(verdict));
}

void print_findings(const std::vector<CheckedFinding>& findings, bool all, const Output& output) {
  std::array<std::size_t, 4> counts{};
  for (const Verdict verdict : {Verdict::error, Verdict::warning, Verdict::skipped, Verdict::good}) {
    for (const CheckedFinding& one : findings) {
      if (one.finding.verdict != verdict) {
        continue;
      }
      ++counts[static_cast<std::size_t>(verdict)];
      const bool is_problem = verdict == Verdict::error || verdict == Verdict::warning;
      if (!is_problem && !all) {
        continue;
      }
      output.sentences(paint(verdict, output) + "  " + std::string(one.check) + ": " +
                       printable(masked(one.finding.finding)) + "\n");
      if (!one.finding.remedy.empty()) {
        output.sentences("    " + printable(masked(one.finding.remedy)) + "\n");
      }
    }
  }
  const auto count = [&counts](Verdict verdict) { return counts[static_cast<std::size_t>(verdict)]; };
  output.print(sentences::counted(findings.size(), "check") + ": " + std::to_string(count(Verdict::good)) +
               " ok, " + std::to_string(count(Verdict::skipped)) + " skipped, " +
               sentences::counted(count(Verdict::warning), "warning") + ", " +
               sentences::counted(count(Verdict::error), "error") + "\n");
}

int list_checks(const Output& output) {
  Table table({{"CHECK"}, {"LOOKS AT"}, {.title = "WHAT MUST BE TRUE", .may_be_cut = true}});
  Value::List list;
  for (const Check& check : all_checks()) {
    table.add({std::string(check.name), std::string(name_of(check.needs)), std::string(check.about)});
    list.push_back(
        Value::Map{{"check", check.name}, {"needs", name_of(check.needs)}, {"about", check.about}});
  }
  if (output.json()) {
    output.data(Value::Map{{"checks", std::move(list)}});
  } else {
    output.print(table.text(output.width()));
  }
  return 0;
}

std::vector<std::string> logs_of(const DoctorOptions& options) {
  std::vector<std::string> logs = options.logs;
  if (options.server.state_dir) {
    const StateDirectory run(*options.server.state_dir);
    for (const fs::path& log : {run.daemon_log(), run.worker_log()}) {
      std::error_code error;
      if (fs::exists(log, error)) {
        logs.push_back(log.string());
      }
    }
  }
  return logs;
}

}  // namespace

int doctor(const DoctorOptions& given, const Output& output) {
  if (given.list) {
    return list_checks(output);
  }
  DoctorOptions options = given;
  if (!options.worker) {
    // Without any daemon, it is the search that was run last here.
    if (const auto chosen = Server::usual_or_latest(options.server, output)) {
      options.server = *chosen;
    }
  }
  const Outcome<Client> daemon = daemon_of(options.server, output);
  if (!daemon && daemon.failure().exit == Exit::not_found) {
    return output.fail(daemon.failure());
  }
  const Facts facts = observe(options, daemon);
  if (options.server.state_dir && !facts.state) {
    return output.fail(
        plain_failure("you have no permission to read " + printable(*options.server.state_dir)));
  }
  const std::vector<CheckedFinding> findings = judge(facts);
  if (options.bundle) {
    const bool answers = facts.daemon && facts.daemon->problem.empty();
    const BundleSources sources{logs_of(options), state_directory_of(options, facts),
                                answers ? std::optional(*daemon) : std::nullopt};
    if (const auto written = write_bundle(*options.bundle, bundle_of(facts, findings, sources)); !written) {
      return output.fail(written.failure());
    }
  }
  if (output.json()) {
    output.data(value_of(findings));
  } else {
    print_findings(findings, options.all, output);
    if (options.bundle) {
      output.message("hpsearch: " + printable(*options.bundle) +
                     " has what a bug report needs; secrets are masked, but read it before you send it");
    }
  }
  switch (worst_of(findings)) {
    case Verdict::good:
    case Verdict::skipped:
      return 0;
    case Verdict::warning:
      return 1;
    case Verdict::error:
      return 2;
  }
  return 0;
}

}  // namespace hpsearch::cli
