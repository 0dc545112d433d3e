#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "hpsearch/workers/core/launch/program_start.hpp"

namespace hpsearch::workers {

/// The setup of a context on a machine before its programs run: Python packages (requirements.txt), and
/// anything (startup-hook.sh). Each context is done once per machine.
struct NodeSetup {
  std::filesystem::path directory;  ///< Unique for this content: it has a lock, the packages, and the mark
                                    ///< that the setup is done.
  std::string python;               ///< The Python that installs requirements.txt; "" = none.
  bool has_hook = false;
};

/// The Python of a program.
struct SetupPython {
  std::string word;  ///< As its entrypoint has it.
  std::string file;  ///< That this is now, as far as it can be seen from here.
};

/// The setup of the context at `work`; its directory lies below `setups` and is named by the context's
/// digest and the Python. Without a digest ("": the context is not packed), by what the two files hold.
/// `python`: installs the requirements. Nothing when there is none.
[[nodiscard]] std::optional<NodeSetup> setup_of(const std::filesystem::path& work, const std::string& digest,
                                                const std::optional<SetupPython>& python,
                                                const std::filesystem::path& setups);

/// Makes it a program that does the setup, unless it was done, and then becomes what it was. Others with the
/// same setup wait meanwhile. A step that fails is named on stderr and ends the program with its status. What
/// the steps print goes to stderr too: stdout is for metrics. The last line is requirements_failed
/// (setup_failure.hpp) when that is what failed. Their packages come behind the Python's own, and their
/// programs last on PATH.
void put_setup_before(const NodeSetup& setup, ProgramStart& program);

}  // namespace hpsearch::workers
