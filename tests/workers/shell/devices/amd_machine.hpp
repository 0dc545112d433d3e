#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "scratch.hpp"

namespace hpsearch::workers {

/// The files of AMD's driver below a directory, in the layout of the kernel.
class AmdMachine {
 public:
  explicit AmdMachine(std::filesystem::path root) : root_(std::move(root)) {
    write_text(root_ / "dev/kfd", "");
    write_text(root_ / "sys/module/amdgpu/version", "6.8.5\n");
    write("topology/nodes/0/gpu_id", "0\n");
    write("topology/nodes/0/properties", "cpu_cores_count 64\nsimd_count 0\n");
  }

  struct Gpu {
    std::string gpu_id;
    std::string unique_id = "0";  ///< Decimal, as the kernel writes it.
    std::uint64_t memory_mib = 16'384;
    std::uint64_t used_mib = 0;
  };

  /// The node with this number of the topology, which is a GPU.
  void add(unsigned node, const Gpu& gpu) {
    const std::string directory = "topology/nodes/" + std::to_string(node) + "/";
    const std::string bytes = std::to_string(gpu.memory_mib << 20U);
    const std::string minor = std::to_string(127 + node);
    write(directory + "gpu_id", gpu.gpu_id + "\n");
    write(directory + "properties",
          "cpu_cores_count 0\nsimd_count 440\ngfx_target_version 90010\nunique_id " + gpu.unique_id +
              "\ndrm_render_minor " + minor + "\n");
    write(directory + "mem_banks/0/properties", "heap_type 1\nsize_in_bytes " + bytes + "\nflags 0\n");
    write_card(node, "mem_info_vram_total", bytes);
    write_card(node, "mem_info_vram_used", std::to_string(gpu.used_mib << 20U));
    write_card(node, "gpu_busy_percent", "83");
  }

  /// A file of the GPU's card.
  void write_card(unsigned node, const std::string& name, const std::string& text) const {
    write_text(card(node) / name, text + "\n");
  }
  [[nodiscard]] std::filesystem::path card(unsigned node) const {
    return root_ / "sys/class/drm" / ("renderD" + std::to_string(127 + node)) / "device";
  }

  void write(const std::string& name, const std::string& text) const {
    write_text(root_ / "sys/class/kfd/kfd" / name, text);
  }

 private:
  std::filesystem::path root_;
};

}  // namespace hpsearch::workers
