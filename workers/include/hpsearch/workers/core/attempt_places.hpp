#pragma once

#include <map>
#include <string>

namespace hpsearch::workers {

/// Where one attempt keeps its things, as its program sees them; absolute paths.
struct AttemptPlaces {
  std::string work_directory;        ///< The program's current directory.
  std::string checkpoint_directory;  ///< HPSEARCH_CHECKPOINT_DIR
  std::string output_directory;      ///< HPSEARCH_OUTPUT_DIR
  std::string params_file;           ///< HPSEARCH_PARAMS_FILE
  std::string socket;                ///< HPSEARCH_SOCKET
  std::string ml = "/ml";            ///< Root of the tree in PAI's layout.
  std::string harness_directory = {};  ///< What a hosted harness needs while it runs.
  /// Input channels: a directory, with / at the end, or a file.
  std::map<std::string, std::string> inputs = {};
  /// Output channels, model, checkpoints, logs and tensorboard among them: directories, with / at the end.
  std::map<std::string, std::string> outputs = {};
};

}  // namespace hpsearch::workers
