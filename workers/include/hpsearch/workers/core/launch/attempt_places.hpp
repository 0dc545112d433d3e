#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace hpsearch::workers {

/// The variable that marks every process of an attempt, even those without HPSEARCH_SOCKET; its value is
/// the attempt's report socket.
inline constexpr std::string_view attempt_mark = "HPSEARCH_ATTEMPT_MARK";

/// The places of an attempt's files, as its program sees them; absolute paths.
struct AttemptPlaces {
  std::string work_directory;        ///< The program's current directory.
  std::string checkpoint_directory;  ///< HPSEARCH_CHECKPOINT_DIR
  std::string output_directory;      ///< HPSEARCH_OUTPUT_DIR
  std::string params_file;           ///< HPSEARCH_PARAMS_FILE
  std::string socket;                ///< HPSEARCH_SOCKET
  std::string ml = "/ml";            ///< Root of the tree in PAI's layout.
  std::string log_directory = {};    ///< For the output of all processes except the first.
  std::string hostfile = {};         ///< HPSEARCH_HOSTFILE
  std::uint64_t free_port =
      0;  ///< A port of this machine that was free just before: the attempt's processes connect there.
  std::string harness_directory = {};  ///< Files of the harness while it runs.
  /// Input channels: a directory, with / at the end, or a file.
  std::map<std::string, std::string> inputs = {};
  /// Output channels, also model, checkpoints, logs and tensorboard: directories, with / at the end.
  std::map<std::string, std::string> outputs = {};
};

}  // namespace hpsearch::workers
