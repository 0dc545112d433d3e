#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace hpsearch::workers {

/// The variable that marks every process of an attempt, also those that have no HPSEARCH_SOCKET; its value is
/// the attempt's report socket.
inline constexpr std::string_view attempt_mark = "HPSEARCH_ATTEMPT_MARK";

/// Where one attempt keeps its things, as its program sees them; absolute paths.
struct AttemptPlaces {
  std::string work_directory;        ///< The program's current directory.
  std::string checkpoint_directory;  ///< HPSEARCH_CHECKPOINT_DIR
  std::string output_directory;      ///< HPSEARCH_OUTPUT_DIR
  std::string params_file;           ///< HPSEARCH_PARAMS_FILE
  std::string socket;                ///< HPSEARCH_SOCKET
  std::string ml = "/ml";            ///< Root of the tree in PAI's layout.
  std::string log_directory = {};    ///< Where the output of processes beside the first goes.
  std::string hostfile = {};         ///< HPSEARCH_HOSTFILE
  std::uint64_t free_port =
      0;  ///< A port of this machine that was free a moment ago: an attempt's processes meet there.
  std::string harness_directory = {};  ///< Files that a hosted harness needs while it runs.
  /// Input channels: a directory, with / at the end, or a file.
  std::map<std::string, std::string> inputs = {};
  /// Output channels, model, checkpoints, logs and tensorboard among them: directories, with / at the end.
  std::map<std::string, std::string> outputs = {};
};

}  // namespace hpsearch::workers
