#include "hpsearch/workers/shell/devices/worker_slots.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "hpsearch/io/net/log.hpp"
#include "hpsearch/workers/shell/devices/device_sources.hpp"
#include "hpsearch/workers/shell/devices/device_watch.hpp"
#include "hpsearch/workers/shell/devices/generic.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;

namespace {

bool are_shares_of_processors(const SlotArguments& arguments) {
  return arguments.slots.starts_with("cpu");
}

/// A kind of device, and the devices of it on this machine.
struct Found {
  jobs::DeviceKind kind;  ///< Without a name: the machine has no devices.
  DeviceReport report;
};

/// The error if the machine has devices that it can't use.
Status check_driver(std::string_view wanted, const DeviceReport& report) {
  if (report.problem.empty()) {
    return engine::Done{};
  }
  for (const jobs::DeviceKind& kind : jobs::device_kinds()) {
    if ((wanted.empty() || wanted == kind.name) && has_device_files(kind.name)) {
      return Error{Errc::unavailable,
                   "this machine has " + kind.noun + "s, but they cannot be asked: " + report.problem +
                       ". Repair the driver, or use --slots cpu to use the processors only"};
    }
  }
  return engine::Done{};
}

Error several_kinds(const std::vector<std::string>& kinds) {
  std::string names;
  std::string choices;
  for (const std::string& kind : kinds) {
    names += (names.empty() ? "" : ", ") + kind;
    choices += "--slots " + kind + ", ";
  }
  return Error{Errc::bad_request, "this machine has devices of several kinds (" + names +
                                      "), and a worker has slots of one kind: choose with " + choices +
                                      "or --slots cpu, and start a worker for each kind that you use"};
}

Result<Found> find_devices(const SlotArguments& arguments, DeviceLook& look) {
  const std::string_view wanted = kind_in_slots(arguments.slots);
  if (arguments.names_generic_devices()) {
    auto generic = generic_devices(arguments.generic_names, arguments.generic_variable);
    if (!generic) {
      return generic.error();
    }
    if (!wanted.empty()) {
      return Error{Errc::bad_request, "--slots names " + std::string(wanted) +
                                          " devices, and --devices names others; leave one of them out"};
    }
    return Found{std::move(generic->kind), std::move(generic->report)};
  }
  look.command = {"/proc/self/exe", "--list-devices", "--no-config", "--slots",
                  wanted.empty() ? "auto" : std::string(wanted)};
  look.every = arguments.look_every;
  look.deadline = arguments.look_deadline;
  Found found{.kind = {}, .report = look_once(look)};
  if (!found.report.ambiguous.empty()) {
    return several_kinds(found.report.ambiguous);
  }
  if (const Status usable = check_driver(wanted, found.report); !usable) {
    return usable.error();
  }
  if (const jobs::DeviceKind* kind = jobs::device_kind_named(found.report.kind)) {
    found.kind = *kind;
    look.command.back() = kind->name;  // Later looks are at this kind only.
  } else {
    net::log(net::Level::debug, "no devices: " + found.report.problem);
  }
  return found;
}

/// The lists in the worker's own environment that restrict its devices, as for any program.
struct Restrictions {
  std::vector<std::string> lists{};
  std::string text{};  ///< 'CUDA_VISIBLE_DEVICES is "0"', or "".

  void add(const std::string& variable, const char* list) {
    lists.emplace_back(list);
    text += (text.empty() ? "" : ", ") + variable + " is \"" + list + "\"";
  }
};

Restrictions restrictions_of(const jobs::DeviceKind& kind) {
  Restrictions restrictions;
  if (kind.name.empty() || !kind.hides_others) {
    return restrictions;
  }
  if (const char* list = std::getenv(kind.variable.c_str())) {
    restrictions.add(kind.variable, list);
  }
  for (const std::string& selector : kind.selectors) {
    const char* list = std::getenv(selector.c_str());
    if (list == nullptr) {
      continue;
    }
    // Slurm can set all variables to the same list, and means the same devices.
    if (restrictions.lists.empty() || restrictions.lists.front() != list) {
      restrictions.add(selector, list);
    }
    break;
  }
  return restrictions;
}

/// Why a worker can use none of the devices, as ": REASON"; "" if nothing is known.
std::string why_none(const Found& found, const Restrictions& restrictions) {
  if (!found.report.problem.empty()) {
    return ": " + found.report.problem;
  }
  return found.report.devices.empty() || restrictions.text.empty()
             ? ""
             : ": " + restrictions.text + ", which leaves none of " +
                   std::to_string(found.report.devices.size()) + " " + found.kind.noun + "s";
}

void log_devices(const Found& found, const std::vector<Device>& usable, const SlotPlan& plan) {
  for (std::size_t i = 0; i < usable.size() && !plan.devices.empty(); ++i) {
    const Device& device = usable[i];
    const auto slots = std::count(plan.devices.begin(), plan.devices.end(), i);
    net::log(device.trouble.empty() && device.remark.empty() ? net::Level::info : net::Level::warning,
             found.kind.noun + " " + std::to_string(device.index) + " is " + device.name + ", " +
                 device.uuid +
                 (device.memory_bytes > 0 ? ", " + std::to_string(device.memory_bytes >> 20U) + " MiB" : "") +
                 ", with " + std::to_string(slots) + " slots" +
                 (device.trouble.empty() ? "" : "; it " + device.trouble) +
                 (device.remark.empty() ? "" : "; it " + device.remark));
  }
}

}  // namespace

