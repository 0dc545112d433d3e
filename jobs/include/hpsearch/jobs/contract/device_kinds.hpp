#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hpsearch::jobs {

/// A kind of device that slots stand for, and the variables that limit a program to some of its devices.
struct DeviceKind {
  std::string name{};             ///< In --slots: "nvidia". "" = slots are shares of the processors.
  std::string slot_kind = "cpu";  ///< The name of its slots: "gpu".
  std::string noun{};             ///< In sentences: "GPU".
  std::string variable{};         ///< Lists the devices that a program can use; empty: none.
  /// Other variables with the same list. Programs without devices don't get them.
  std::vector<std::string> copies{};
  /// Variables that select among the devices of `variable` again. Programs with devices don't get them.
  std::vector<std::string> selectors{};
  std::map<std::string, std::string> constants{};  ///< For all programs.
  bool in_order = false;  ///< Its programs read the list only if the numbers in it ascend.
  /// Programs get an empty list for all other kinds. Otherwise they inherit the worker's.
  bool hides_others = true;
  /// Apptainer's option that shows its devices in a container; empty: they can't be used there.
  std::string apptainer_option{};
  std::string cdi_kind{};  ///< The same for Docker and Podman: "nvidia.com/gpu".
};

/// The kinds that workers can find, in the order in which they are looked for.
[[nodiscard]] std::span<const DeviceKind> device_kinds();

/// nullptr: no kind has this name.
[[nodiscard]] const DeviceKind* device_kind_named(std::string_view name);

/// Devices that only their operator knows, listed in a variable that the operator names.
inline constexpr std::string_view generic_name = "generic";
[[nodiscard]] DeviceKind generic_kind(std::string variable);

/// "GPU" for "gpu": the word for one device behind such a slot; "device" for a slot kind that isn't known.
[[nodiscard]] std::string_view noun_of_slot(std::string_view slot_kind);

/// All slot kinds, as a sentence of the API's description.
[[nodiscard]] const std::string& slot_kinds_text();

/// The variables of all kinds, sorted. Experiments can't set them.
[[nodiscard]] const std::vector<std::string>& device_variables();

}  // namespace hpsearch::jobs
