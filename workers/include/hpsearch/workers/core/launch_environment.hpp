#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"

namespace hpsearch::workers {

/// Where one attempt keeps its things; absolute paths.
struct AttemptPlaces {
  std::string work_directory;        ///< The program's current directory.
  std::string checkpoint_directory;  ///< HPSEARCH_CHECKPOINT_DIR
  std::string output_directory;      ///< HPSEARCH_OUTPUT_DIR
  std::string params_file;           ///< HPSEARCH_PARAMS_FILE
  std::string socket;                ///< HPSEARCH_SOCKET
  std::string harness_directory = {};  ///< What a hosted harness needs while it runs.
};

/// What the worker's machine lends to programs.
struct LentMachine {
  std::uint64_t slots = 1;
  std::uint64_t cores = 1;
  std::vector<std::string> devices;  ///< CUDA names by slot; empty when slots are shares of the processors.
  std::map<std::string, std::string> environment;  ///< The worker's own, as it was started.
  std::string determined_host = {};  ///< The program hpsearch-determined; "" = there is none.
};

/// How a program is started.
struct Launch {
  std::vector<std::string> argv;  ///< Never empty; argv[0] is looked up on the program's PATH.
  std::map<std::string, std::string> environment;
  std::string params_json;  ///< Content of the parameters file.
};

/// Turns a lease into argv and environment. Later ones win: the worker's own environment (without its
/// HPSEARCH_*, DET_* and slot variables), thread counts, the experiment's variables, the job contract's.
///
/// bad_request: an entrypoint that is empty or has a placeholder that names nothing.
[[nodiscard]] engine::Result<Launch> plan_launch(const engine::LaunchSpec& spec, const AttemptPlaces& places,
                                                 const LentMachine& machine);

/// A hyperparameter as one argument: Python's str(), but a negative real without exponent, since argparse
/// takes -1e-05 for an option.
[[nodiscard]] std::string argument_text(const engine::Value& value);

/// One word for sh, in single quotes unless every character is harmless.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace hpsearch::workers
