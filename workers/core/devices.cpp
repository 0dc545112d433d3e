#include "hpsearch/workers/core/devices.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::SlotDevice;
using engine::SlotIndex;
using engine::Value;

namespace {

constexpr std::uint64_t most_slots = 4096;
// Shorter ones say too little to be meant.
constexpr std::size_t shortest_uuid = 8;

Value integer(std::uint64_t count) {
  return static_cast<std::int64_t>(count);
}

/// Reads members of a map; missing ones are as the struct has them, wrong ones make it bad.
class Members {
 public:
  explicit Members(const Value& value) : map_(value.as_map()) { good_ = map_ != nullptr; }

  void read(std::string_view name, std::string& text) {
    if (const Value* held = find(name)) {
      good_ = good_ && held->as_text() != nullptr;
      text = held->as_text() != nullptr ? *held->as_text() : "";
    }
  }
  void read(std::string_view name, std::int64_t& number) {
    if (const Value* held = find(name)) {
      good_ = good_ && held->as_integer() != nullptr;
      number = held->as_integer() != nullptr ? *held->as_integer() : 0;
    }
  }
  void read(std::string_view name, std::uint64_t& number) {
    std::int64_t held = 0;
    read(name, held);
    good_ = good_ && held >= 0;
    number = static_cast<std::uint64_t>(std::max<std::int64_t>(0, held));
  }
  void read(std::string_view name, bool& flag) {
    if (const Value* held = find(name)) {
      good_ = good_ && held->as_bool() != nullptr;
      flag = held->as_bool() != nullptr && *held->as_bool();
    }
  }
  [[nodiscard]] const Value::List& list(std::string_view name) {
    static const Value::List none;
    const Value* held = find(name);
    good_ = good_ && (held == nullptr || held->as_list() != nullptr);
    return held != nullptr && held->as_list() != nullptr ? *held->as_list() : none;
  }
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] bool good() const { return good_; }

 private:
  [[nodiscard]] const Value* find(std::string_view name) const {
    if (map_ == nullptr) {
      return nullptr;
    }
    const Value* found = map_->find(name);
    return found == nullptr || found->is_null() ? nullptr : found;
  }

  const Value::Map* map_;
  bool good_ = true;
};

bool read_device(const Value& value, Device& device) {
  Members members(value);
  members.read("uuid", device.uuid);
  members.read("name", device.name);
  members.read("index", device.index);
  members.read("instance", device.instance);
  members.read("in_mig_mode", device.whole_in_mig_mode);
  members.read("memory_bytes", device.memory_bytes);
  members.read("free_bytes", device.free_bytes);
  if (members.has("temperature")) {
    members.read("temperature", device.temperature.emplace());
  }
  members.read("trouble", device.trouble);
  members.read("remark", device.remark);
  for (const Value& one : members.list("processes")) {
    Members process(one);
    DeviceProcess& known = device.processes.emplace_back();
    process.read("pid", known.pid);
    process.read("memory_bytes", known.memory_bytes);
    if (!process.good()) {
      return false;
    }
  }
  return members.good();
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

std::optional<std::uint64_t> natural(std::string_view text) {
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && rest == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// The devices a word names: one by its number or UUID, several when the UUID's beginning fits several.
std::vector<std::size_t> named(std::string_view word, const std::vector<Device>& devices) {
  std::vector<std::size_t> found;
  const std::optional<std::uint64_t> index = natural(word.starts_with("gpu") ? word.substr(3) : word);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Device& device = devices[i];
    const bool by_uuid = word.size() >= shortest_uuid && device.uuid.starts_with(word);
    if (index ? *index == device.index && !device.instance : by_uuid) {
      found.push_back(i);
    }
  }
  return found;
}

std::string listed(const std::vector<Device>& devices) {
  std::string text;
  for (const Device& device : devices) {
    text += (text.empty() ? "" : ", ") +
            (device.instance ? std::string() : std::to_string(device.index) + " = ") + device.uuid;
  }
  return text.empty() ? "none" : text;
}

Error wrong_slots(std::string_view wanted, const std::string& why) {
  return Error{Errc::bad_request, "--slots is \"" + std::string(wanted) + "\": " + why};
}

}  // namespace

