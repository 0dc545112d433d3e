#include "hpsearch/workers/core/adapters/launch_kinds/launch_kind.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::workers {

using engine::Value;
using jobs::LaunchKind;
using jobs::LaunchRoles;
using jobs::LaunchSpec;
using jobs::RankLevel;

namespace {

constexpr std::string_view here = "127.0.0.1";

/// The names that launch kinds use.
struct Nodes {
  std::vector<std::string> addresses;  ///< By rank, at least one.
  std::uint64_t rank = 0;
  std::uint64_t port = 0;
  std::uint64_t slots = 1;  ///< The slots of each node.
};

Nodes nodes_of(const LaunchSpec& spec, const MeetingPoint& meeting) {
  const bool alone = spec.rendezvous.addresses.empty();
  return {.addresses = addresses_of(spec),
          .rank = spec.rendezvous.rank,
          .port = alone ? meeting.port : spec.rendezvous.port,
          .slots = std::max<std::uint64_t>(1, spec.slots.size())};
}

std::string at_port(const std::string& address, std::uint64_t port) {
  const bool bare_ipv6 = address.find(':') != std::string::npos;
  return (bare_ipv6 ? "[" + address + "]" : address) + ":" + std::to_string(port);
}

void send_meeting(const Nodes& nodes, LaunchForm& form) {
  form.variables["MASTER_ADDR"] = nodes.addresses.front();
  form.variables["MASTER_PORT"] = std::to_string(nodes.port);
}

void say_nodes(const Nodes& nodes, LaunchForm& form) {
  send_meeting(nodes, form);
  form.variables["RANK"] = std::to_string(nodes.rank);
  form.variables["WORLD_SIZE"] = std::to_string(nodes.addresses.size());
}

void set_pytorch_variables(const Nodes& nodes, RankLevel level, LaunchForm& form) {
  if (level == RankLevel::node) {
    say_nodes(nodes, form);
    form.variables["NPROC_PER_NODE"] = std::to_string(nodes.slots);
    return;
  }
  send_meeting(nodes, form);
  form.variables["WORLD_SIZE"] = std::to_string(nodes.addresses.size() * nodes.slots);
  form.variables["LOCAL_WORLD_SIZE"] = std::to_string(nodes.slots);
  form.variables["GROUP_RANK"] = std::to_string(nodes.rank);
  form.processes = nodes.slots;
  form.first_rank = nodes.rank * nodes.slots;
}

/// TensorFlow's name for the worker with that rank.
std::string_view role_of(std::uint64_t rank, std::uint64_t nodes, const LaunchRoles& roles) {
  if (rank == 0) {
    return "chief";
  }
  const std::uint64_t behind = nodes - rank;  // Includes the worker itself.
  if (behind <= roles.evaluator) {
    return "evaluator";
  }
  return behind <= roles.evaluator + roles.ps ? "ps" : "worker";
}

/// The number of lower ranks with the same address: each of them listens there.
std::uint64_t neighbours_before(const std::vector<std::string>& addresses, std::uint64_t rank) {
  const auto end = addresses.begin() + static_cast<std::ptrdiff_t>(rank);
  return static_cast<std::uint64_t>(std::count(addresses.begin(), end, addresses[rank]));
}

/// Without these variables, Keras and TensorFlow train alone.
void set_tensorflow_variables(const Nodes& nodes, const LaunchRoles& roles, LaunchForm& form) {
  if (nodes.addresses.size() == 1) {
    return;
  }
  std::map<std::string, Value::List> cluster;
  Value task;
  for (std::uint64_t rank = 0; rank < nodes.addresses.size(); ++rank) {
    const std::string role(role_of(rank, nodes.addresses.size(), roles));
    Value::List& members = cluster[role];
    if (rank == nodes.rank) {
      task = Value::Map{{"type", role}, {"index", static_cast<std::int64_t>(members.size())}};
    }
    members.emplace_back(
        at_port(nodes.addresses[rank], nodes.port + neighbours_before(nodes.addresses, rank)));
  }
  Value::Map by_role;
  for (auto& [role, members] : cluster) {
    by_role[role] = std::move(members);
  }
  form.variables["TF_CONFIG"] = engine::compact_json(
      Value::Map{{"cluster", std::move(by_role)}, {"task", std::move(task)}, {"environment", "cloud"}});
}

void set_xgboost_variables(const Nodes& nodes, LaunchForm& form) {
  say_nodes(nodes, form);
  if (nodes.addresses.size() == 1) {
    return;
  }
  std::string workers;
  for (std::size_t rank = 1; rank < nodes.addresses.size(); ++rank) {
    workers.append(workers.empty() ? "" : ",").append(nodes.addresses[rank]);
  }
  form.variables["WORKER_ADDRS"] = workers;
  form.variables["WORKER_PORT"] = std::to_string(nodes.port);
}

void set_elastic_batch_variables(const Nodes& nodes, LaunchForm& form) {
  const std::string config = engine::compact_json(
      Value::Map{{"task", Value::Map{{"type", "worker"}, {"index", static_cast<std::int64_t>(nodes.rank)}}},
                 {"environment", "cloud"}});
  form.variables["ELASTICBATCH_CONFIG"] = config;
  form.variables["ElASTICBATCH_CONFIG"] = config;  // KubeDL's source has this spelling.
}

void set_mpi_variables(const Nodes& nodes, const MeetingPoint& meeting, LaunchForm& form) {
  for (const std::string& address : nodes.addresses) {
    form.hostfile += address + " slots=" + std::to_string(nodes.slots) + "\n";
  }
  form.variables["HPSEARCH_HOSTFILE"] = meeting.hostfile;
}

}  // namespace

