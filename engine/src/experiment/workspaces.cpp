// Workspaces and their quotas. The engine counts what each one uses, therefore no two decisions can share the
// last slot of a quota.

#include <algorithm>
#include <string>
#include <vector>

#include "applier.hpp"
#include "event_checks.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/experiment/workspace.hpp"
#include "step.hpp"

namespace hpsearch::engine {
namespace {

constexpr std::size_t most_name_chars = 63;
constexpr std::int64_t micros_of_hour = std::int64_t{3'600} * 1'000'000;
constexpr std::uint64_t most_slot_hours = std::uint64_t{1} << 62U;
constexpr Duration recent = Duration::seconds(std::int64_t{30} * 24 * 3'600);
constexpr std::size_t most_names_listed = 10;

bool is_lower_or_digit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/// "default, nlp, vision"
std::string known_names(const Workspaces& workspaces) {
  std::string text;
  std::size_t listed = 0;
  for (const auto& [name, workspace] : workspaces) {
    if (listed == most_names_listed) {
      return text + " and " + std::to_string(workspaces.size() - listed) + " others";
    }
    text += (listed == 0 ? "" : ", ") + name;
    ++listed;
  }
  return text;
}

Error no_workspace(const Workspaces& workspaces, std::string_view name, Errc code) {
  std::vector<std::string> names;
  for (const auto& [known, workspace] : workspaces) {
    names.push_back(known);
  }
  const std::string_view near = nearest(name, names);
  return Error{code, "there is no workspace \"" + std::string(name) + "\"" +
                         (near.empty() ? "" : " (did you mean " + std::string(near) + "?)") +
                         "; known workspaces: " + known_names(workspaces)};
}

std::string in_quotes(const std::string& name) {
  return "workspace \"" + name + "\"";
}

/// `use` is a sentence about the workspace.
Error over_quota(const std::string& use, std::uint64_t most, std::string_view name) {
  return Error{Errc::quota,
               use + ", and its quota is " + std::to_string(most) + " (" + std::string(name) + ")"};
}

double hours_of(Duration slot_time) {
  return static_cast<double>(slot_time.in_micros()) / static_cast<double>(micros_of_hour);
}

std::string slot_hours_text(Duration slot_time) {
  const std::string hours = short_number(hours_of(slot_time));
  return hours + (hours == "1" ? " slot hour" : " slot hours");
}

}  // namespace

std::string_view workspace_of(const ExperimentConfig& config) noexcept {
  return config.workspace.empty() ? default_workspace : std::string_view(config.workspace);
}

bool is_workspace_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= most_name_chars && is_lower_or_digit(name.front()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

std::optional<SlotQuotaReached> slot_quota_reached(const WorkspaceRecord& workspace, std::string_view owner,
                                                   std::uint64_t slots) noexcept {
  if (slots == 0) {
    return std::nullopt;
  }
  const Quota& quota = workspace.quota;
  const auto exceeds = [slots](std::uint64_t used, std::uint64_t most) {
    return slots > most || used > most - slots;
  };
  if (quota.max_slots && exceeds(workspace.slots, *quota.max_slots)) {
    return SlotQuotaReached{false, workspace.slots, *quota.max_slots};
  }
  if (quota.max_slots_per_user) {
    const auto found = workspace.slots_of.find(owner);
    const std::uint64_t used = found == workspace.slots_of.end() ? 0 : found->second;
    if (exceeds(used, *quota.max_slots_per_user)) {
      return SlotQuotaReached{true, used, *quota.max_slots_per_user};
    }
  }
  return std::nullopt;
}

Value use_of_slots(const WorkspaceRecord& workspace, Instant /*now*/) {
  return static_cast<std::int64_t>(workspace.slots);
}
Value use_of_active_experiments(const WorkspaceRecord& workspace, Instant /*now*/) {
  return static_cast<std::int64_t>(workspace.active);
}
Value use_of_context_bytes(const WorkspaceRecord& workspace, Instant /*now*/) {
  return static_cast<std::int64_t>(workspace.context_bytes);
}
Value use_of_slot_hours(const WorkspaceRecord& workspace, Instant now) {
  return hours_of(recent_slot_time(workspace, now));
}
Value no_common_use(const WorkspaceRecord& /*workspace*/, Instant /*now*/) {
  return {};
}

Duration recent_slot_time(const WorkspaceRecord& workspace, Instant now) noexcept {
  return workspace.slot_time.between(Instant::from_micros(now.micros() - recent.in_micros()), now);
}

std::optional<SlotHoursReached> slot_hours_reached(const WorkspaceRecord& workspace, std::uint64_t slots,
                                                   Instant now) noexcept {
  const auto& most = workspace.quota.slot_hours_per_30d;
  if (slots == 0 || !most) {
    return std::nullopt;
  }
  const Duration limit = slots_for(Duration::micros(micros_of_hour), std::min(*most, most_slot_hours));
  const Duration used = recent_slot_time(workspace, now);
  return used < limit
             ? std::nullopt
             : std::optional(SlotHoursReached{used, *most, workspace.slot_time.below(limit, recent, now)});
}

WorkspaceRecord& workspace_named(EngineState& state, std::string_view name) {
  const auto known = state.workspaces.find(name);
  if (known != state.workspaces.end()) {
    return known->second;
  }
  WorkspaceRecord& made = state.workspaces[std::string(name)];
  made.name = name;
  return made;
}

void count_slots(EngineState& state, const ExperimentRecord& record, std::int64_t more, Instant at) {
  if (more == 0) {
    return;
  }
  WorkspaceRecord& workspace = workspace_named(state, record.workspace->name);
  const auto change = static_cast<std::uint64_t>(more);  // Modulo 2^64, as it should be for less.
  workspace.slots += change;
  workspace.slot_time.change(more, at);
  const auto user = workspace.slots_of.try_emplace(record.owner, 0).first;
  user->second += change;
  if (user->second == 0) {
    workspace.slots_of.erase(user);
  }
  if (more < 0) {
    offer_again(state, workspace);
  }
}

void count_context(WorkspaceRecord& workspace, const std::string& digest, std::uint64_t bytes) {
  if (digest.empty()) {
    return;
  }
  WorkspaceRecord::StoredContext& context = workspace.contexts[digest];
  if (context.uses++ == 0) {
    context.bytes = bytes;
    workspace.context_bytes += bytes;
  }
}

void discount_context(WorkspaceRecord& workspace, const std::string& digest) {
  const auto found = workspace.contexts.find(digest);
  if (found != workspace.contexts.end() && --found->second.uses == 0) {
    workspace.context_bytes -= found->second.bytes;
    workspace.contexts.erase(found);
  }
}

void offer_again(EngineState& state, WorkspaceRecord& workspace) {
  for (const ExperimentId id : workspace.held_back) {
    if (const auto found = state.experiments.find(id); found != state.experiments.end()) {
      touch(state, found->second);
    }
  }
  workspace.held_back.clear();
}

Status may_submit(const Step& step, const CreateExperiment& command, const ExperimentConfig& config) {
  const EngineState& state = step.state();
  const std::string_view name = workspace_of(config);
  const auto found = state.workspaces.find(name);
  if (found == state.workspaces.end()) {
    return state.checks_workspaces ? Status(no_workspace(state.workspaces, name, Errc::bad_request))
                                   : Status(Done{});
  }
  if (Status free = may_begin(found->second, config, step.now()); !free) {
    return free;
  }
  if (Status room = may_store(found->second, command.context_digest, command.context_bytes); !room) {
    return room;
  }
  return may_plan(state, found->second, config);
}

Status may_begin(const WorkspaceRecord& workspace, const ExperimentConfig& config, Instant now) {
  const auto& most = workspace.quota.max_active_experiments;
  if (most && workspace.active >= *most) {
    return over_quota(in_quotes(workspace.name) + " has " + std::to_string(workspace.active) +
                          (workspace.active == 1 ? " experiment that has" : " experiments that have") +
                          " not ended",
                      *most, "max_active_experiments");
  }
  if (const auto spent = slot_hours_reached(workspace, config.resources.slots_per_trial, now)) {
    return over_quota(
        in_quotes(workspace.name) + " has used " + slot_hours_text(spent->used) + " in the last 30 days",
        spent->most, "slot_hours_per_30d");
  }
  return Done{};
}

Status may_store(const WorkspaceRecord& workspace, const std::string& digest, std::uint64_t bytes) {
  const auto& most = workspace.quota.max_context_bytes;
  const bool adds = !digest.empty() && !workspace.contexts.contains(digest);
  if (!most || !adds || (bytes <= *most && workspace.context_bytes <= *most - bytes)) {
    return Done{};
  }
  return over_quota(in_quotes(workspace.name) + " stores " + std::to_string(workspace.context_bytes) +
                        " bytes of contexts, this one has " + std::to_string(bytes) +
                        (bytes == 1 ? " byte" : " bytes"),
                    *most, "max_context_bytes");
}

Status may_plan(const EngineState& state, const WorkspaceRecord& workspace, const ExperimentConfig& config) {
  const auto& most = workspace.quota.max_trials_per_experiment;
  const SearcherKind* kind = most ? find_kind(state.registry, config.searcher.name) : nullptr;
  if (kind == nullptr) {
    return Done{};
  }
  const Preview planned = kind->preview(config);
  const Cardinality trials =
      planned.trials >= past_counting - planned.repeats ? past_counting : planned.trials + planned.repeats;
  if (trials <= *most) {
    return Done{};
  }
  return Error{Errc::quota, "the search plans " + (trials == past_counting ? "countless" : to_text(trials)) +
                                " trials, and the quota of " + in_quotes(workspace.name) + " is " +
                                std::to_string(*most) + " for one experiment (max_trials_per_experiment)"};
}

Status create_workspace(Step& step, const CreateWorkspace& command) {
  if (!is_workspace_name(command.name)) {
    return Error{Errc::bad_request, "name is \"" + command.name +
                                        "\"; it must be 1 to 63 lower-case letters, digits and \"-\", and "
                                        "must not begin with \"-\""};
  }
  const auto found = step.state().workspaces.find(command.name);
  const bool exists = found != step.state().workspaces.end() &&
                      (found->second.created_at || command.name == default_workspace);
  if (exists) {
    return Error{Errc::wrong_state, "there is a workspace \"" + command.name + "\" already"};
  }
  step.emit(WorkspaceCreated{command.name});
  return Done{};
}

Status change_quota(Step& step, const ChangeQuota& command) {
  const Workspaces& all = step.state().workspaces;
  const auto found = all.find(command.workspace);
  if (found == all.end()) {
    return no_workspace(all, command.workspace, Errc::not_found);
  }
  const Quota& quota = command.quota;
  if (!(found->second.quota == quota)) {
    step.emit(QuotaChanged{command.workspace, quota.max_slots, quota.max_slots_per_user,
                           quota.max_active_experiments, quota.max_trials_per_experiment,
                           quota.max_context_bytes, quota.slot_hours_per_30d});
  }
  return Done{};
}

void apply(const Applier& applier, const WorkspaceCreated& created) {
  WorkspaceRecord& workspace = workspace_named(applier.state, created.workspace);
  workspace.created_at = applier.event.at;
  workspace.creator = created.actor;
  applier.state.checks_workspaces = true;
}

std::string problem_with(const EventChecks& checks, const WorkspaceCreated& created) {
  const auto found = checks.state.workspaces.find(created.workspace);
  return found != checks.state.workspaces.end() && found->second.created_at
             ? in_quotes(created.workspace) + " exists already"
             : "";
}

void apply(const Applier& applier, const QuotaChanged& changed) {
  WorkspaceRecord& workspace = workspace_named(applier.state, changed.workspace);
  workspace.quota = changed.quota();
  offer_again(applier.state, workspace);
}

std::string problem_with(const EventChecks& checks, const QuotaChanged& changed) {
  return checks.state.workspaces.contains(changed.workspace)
             ? ""
             : in_quotes(changed.workspace) + " does not exist";
}

}  // namespace hpsearch::engine
