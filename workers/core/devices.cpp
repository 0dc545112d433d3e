#include "hpsearch/workers/core/devices.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/jobs/contract/device_kinds.hpp"
#include "hpsearch/proto/encoding/record.hpp"
#include "hpsearch/proto/wire/spell_attempt.hpp"
#include "hpsearch/proto/wire/wire.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::SlotDevice;
using engine::SlotIndex;
using engine::Value;

/// The file that slots_value() writes.
void spell(auto& fields, proto::Is<RememberedSlots> auto& remembered) {
  fields("kind", remembered.kind);
  fields("slots", remembered.slots);
}

namespace {

using proto::max_worker_slots;
// Shorter ones are ambiguous.
constexpr std::size_t shortest_uuid = 8;

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

/// The devices for a word: one by its selector ("2", "gpu2") or UUID, several if several UUIDs begin with it.
std::vector<std::size_t> named(std::string_view word, const std::vector<Device>& devices) {
  std::string_view number = word;
  for (const jobs::DeviceKind& kind : jobs::device_kinds()) {
    number = word.starts_with(kind.slot_kind) ? word.substr(kind.slot_kind.size()) : number;
  }
  const bool is_number = engine::number_in<std::uint64_t>(number).has_value();
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Device& device = devices[i];
    const bool by_uuid = word.size() >= shortest_uuid && device.uuid.starts_with(word);
    if (device.selector == word || device.uuid == word || (is_number && device.selector == number)) {
      return {i};
    }
    if (by_uuid) {
      found.push_back(i);
    }
  }
  return found;
}

std::string listed(const std::vector<Device>& devices) {
  std::string text;
  for (const Device& device : devices) {
    text += (text.empty() ? "" : ", ") +
            (device.selector == device.uuid ? std::string() : device.selector + " = ") + device.uuid;
  }
  return text.empty() ? "none" : text;
}

Error wrong_slots(std::string_view wanted, const std::string& why) {
  return Error{Errc::bad_request, "--slots is \"" + std::string(wanted) + "\": " + why};
}

/// The text after the kind: "2" in amd:2, "auto*4" in amd*4.
std::string after_kind(std::string_view wanted) {
  const std::string_view kind = kind_in_slots(wanted);
  if (kind.empty()) {
    return std::string(wanted);
  }
  const std::string_view rest = wanted.substr(kind.size());
  return rest.starts_with(':') ? std::string(rest.substr(1)) : "auto" + std::string(rest);
}

/// "GPU 1 (GPU-5a1c3f60)"
std::string device_text(const SlotDevice& device, std::string_view noun) {
  return std::string(noun) + " " + std::to_string(device.index) + " (" + device.uuid + ")";
}

}  // namespace

Value to_value(const DeviceReport& report) {
  return proto::encode_value(report);
}

Result<DeviceReport> device_report_from(const Value& value) {
  return proto::decode_value<DeviceReport>(value);
}

std::vector<Device> usable_devices(const DeviceReport& report, const std::vector<std::string>& lists) {
  std::vector<Device> left;
  std::copy_if(report.devices.begin(), report.devices.end(), std::back_inserter(left),
               [](const Device& device) { return !device.whole_in_mig_mode; });
  for (std::size_t i = 0; i < lists.size(); ++i) {
    std::vector<Device> listed;
    for (const std::string_view word : split(lists[i], ',')) {
      std::vector<std::size_t> found;
      if (i == 0) {
        found = named(word, left);
      } else if (const auto place = engine::number_in<std::size_t>(word); place && *place < left.size()) {
        found = {*place};
      }
      if (found.size() != 1) {
        break;  // CUDA and ROCm, too, ignore everything from the first invalid entry on.
      }
      listed.push_back(left[found.front()]);
    }
    left = std::move(listed);
  }
  return left;
}

std::string_view kind_in_slots(std::string_view wanted) {
  const std::string_view name = wanted.substr(0, wanted.find_first_of(":*"));
  return jobs::device_kind_named(name) != nullptr ? name : std::string_view();
}