bool only_lends_slots(const LaunchSpec& spec) noexcept {
  return spec.launch.kind == LaunchKind::mpi && spec.rendezvous.rank > 0;
}

std::optional<std::uint64_t> port_to_listen_at(const LaunchSpec& spec) {
  const std::vector<std::string>& addresses = spec.rendezvous.addresses;
  const std::uint64_t rank = spec.rendezvous.rank;
  if (rank >= addresses.size()) {
    return std::nullopt;
  }
  switch (spec.launch.kind) {
    case LaunchKind::tensorflow:
      return spec.rendezvous.port + neighbours_before(addresses, rank);
    case LaunchKind::process:     // On several nodes, these two are Determined's harness, which connects like
    case LaunchKind::determined:  // PyTorch.
    case LaunchKind::pytorch:
    case LaunchKind::xgboost:
      return rank == 0 ? std::optional(spec.rendezvous.port) : std::nullopt;
    case LaunchKind::elastic_batch:
    case LaunchKind::mpi:
      break;
  }
  return std::nullopt;
}

std::vector<std::string> addresses_of(const LaunchSpec& spec) {
  const std::vector<std::string>& all = spec.rendezvous.addresses;
  return all.empty() ? std::vector<std::string>{std::string(here)} : all;
}

LaunchForm launch_form(const LaunchSpec& spec, const MeetingPoint& meeting) {
  LaunchForm form;
  const Nodes nodes = nodes_of(spec, meeting);
  switch (spec.launch.kind) {
    case LaunchKind::process:
    case LaunchKind::determined:
      break;
    case LaunchKind::pytorch:
      set_pytorch_variables(nodes, spec.launch.rank, form);
      break;
    case LaunchKind::tensorflow:
      set_tensorflow_variables(nodes, spec.launch.roles, form);
      break;
    case LaunchKind::xgboost:
      set_xgboost_variables(nodes, form);
      break;
    case LaunchKind::elastic_batch:
      set_elastic_batch_variables(nodes, form);
      break;
    case LaunchKind::mpi:
      set_mpi_variables(nodes, meeting, form);
      break;
  }
  return form;
}

}  // namespace hpsearch::workers