Status find_slots(const SlotArguments& arguments, WorkerOptions& options) {
  Found found;
  if (!are_shares_of_processors(arguments)) {
    auto devices = find_devices(arguments, options.look);
    if (!devices) {
      return devices.error();
    }
    found = *std::move(devices);
  } else if (arguments.names_generic_devices()) {
    return Error{Errc::bad_request, "--slots is \"" + arguments.slots +
                                        "\", and --devices names devices; leave one of them out"};
  }
  for (const std::string& unknown : found.report.unknown) {
    net::log(net::Level::warning, "a device is left out: " + unknown);
  }
  const Restrictions restrictions = restrictions_of(found.kind);
  const std::vector<Device> usable = usable_devices(found.report, restrictions.lists);
  if (const std::string_view wanted = kind_in_slots(arguments.slots); !wanted.empty() && usable.empty()) {
    return Error{Errc::bad_request, "--slots names " + std::string(wanted) +
                                        " devices, and this worker can use none" +
                                        why_none(found, restrictions)};
  }
  const std::string noun = found.kind.noun.empty() ? "GPU" : found.kind.noun;
  const Result<SlotPlan> plan = plan_slots(arguments.slots, usable, options.machine.cores, noun);
  if (!plan) {
    return plan.error();
  }
  const char* given = std::getenv("SLURM_JOB_GPUS");
  if (!are_shares_of_processors(arguments) && plan->devices.empty() && given != nullptr && *given != '\0') {
    return Error{Errc::unavailable, "Slurm gave this job GPUs (" + std::string(given) +
                                        "), but none can be used" + why_none(found, restrictions) +
                                        ". Repair this, or use --slots cpu to use the processors only"};
  }
  options.machine.slots = plan->slots;
  if (!plan->devices.empty()) {
    options.machine.device_kind = found.kind;
  }
  for (const std::size_t device : plan->devices) {
    options.machine.devices.push_back(usable[device].selector);
    options.devices.push_back(slot_device(usable[device]));
  }
  options.unusable = unusable_slots(options.devices, found.report, noun);
  options.seen = found.report;
  log_devices(found, usable, *plan);
  return engine::Done{};
}

Result<engine::Value> listed_devices(const SlotArguments& arguments) {
  Found found;
  if (arguments.names_generic_devices()) {
    auto generic = generic_devices(arguments.generic_names, arguments.generic_variable);
    if (!generic) {
      return generic.error();
    }
    found = {std::move(generic->kind), std::move(generic->report)};
  } else {
    found.report = look_at_devices(kind_in_slots(arguments.slots));
    if (const jobs::DeviceKind* kind = jobs::device_kind_named(found.report.kind)) {
      found.kind = *kind;
    }
  }
  const Restrictions restrictions = restrictions_of(found.kind);
  engine::Value::List usable;
  for (const Device& device : usable_devices(found.report, restrictions.lists)) {
    usable.emplace_back(device.uuid);
  }
  engine::Value value = to_value(found.report);
  engine::Value::Map& map = *value.as_map();
  map["slot_kind"] = found.kind.slot_kind;
  map["restrictions"] = restrictions.text;
  map["usable"] = std::move(usable);
  return value;
}

Status keep_slots_of(const WorkerState& state, const SlotArguments& arguments, bool holds,
                     WorkerOptions& options) {
  jobs::DeviceKind& kind = options.machine.device_kind;
  const Result<RememberedSlots> before = state.devices();
  if (holds && !before) {
    return before.error();
  }
  if (holds && !are_shares_of_processors(arguments) && !before->slots.empty()) {
    if (before->kind != kind.name) {
      const jobs::DeviceKind* known = jobs::device_kind_named(before->kind);
      if (known == nullptr || !kind.name.empty()) {
        return Error{Errc::bad_request,
                     "this worker still runs trials on its " + before->kind +
                         " devices; start it with the same --slots and --devices until they have ended"};
      }
      kind = *known;  // All its devices are missing.
      options.look.command.back() = kind.name;
    }
    KeptSlots kept = keep_slots(before->slots, options.devices, kind.noun);
    const std::vector<engine::SlotDevice> now = std::move(options.devices);
    const std::vector<std::string> selectors = std::move(options.machine.devices);
    options.devices = std::move(kept.devices);
    options.withheld = std::move(kept.withheld);
    options.machine.slots = options.devices.size();
    options.machine.devices.clear();
    for (const engine::SlotDevice& slot : options.devices) {
      const auto device = std::find_if(
          now.begin(), now.end(), [&slot](const engine::SlotDevice& one) { return one.uuid == slot.uuid; });
      options.machine.devices.push_back(
          device == now.end() ? slot.uuid : selectors[static_cast<std::size_t>(device - now.begin())]);
    }
    options.unusable = options.withheld;
    if (!options.look.command.empty()) {
      const DeviceReport seen = look_once(options.look);
      options.unusable = with_withheld(unusable_slots(options.devices, seen, kind.noun), options.withheld);
    }
    for (const UnusableSlot& slot : options.unusable) {
      net::log(net::Level::warning,
               "slot " + std::to_string(slot.slot.number()) + " is out of use: " + slot.why);
    }
  }
  const RememberedSlots now{options.devices.empty() ? "" : kind.name, options.devices};
  return before && *before == now ? Status(engine::Done{}) : state.keep_devices(now);
}

}  // namespace hpsearch::workers