Value to_value(const DeviceReport& report) {
  Value::List devices;
  for (const Device& device : report.devices) {
    Value::List processes;
    for (const DeviceProcess& process : device.processes) {
      processes.push_back(Value::Map{{"pid", process.pid}, {"memory_bytes", integer(process.memory_bytes)}});
    }
    devices.push_back(Value::Map{
        {"uuid", device.uuid},
        {"name", device.name},
        {"index", integer(device.index)},
        {"instance", device.instance},
        {"in_mig_mode", device.whole_in_mig_mode},
        {"memory_bytes", integer(device.memory_bytes)},
        {"free_bytes", integer(device.free_bytes)},
        {"temperature", device.temperature ? Value(*device.temperature) : Value()},
        {"trouble", device.trouble},
        {"remark", device.remark},
        {"processes", std::move(processes)},
    });
  }
  return Value::Map{{"problem", report.problem},
                    {"driver", report.driver},
                    {"devices", std::move(devices)},
                    {"unknown", Value::List(report.unknown.begin(), report.unknown.end())}};
}

Result<DeviceReport> device_report_from(const Value& value) {
  DeviceReport report;
  Members members(value);
  members.read("problem", report.problem);
  members.read("driver", report.driver);
  bool good = true;
  for (const Value& one : members.list("devices")) {
    good = read_device(one, report.devices.emplace_back()) && good;
  }
  for (const Value& one : members.list("unknown")) {
    report.unknown.push_back(one.as_text() != nullptr ? *one.as_text() : "");
  }
  if (!good || !members.good()) {
    return Error{Errc::corrupt, "what asks the driver gave something unreadable"};
  }
  return report;
}

std::vector<Device> usable_devices(const DeviceReport& report, const char* cuda_visible_devices) {
  std::vector<Device> all;
  std::copy_if(report.devices.begin(), report.devices.end(), std::back_inserter(all),
               [](const Device& device) { return !device.whole_in_mig_mode; });
  if (cuda_visible_devices == nullptr) {
    return all;
  }
  std::vector<Device> listed;
  for (const std::string_view word : split(cuda_visible_devices, ',')) {
    const std::vector<std::size_t> found = named(word, all);
    if (found.size() != 1) {
      break;  // CUDA, too, sees only what stands before the first invalid entry.
    }
    listed.push_back(all[found.front()]);
  }
  return listed;
}

Result<SlotPlan> plan_slots(std::string_view wanted, const std::vector<Device>& usable, std::uint64_t cores) {
  const std::vector<std::string_view> factors = split(wanted, '*');
  const std::string_view base = factors.front();
  const std::optional<std::uint64_t> share =
      factors.size() == 1 ? std::optional<std::uint64_t>(1) : natural(factors[1]);
  if (factors.size() > 2 || !share || *share == 0 || *share > most_slots) {
    return wrong_slots(wanted,
                       "after * stands how many slots each GPU has, a number from 1 on, as in auto*4");
  }
  SlotPlan plan;
  std::vector<std::size_t> chosen;
  const std::optional<std::uint64_t> count = natural(base);
  if (base == "cpu" || base.starts_with("cpu:")) {
    const std::optional<std::uint64_t> given = base == "cpu" ? std::optional(cores) : natural(base.substr(4));
    if (factors.size() > 1 || !given || *given == 0 || *given > most_slots) {
      return wrong_slots(wanted,
                         "slots of the processors are cpu, one per core, or cpu:N with N from 1 to 4096");
    }
    plan.slots = *given;
    return plan;
  }
  if (base == "auto" || count) {
    if (count && (*count == 0 || *count > most_slots)) {
      return wrong_slots(wanted, "it must be from 1 to 4096");
    }
    if (usable.empty() && factors.size() > 1) {
      return wrong_slots(wanted, "there are no GPUs to share");
    }
    if (usable.empty()) {
      plan.slots = count.value_or(cores);
      return plan;
    }
    if (count && *count > usable.size()) {
      return wrong_slots(
          wanted, "this machine has " + std::to_string(usable.size()) +
                      " GPUs, and a slot is a whole GPU unless they are shared: auto*2 makes two slots "
                      "of each; cpu:" +
                      std::to_string(*count) + " makes slots of processors");
    }
    for (std::size_t i = 0; i < count.value_or(usable.size()); ++i) {
      chosen.push_back(i);
    }
  } else {
    for (const std::string_view word : split(base, ',')) {
      const std::vector<std::size_t> found = named(word, usable);
      if (found.size() != 1) {
        return wrong_slots(
            wanted, "\"" + std::string(word) + "\" names " +
                        (found.empty() ? std::string("no GPU") : std::to_string(found.size()) + " GPUs") +
                        " of this worker (" + listed(usable) +
                        "); it must be auto, a number of slots, GPUs by number or UUID, or cpu");
      }
      chosen.push_back(found.front());
    }
  }
  if (chosen.size() * *share > most_slots) {
    return wrong_slots(wanted, "these are more than 4096 slots");
  }
  for (std::uint64_t round = 0; round < *share; ++round) {
    plan.devices.insert(plan.devices.end(), chosen.begin(), chosen.end());
  }
  plan.slots = plan.devices.size();
  return plan;
}

