#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "hpsearch/workers/core/launch/program_start.hpp"

namespace hpsearch::workers {

/// The setup of a context on a machine before its programs run: Python packages (requirements.txt), and
/// a script (startup-hook.sh). Each context is set up once per machine.
struct NodeSetup {
  std::filesystem::path directory;  ///< Unique for this content: it has a lock, the packages, and the mark
                                    ///< that the setup is done.
  std::string python;               ///< The Python that installs requirements.txt; "" = none.
  bool has_hook = false;
};

/// The Python of a program.
struct SetupPython {
  std::string word;  ///< As in its entrypoint.
  std::string file;  ///< The file that this is now, as far as the worker can see.
};

/// The setup of the context at `work`; its directory is below `setups` and is named by the context's
/// digest and the Python. If the context isn't packed (digest ""), the content of the two files is used
/// instead. `python` installs the requirements. Nothing if there is nothing to set up.
[[nodiscard]] std::optional<NodeSetup> setup_of(const std::filesystem::path& work, const std::string& digest,
                                                const std::optional<SetupPython>& python,
                                                const std::filesystem::path& setups);

/// Changes the program so that it does the setup, unless it was done, and then becomes the original program.
/// Others with the same setup wait meanwhile. A step that fails is named on stderr and ends the program with
/// its status. Output of the steps goes to stderr, too, because stdout is for metrics. The last line is
/// requirements_failed (setup_failure.hpp) if that step failed. The packages come after the Python's own, and
/// their programs last on PATH.
void put_setup_before(const NodeSetup& setup, ProgramStart& program);

}  // namespace hpsearch::workers
