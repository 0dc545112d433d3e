#include "hpsearch/workers/shell/devices/generic.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "hpsearch/jobs/fields/environment_fields.hpp"

namespace hpsearch::workers {

using engine::Errc;
using engine::Error;

engine::Result<GenericDevices> generic_devices(const std::string& names, const std::string& variable) {
  if (names.empty() || variable.empty()) {
    return Error{
        Errc::bad_request,
        "--devices and --device-env belong together: the names of the devices, and the variable that "
        "lists those of a trial, as in --devices 0,1 --device-env TPU_VISIBLE_CHIPS"};
  }
  const std::vector<std::string>& of_kinds = jobs::device_variables();
  const bool is_taken = jobs::is_reserved_variable(variable) &&
                        std::find(of_kinds.begin(), of_kinds.end(), variable) == of_kinds.end();
  if (!jobs::is_variable_name(variable) || is_taken || variable == "PATH") {
    return Error{Errc::bad_request,
                 "--device-env is \"" + variable +
                     "\"; it must be the name of a variable that is not PATH, the loader's (LD_…) or the "
                     "worker's own (HPSEARCH_…, DET_…, PAI_…)"};
  }
  GenericDevices devices{.kind = jobs::generic_kind(variable), .report = {}};
  devices.report.kind = devices.kind.name;
  for (std::string_view left = names;; left.remove_prefix(left.find(',') + 1)) {
    const std::string name(left.substr(0, left.find(',')));
    const auto same = [&name](const Device& device) { return device.uuid == name; };
    const auto& known = devices.report.devices;
    if (name.empty() || name.find_first_of(" \t*") != std::string::npos ||
        std::any_of(known.begin(), known.end(), same)) {
      return Error{Errc::bad_request, "--devices is \"" + names +
                                          "\"; it must be names with commas between them, each once and "
                                          "without spaces or *"};
    }
    Device device;
    device.uuid = name;
    device.name = devices.kind.name;
    device.selector = name;
    device.index = known.size();
    devices.report.devices.push_back(std::move(device));
    if (left.find(',') == std::string_view::npos) {
      return devices;
    }
  }
}

}  // namespace hpsearch::workers
