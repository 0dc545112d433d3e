#include "hpsearch/workers/shell/devices/amd.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/workers/shell/files.hpp"

namespace hpsearch::workers {

namespace {

namespace fs = std::filesystem;
using engine::number_in;

constexpr std::size_t longest_file = std::size_t{64} * 1024;
// Integrated graphics reserve less of the machine's memory; GPUs that ROCm supports have more.
constexpr std::uint64_t smallest_memory = std::uint64_t{4} * 1024 * 1024 * 1024;

/// The text of a file in sysfs without its last line end, or "".
std::string text_of(const fs::path& path) {
  auto text = read_file(path, longest_file);
  if (!text) {
    return "";
  }
  text->erase(text->find_last_not_of(" \n") + 1);
  return *std::move(text);
}

std::optional<std::uint64_t> number_of(const fs::path& path) {
  return number_in<std::uint64_t>(text_of(path));
}

using Properties = std::map<std::string, std::uint64_t>;

/// A file with a line "NAME NUMBER" or "NAME: NUMBER" for each property; empty if it can't be read.
Properties properties_of(const fs::path& path) {
  const std::string text = text_of(path);
  Properties properties;
  for (std::string_view left = text; !left.empty();) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    const std::size_t end_of_name = line.find_first_of(" :");
    const std::size_t start = line.find_first_not_of(" :", end_of_name);
    if (start != std::string_view::npos) {
      if (const auto number = number_in<std::uint64_t>(line.substr(start))) {
        properties[std::string(line.substr(0, end_of_name))] = *number;
      }
    }
  }
  return properties;
}

std::uint64_t value_of(const Properties& properties, const char* name) {
  const auto found = properties.find(name);
  return found == properties.end() ? 0 : found->second;
}

/// The entries of a directory whose names are numbers, in their order.
std::vector<std::uint64_t> numbered_entries(const fs::path& directory) {
  std::vector<std::uint64_t> numbers;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    if (const auto number = number_in<std::uint64_t>(at->path().filename().string())) {
      numbers.push_back(*number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// A GPU in the topology of the driver.
struct Node {
  std::uint64_t gpu_id = 0;
  Properties properties;
  std::uint64_t memory_bytes = 0;
  fs::path card;  ///< Its directory below /sys/class/drm.
};

/// The memory of its own, from its banks.
std::uint64_t memory_in(const fs::path& banks) {
  constexpr std::uint64_t visible_to_the_processor = 1;
  constexpr std::uint64_t hidden_from_it = 2;
  std::uint64_t bytes = 0;
  for (const std::uint64_t bank : numbered_entries(banks)) {
    const Properties properties = properties_of(banks / std::to_string(bank) / "properties");
    const std::uint64_t heap = value_of(properties, "heap_type");
    if (heap == visible_to_the_processor || heap == hidden_from_it) {
      bytes += value_of(properties, "size_in_bytes");
    }
  }
  return bytes;
}

/// The GPUs in the order in which ROCm numbers them: ROCm, too, skips nodes that it may not read, for example
/// in a container that has only some of the devices.
std::vector<Node> gpu_nodes(const fs::path& root) {
  const fs::path topology = root / "sys/class/kfd/kfd/topology/nodes";
  std::vector<Node> nodes;
  for (const std::uint64_t number : numbered_entries(topology)) {
    const fs::path directory = topology / std::to_string(number);
    Node node{.gpu_id = number_of(directory / "gpu_id").value_or(0),
              .properties = properties_of(directory / "properties"),
              .memory_bytes = memory_in(directory / "mem_banks"),
              .card = {}};
    if (node.gpu_id == 0 || value_of(node.properties, "simd_count") == 0) {
      continue;  // A processor, or a GPU of another user.
    }
    node.card = root / "sys/class/drm" /
                ("renderD" + std::to_string(value_of(node.properties, "drm_render_minor"))) / "device";
    nodes.push_back(std::move(node));
  }
  return nodes;
}

/// "gfx90a" for 90010.
std::string architecture(const Node& node) {
  const std::uint64_t version = value_of(node.properties, "gfx_target_version");
  return "gfx" + std::to_string(version / 10'000) + std::to_string(version / 100 % 100) +
         engine::hex_of(version % 100).substr(15);
}

std::string name_of(const Node& node) {
  const std::string product = text_of(node.card / "product_name");
  return product.empty() ? "AMD GPU (" + architecture(node) + ")" : product;
}

/// As ROCm spells it: "GPU-" and the unique id. Old GPUs have none, and parts of one GPU may share one; then
/// the driver's own number of the GPU.
std::string uuid_of(const Node& node, const std::vector<Node>& nodes) {
  const std::uint64_t id = value_of(node.properties, "unique_id");
  const auto same = std::count_if(nodes.begin(), nodes.end(), [id](const Node& other) {
    return value_of(other.properties, "unique_id") == id;
  });
  return id != 0 && same == 1 ? "GPU-" + engine::hex_of(id) : "GPU-kfd-" + std::to_string(node.gpu_id);
}

/// Degrees of the hottest place of the chip, or of its edge if only that is measured.
std::optional<std::int64_t> temperature_of(const fs::path& card) {
  std::optional<std::int64_t> degrees;
  std::error_code error;
  for (fs::directory_iterator at(card / "hwmon", error), end; !error && at != end; at.increment(error)) {
    for (const char* sensor : {"temp2", "temp1"}) {
      const auto thousandths = number_of(at->path() / (std::string(sensor) + "_input"));
      if (thousandths && !degrees) {
        degrees = static_cast<std::int64_t>(*thousandths / 1000);
      }
    }
  }
  return degrees;
}

/// The processes with memory on the GPU. The driver lists a process for all GPUs as soon as it uses one.
std::vector<DeviceProcess> processes_on(const Node& node, const fs::path& root) {
  const fs::path directory = root / "sys/class/kfd/kfd/proc";
  std::vector<DeviceProcess> processes;
  for (const std::uint64_t pid : numbered_entries(directory)) {
    const auto bytes = number_of(directory / std::to_string(pid) / ("vram_" + std::to_string(node.gpu_id)));
    if (bytes && *bytes > 0) {
      processes.push_back({static_cast<std::int64_t>(pid), *bytes});
    }
  }
  return processes;
}

Device device_of(const Node& node, std::uint64_t index, const std::vector<Node>& nodes,
                 const fs::path& root) {
  Device device;
  device.uuid = uuid_of(node, nodes);
  device.name = name_of(node);
  device.selector = std::to_string(index);
  device.index = index;
  device.memory_bytes = node.memory_bytes;
  const auto total = number_of(node.card / "mem_info_vram_total");
  const auto used = number_of(node.card / "mem_info_vram_used");
  if (total && used) {
    device.memory_bytes = *total;
    device.free_bytes = *total - std::min(*total, *used);
  }
  device.temperature = temperature_of(node.card);
  if (const auto busy = number_of(node.card / "gpu_busy_percent")) {
    device.utilization = static_cast<std::int64_t>(*busy);
  }
  if (const std::uint64_t errors = value_of(properties_of(node.card / "ras/umc_err_count"), "ue")) {
    device.remark =
        "has " + std::to_string(errors) + " uncorrectable memory errors (ECC) since the driver was loaded";
  }
  device.processes = processes_on(node, root);
  return device;
}

}  // namespace

DeviceReport look_at_amd(const fs::path& root) {
  DeviceReport report;
  report.driver = text_of(root / "sys/module/amdgpu/version");
  const std::vector<Node> nodes = gpu_nodes(root);
  for (std::uint64_t index = 0; index < nodes.size(); ++index) {
    Device device = device_of(nodes[index], index, nodes, root);
    if (device.memory_bytes >= smallest_memory) {
      report.devices.push_back(std::move(device));
    }
  }
  if (report.devices.empty()) {
    report.problem = nodes.empty() ? "the kernel lists no GPU for computing"
                                   : "the only GPUs for computing are integrated graphics";
    return report;
  }
  if (::access((root / "dev/kfd").c_str(), R_OK | W_OK) != 0) {
    const bool forbidden = errno == EACCES;
    report.problem = (root / "dev/kfd").string() + " cannot be opened: " + error_text(errno);
    if (forbidden) {
      report.unknown.push_back(report.devices.front().name + ": " + report.problem +
                               "; add the user to the groups render and video");
    }
    report.devices.clear();
  }
  return report;
}

}  // namespace hpsearch::workers
