#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "cli/experiment/experiment_file.hpp"
#include "hpsearch/io/archive/context_files.hpp"

namespace hpsearch::cli {

/// The machine and the directory where the program starts, as far as a command knows them.
struct StartPlace {
  enum class Machine : std::uint8_t {
    unknown,  ///< Only the file is checked: it may start elsewhere, from another directory.
    worker,   ///< From this directory, on some worker.
    this_one,
  };
  std::filesystem::path context;
  Machine machine = Machine::unknown;
  /// The slots of this machine's only worker, as hpsearch-worker reads them.
  std::optional<std::string> slots = std::nullopt;
};

/// The files of a context directory that its trials get.
class PackedFiles {
 public:
  /// `in_place`: all of them, and files around them.
  PackedFiles(std::filesystem::path context, bool in_place);

  /// The file that a trial finds at this relative path.
  enum class Found : std::uint8_t {
    packed,
    outside,   ///< It exists, but not in the directory.
    left_out,  ///< It exists, but is not packed.
    missing,
  };
  [[nodiscard]] Found find(const std::filesystem::path& relative) const;

  /// How to pack a path that is left out: "!.venv in .hpsearchignore".
  [[nodiscard]] std::string way_to_pack(const std::filesystem::path& relative) const;

  /// Its path on this machine.
  [[nodiscard]] std::filesystem::path at(const std::filesystem::path& relative) const;

 private:
  std::filesystem::path context_;
  bool in_place_;
  mutable std::optional<context::ContextListing> listing_;  // Read when needed.
};

/// How a program can read files that are not packed: "its absolute path, bind_mounts or source: in_place".
[[nodiscard]] std::string ways_to_reach(const std::filesystem::path& at);

/// The file that a shell would start by this name; "" if there is none. `path` is a PATH.
[[nodiscard]] std::string on_path(std::string_view path, const std::string& name);

/// Checks the program of an experiment file without problems before it is started: whether the program and
/// its script exist, can be executed and are packed, whether mounts and inputs exist, and whether this
/// machine can have enough slots. Adds problems if it cannot run, and notes if it may run elsewhere.
void check_start(ExperimentFile& file, const StartPlace& place);

}  // namespace hpsearch::cli