std::string cuda_name(const Device& device) {
  return device.instance ? device.uuid : std::to_string(device.index);
}

SlotDevice slot_device(const Device& device) {
  return {
      .uuid = device.uuid, .name = device.name, .index = device.index, .memory_bytes = device.memory_bytes};
}

std::vector<AilingSlot> ailing_slots(const std::vector<SlotDevice>& slots, const DeviceReport& report) {
  std::vector<AilingSlot> ailing;
  for (std::uint64_t slot = 0; slot < slots.size(); ++slot) {
    const SlotDevice& has = slots[slot];
    const std::string which = "GPU " + std::to_string(has.index) + " (" + has.uuid + ") ";
    if (!report.problem.empty()) {
      ailing.push_back({SlotIndex(slot), which + "cannot be asked: " + report.problem, false});
      continue;
    }
    const auto found = std::find_if(report.devices.begin(), report.devices.end(),
                                    [&has](const Device& device) { return device.uuid == has.uuid; });
    if (found == report.devices.end()) {
      std::string gone = which + "is gone: the driver does not list it any more";
      for (const std::string& unknown : report.unknown) {
        gone += "; " + unknown;
      }
      ailing.push_back({SlotIndex(slot), std::move(gone), true});
    } else if (!found->trouble.empty()) {
      ailing.push_back({SlotIndex(slot), which + found->trouble, true});
    }
  }
  return ailing;
}

std::vector<AilingSlot> with_withheld(std::vector<AilingSlot> ailing,
                                      const std::vector<AilingSlot>& withheld) {
  for (const AilingSlot& one : withheld) {
    const bool known =
        std::any_of(ailing.begin(), ailing.end(), [&one](const AilingSlot& a) { return a.slot == one.slot; });
    if (!known) {
      ailing.push_back(one);
    }
  }
  return ailing;
}

KeptSlots keep_slots(const std::vector<SlotDevice>& before, const std::vector<SlotDevice>& now) {
  KeptSlots kept;
  std::vector<SlotDevice> left = now;
  for (const SlotDevice& had : before) {
    const auto found = std::find_if(left.begin(), left.end(),
                                    [&had](const SlotDevice& has) { return has.uuid == had.uuid; });
    if (found != left.end()) {
      kept.devices.push_back(*found);
      left.erase(found);
    } else {
      const SlotIndex slot(kept.devices.size());
      kept.withheld.push_back({slot,
                               "GPU " + std::to_string(had.index) + " (" + had.uuid +
                                   ") is not among this "
                                   "worker's slots any more, and the slot is kept for what was begun in it",
                               false});
      kept.devices.push_back(had);
    }
  }
  kept.devices.insert(kept.devices.end(), left.begin(), left.end());
  return kept;
}

Value slots_value(const std::vector<SlotDevice>& slots) {
  Value::List list;
  for (const SlotDevice& slot : slots) {
    list.emplace_back(Value::Map{{"uuid", slot.uuid},
                                 {"name", slot.name},
                                 {"index", static_cast<std::int64_t>(slot.index)},
                                 {"memory_bytes", static_cast<std::int64_t>(slot.memory_bytes)}});
  }
  return Value(Value::Map{{"slots", Value(std::move(list))}});
}

Result<std::vector<SlotDevice>> slots_from(const Value& value) {
  std::vector<SlotDevice> slots;
  Members members(value);
  bool good = true;
  for (const Value& one : members.list("slots")) {
    SlotDevice& slot = slots.emplace_back();
    Members of_slot(one);
    of_slot.read("uuid", slot.uuid);
    of_slot.read("name", slot.name);
    of_slot.read("index", slot.index);
    of_slot.read("memory_bytes", slot.memory_bytes);
    good = good && of_slot.good() && !slot.uuid.empty();
  }
  if (!good || !members.good() || slots.size() > most_slots) {
    return Error{Errc::corrupt, "it does not say which devices are behind which slots"};
  }
  return slots;
}

}  // namespace hpsearch::workers