Result<SlotPlan> plan_slots(std::string_view wanted, const std::vector<Device>& usable, std::uint64_t cores,
                            std::string_view noun_of_one) {
  const std::string noun(noun_of_one);
  const std::string text = after_kind(wanted);
  const std::vector<std::string_view> factors = split(text, '*');
  const std::string_view base = factors.front();
  const std::optional<std::uint64_t> share =
      factors.size() == 1 ? std::optional<std::uint64_t>(1) : engine::number_in<std::uint64_t>(factors[1]);
  if (factors.size() > 2 || !share || *share == 0 || *share > max_worker_slots) {
    return wrong_slots(
        wanted, "after * stands how many slots each " + noun + " has, a number from 1 on, as in auto*4");
  }
  SlotPlan plan;
  std::vector<std::size_t> chosen;
  const std::optional<std::uint64_t> count = engine::number_in<std::uint64_t>(base);
  if (base == "cpu" || base.starts_with("cpu:")) {
    const std::optional<std::uint64_t> given =
        base == "cpu" ? std::optional(cores) : engine::number_in<std::uint64_t>(base.substr(4));
    if (factors.size() > 1 || !given || *given == 0 || *given > max_worker_slots) {
      return wrong_slots(wanted, "slots of the processors are cpu, one per core, or cpu:N with N from 1 to " +
                                     std::to_string(max_worker_slots));
    }
    plan.slots = *given;
    return plan;
  }
  if (base == "auto" || count) {
    if (count && (*count == 0 || *count > max_worker_slots)) {
      return wrong_slots(wanted, "it must be from 1 to " + std::to_string(max_worker_slots));
    }
    if (usable.empty() && factors.size() > 1) {
      return wrong_slots(wanted, "there are no " + noun + "s to share");
    }
    if (usable.empty()) {
      plan.slots = count.value_or(cores);
      return plan;
    }
    if (count && *count > usable.size()) {
      return wrong_slots(wanted, "this machine has " + std::to_string(usable.size()) + " " + noun +
                                     "s, and a slot is a whole " + noun +
                                     " unless they are shared: auto*2 makes two slots of each; cpu:" +
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
                        (found.empty() ? "no " + noun : std::to_string(found.size()) + " " + noun + "s") +
                        " of this worker (" + listed(usable) + "); it must be auto, a number of slots, " +
                        noun + "s by number or UUID, or cpu");
      }
      chosen.push_back(found.front());
    }
  }
  if (chosen.size() * *share > max_worker_slots) {
    return wrong_slots(wanted, "these are more than " + std::to_string(max_worker_slots) + " slots");
  }
  for (std::uint64_t round = 0; round < *share; ++round) {
    plan.devices.insert(plan.devices.end(), chosen.begin(), chosen.end());
  }
  plan.slots = plan.devices.size();
  return plan;
}

SlotDevice slot_device(const Device& device) {
  return {
      .uuid = device.uuid, .name = device.name, .index = device.index, .memory_bytes = device.memory_bytes};
}

std::vector<UnusableSlot> unusable_slots(const std::vector<SlotDevice>& slots, const DeviceReport& report,
                                         std::string_view noun) {
  std::vector<UnusableSlot> unusable;
  for (std::uint64_t slot = 0; slot < slots.size(); ++slot) {
    const SlotDevice& has = slots[slot];
    const std::string which = device_text(has, noun) + " ";
    if (!report.problem.empty()) {
      unusable.push_back({SlotIndex(slot), which + "cannot be asked: " + report.problem, false});
      continue;
    }
    const auto found = std::find_if(report.devices.begin(), report.devices.end(),
                                    [&has](const Device& device) { return device.uuid == has.uuid; });
    if (found == report.devices.end()) {
      std::string gone = which + "is gone: the driver does not list it any more";
      for (const std::string& unknown : report.unknown) {
        gone += "; " + unknown;
      }
      unusable.push_back({SlotIndex(slot), std::move(gone), true});
    } else if (!found->trouble.empty()) {
      unusable.push_back({SlotIndex(slot), which + found->trouble, true});
    }
  }
  return unusable;
}

std::vector<UnusableSlot> with_withheld(std::vector<UnusableSlot> unusable,
                                        const std::vector<UnusableSlot>& withheld) {
  for (const UnusableSlot& one : withheld) {
    const bool known = std::any_of(unusable.begin(), unusable.end(),
                                   [&one](const UnusableSlot& a) { return a.slot == one.slot; });
    if (!known) {
      unusable.push_back(one);
    }
  }
  return unusable;
}

KeptSlots keep_slots(const std::vector<SlotDevice>& before, const std::vector<SlotDevice>& now,
                     std::string_view noun) {
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
                               device_text(had, noun) +
                                   " is not among this worker's slots any more, and the slot is kept for "
                                   "what was begun in it",
                               false});
      kept.devices.push_back(had);
    }
  }
  kept.devices.insert(kept.devices.end(), left.begin(), left.end());
  return kept;
}

Value slots_value(const RememberedSlots& slots) {
  return proto::encode_value(slots);
}

Result<RememberedSlots> slots_from(const Value& value) {
  Result<RememberedSlots> remembered = proto::decode_value<RememberedSlots>(value);
  if (!remembered) {
    return remembered.error();
  }
  const std::vector<SlotDevice>& slots = remembered->slots;
  const bool named =
      std::none_of(slots.begin(), slots.end(), [](const SlotDevice& slot) { return slot.uuid.empty(); });
  if (!named || slots.size() > max_worker_slots) {
    return Error{Errc::corrupt, "it does not say which devices are behind which slots"};
  }
  return remembered;
}

}  // namespace hpsearch::workers
