#include "hpsearch/jobs/contract/device_kinds.hpp"

#include <algorithm>
#include <utility>

namespace hpsearch::jobs {

std::span<const DeviceKind> device_kinds() {
  static const std::vector<DeviceKind> kinds = {
      {.name = "nvidia",
       .slot_kind = "gpu",
       .noun = "GPU",
       .variable = "CUDA_VISIBLE_DEVICES",
       .copies = {"NVIDIA_VISIBLE_DEVICES"},
       .constants = {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}},
       .apptainer_option = "--nv",
       .cdi_kind = "nvidia.com/gpu"},
      {.name = "amd",
       .slot_kind = "gpu",
       .noun = "GPU",
       .variable = "ROCR_VISIBLE_DEVICES",
       // HIP reads CUDA's variable, too. The numbers in these are positions in ROCR_VISIBLE_DEVICES.
       .selectors = {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"},
       .apptainer_option = "--rocm"},
      {.name = "ascend",
       .slot_kind = "npu",
       .noun = "NPU",
       .variable = "ASCEND_RT_VISIBLE_DEVICES",
       .in_order = true},
  };
  return kinds;
}

const DeviceKind* device_kind_named(std::string_view name) {
  const auto kinds = device_kinds();
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const DeviceKind& kind) { return kind.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

DeviceKind generic_kind(std::string variable) {
  return {.name = std::string(generic_name),
          .slot_kind = "device",
          .noun = "device",
          .variable = std::move(variable),
          .hides_others = false};
}

std::string_view noun_of_slot(std::string_view slot_kind) {
  const auto kinds = device_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [&](const DeviceKind& kind) { return kind.slot_kind == slot_kind; });
  return found == kinds.end() ? "device" : std::string_view(found->noun);
}

namespace {

std::string all_slot_kinds() {
  std::vector<std::string> names;
  for (const DeviceKind& kind : device_kinds()) {
    names.push_back(kind.slot_kind);
  }
  names.push_back(generic_kind("").slot_kind);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "`" : ", `") + name + "`";
  }
  return text + " or `" + DeviceKind{}.slot_kind + "`.";
}

std::vector<std::string> all_variables() {
  std::vector<std::string> names;
  for (const DeviceKind& kind : device_kinds()) {
    names.push_back(kind.variable);
    names.insert(names.end(), kind.copies.begin(), kind.copies.end());
    names.insert(names.end(), kind.selectors.begin(), kind.selectors.end());
    for (const auto& [name, value] : kind.constants) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

const std::string& slot_kinds_text() {
  static const std::string text = all_slot_kinds();
  return text;
}

const std::vector<std::string>& device_variables() {
  static const std::vector<std::string> names = all_variables();
  return names;
}

}  // namespace hpsearch::jobs
