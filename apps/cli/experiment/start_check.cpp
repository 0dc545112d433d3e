#include "cli/experiment/start_check.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <vector>

#include "cli/render/text.hpp"
#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/slot_device.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/jobs/fields/requirements.hpp"
#include "hpsearch/jobs/launch/entrypoint_start.hpp"

namespace hpsearch::cli {

namespace fs = std::filesystem;
using context::ContextFile;

namespace {

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_executable_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

bool climbs(const fs::path& relative) {
  const fs::path normal = relative.lexically_normal();
  return !normal.empty() && *normal.begin() == "..";
}

/// "#!/bin/sh -e" → "/bin/sh -e"; "" if there is none. A carriage return stays.
std::string interpreter_line(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::array<char, 256> begin{};
  in.read(begin.data(), begin.size());
  std::string_view text(begin.data(), static_cast<std::size_t>(in.gcount()));
  if (!text.starts_with("#!")) {
    return "";
  }
  text.remove_prefix(2);
  text = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return std::string(text);
}

std::vector<std::string> names_in(const fs::path& directory) {
  constexpr std::size_t most = 1000;
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    names.push_back(entry.path().filename().string());
    if (names.size() >= most) {
      break;
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// "4", "cpu:4" → 4; null if devices decide, or if the worker rejects it.
std::optional<std::uint64_t> slots_of(std::string_view text) {
  constexpr std::string_view processors = "cpu:";
  text.remove_prefix(text.starts_with(processors) ? processors.size() : 0);
  const auto count = engine::number_in<std::uint64_t>(text);
  return count.value_or(0) > 0 ? count : std::nullopt;
}

/// Messages of one check, in the order of their fields.
class StartCheck {
 public:
  StartCheck(ExperimentFile& file, const StartPlace& place)
      : file_(file),
        place_(place),
        program_(*file.program),
        files_(place.context, program_.contract.in_place),
        makes_files_(is_there(place.context / "startup-hook.sh")) {}

  void check() {
    if (!program_.needs_harness) {
      check_entrypoint();
      tell_requirements();
    }
    check_mounts();
    check_inputs();
    if (is_here()) {
      check_slots();
    }
  }

 private:
  using Machine = StartPlace::Machine;

  [[nodiscard]] bool is_here() const { return place_.machine == Machine::this_one; }
  [[nodiscard]] bool has_image() const { return !program_.contract.image.empty(); }

  void add(std::string path, std::string what, std::string allowed, bool is_problem) {
    const std::size_t line = file_.lines.line_of(path);
    (is_problem ? file_.problems : file_.notes)
        .push_back({line, {std::move(path), std::move(what), std::move(allowed)}, {}});
  }

  /// A message about the directory that is packed.
  void add_of_context(const std::string& path, const std::string& what, const std::string& allowed) {
    add(path, what, allowed, place_.machine != Machine::unknown && !makes_files_);
  }

  /// A message about the machine that starts it.
  void add_of_machine(const std::string& path, const std::string& what, const std::string& allowed) {
    add(path, what + (is_here() ? "" : "; every worker that runs a trial needs it"), allowed,
        is_here() && !makes_files_);
  }

  /// Only the worker can read the content of a mount.
  [[nodiscard]] bool is_mounted(const std::string& word) const {
    const fs::path path = fs::path(word).lexically_normal();
    const auto below = [&path](const std::string& top) {
      const fs::path relative = path.lexically_relative(fs::path(top).lexically_normal());
      return !relative.empty() && *relative.begin() != "..";
    };
    const auto& mounts = program_.contract.bind_mounts;
    return (program_.contract.ml_layout && below("/ml")) ||
           std::any_of(mounts.begin(), mounts.end(),
                       [&below](const jobs::BindMount& mount) { return below(mount.container_path); });
  }

  void check_entrypoint() {
    const std::vector<std::string> start = jobs::plain_start(program_.entrypoint);
    if (start.empty() || start.front().empty()) {
      return;
    }
    check_word(start.front(), true);
    if (const auto script = jobs::script_of(start)) {
      check_word(*script, false);
    }
    if (const auto module = jobs::module_of(start)) {
      check_module(*module);
    }
  }

  /// Checks a module of a package in the context directory. Others may be installed.
  void check_module(const std::string& module) {
    const std::string package = module.substr(0, module.find('.'));
    std::string path = module;
    std::replace(path.begin(), path.end(), '.', '/');
    const auto has = [this](const std::string& file) {
      return files_.find(file) == PackedFiles::Found::packed;
    };
    if (package == module || !has(package + "/__init__.py") || has(path + ".py") ||
        has(path + "/__main__.py")) {
      return;
    }
    const fs::path at = files_.at(path);
    const std::string near(engine::nearest(at.filename().string() + ".py", names_in(at.parent_path())));
    add_of_context("entrypoint",
                   "starts the module " + module + ", which the package " + package +
                       " of the context directory doesn't have",
                   near.empty() ? "" : "did you mean " + near + "?");
  }

  /// Checks a file that the entrypoint starts, or that an interpreter reads.
  void check_word(const std::string& word, bool is_program) {
    if (is_mounted(word)) {
      return;
    }
    if (is_program && word.find('/') == std::string::npos) {
      check_name(word);
    } else if (fs::path(word).is_relative()) {
      check_in_context(word, is_program);
    } else if (!has_image()) {
      check_on_machine(word, is_program);
    }
  }

  [[nodiscard]] std::string search_path() const {
    const auto set = program_.environment.environment_variables.find("PATH");
    const char* inherited = std::getenv("PATH");
    return set != program_.environment.environment_variables.end() ? set->second
           : inherited != nullptr                                  ? std::string(inherited)
                                                                   : std::string();
  }

  void check_name(const std::string& name) {
    const std::string path = search_path();
    // Directories below the current one, and those that requirements install, don't exist yet.
    const bool is_open = path.starts_with(':') || path.find(":.") != std::string::npos ||
                         !path.starts_with('/') || jobs::installs_requirements(program_);
    if (has_image() || is_open || !on_path(path, name).empty()) {
      return;
    }
    static constexpr std::array<std::string_view, 12> known{"Rscript", "bash", "java", "julia",
                                                            "mpirun",  "node", "perl", "python",
                                                            "python3", "ruby", "sh",   "torchrun"};
    std::string allowed;
    if (files_.find(name) == PackedFiles::Found::packed) {
      allowed = "./" + name + ", to start the file of the context directory";
    } else if (name == "python" && !on_path(path, "python3").empty()) {
      allowed = "python3 is on PATH";
    } else if (const std::string near(engine::nearest(name, known));
               !near.empty() && !on_path(path, near).empty()) {
      allowed = "did you mean " + near + "?";
    }
    add_of_machine("entrypoint", "starts " + name + ", which isn't on PATH of this machine", allowed);
  }

  void check_on_machine(const std::string& word, bool is_program) {
    std::error_code error;
    if (!is_there(word)) {
      add_of_machine("entrypoint", "starts " + word + ", which doesn't exist on this machine", "");
    } else if (fs::is_directory(word, error)) {
      add_of_machine("entrypoint", "starts " + word + ", which is a directory", "");
    } else if (is_program && !is_executable_file(word)) {
      add_of_machine("entrypoint", "starts " + word + ", which isn't executable", "chmod +x " + word);
    }
  }

  void check_in_context(const std::string& word, bool is_program) {
    const fs::path at = files_.at(word);
    switch (files_.find(word)) {
      case PackedFiles::Found::outside:
        add_of_context(
            "entrypoint",
            "starts " + word + ", which is outside the context directory: trials run in a copy of it",
            ways_to_reach(at));
        return;
      case PackedFiles::Found::left_out:
        add_of_context("entrypoint",
                       "starts " + word + ", which exists in the context directory but isn't packed",
                       ways_to_reach(at) + ", or " + files_.way_to_pack(word));
        return;
      case PackedFiles::Found::missing: {
        const std::string near(engine::nearest(at.filename().string(), names_in(at.parent_path())));
        add_of_context(
            "entrypoint",
            "starts " + word + ", which isn't in the context directory" +
                (place_.machine == Machine::unknown ? "" : " " + place_.context.string()),
            near.empty() ? "" : "did you mean " + (fs::path(word).parent_path() / near).string() + "?");
        return;
      }
      case PackedFiles::Found::packed:
        break;
    }
    std::error_code error;
    if (fs::is_directory(at, error)) {
      add_of_context("entrypoint", "starts " + word + ", which is a directory", "a file");
    } else if (is_program) {
      check_executable(word, at);
    }
  }

  void check_executable(const std::string& word, const fs::path& at) {
    std::string interpreter = interpreter_line(at);
    if (!is_executable_file(at)) {
      add_of_context("entrypoint", "starts " + word + ", which isn't executable",
                     "chmod +x " + word + ", or its interpreter before it, as in: python3 " + word);
      return;
    }
    if (!interpreter.empty() && interpreter.back() == '\r') {
      add_of_context(
          "entrypoint",
          "starts " + word + ", whose first line ends in a carriage return: no interpreter has this name",
          "Unix line ends, as dos2unix makes them");
      return;
    }
    interpreter.resize(std::min(interpreter.find_first_of(" \t"), interpreter.size()));
    if (!interpreter.empty() && interpreter.front() == '/' && !has_image() && !is_mounted(interpreter) &&
        !is_there(interpreter)) {
      add_of_machine("entrypoint",
                     "starts " + word + ", whose first line names " + interpreter +
                         ", which doesn't exist on this machine",
                     "#!/usr/bin/env NAME");
    }
  }

  void tell_requirements() {
    if (!jobs::installs_requirements(program_) &&
        files_.find("requirements.txt") == PackedFiles::Found::packed) {
      add("environment.requirements", "requirements.txt is in the context directory and isn't installed",
          "environment.requirements: install, if trials need it", false);
    }
  }

  void check_mounts() {
    for (std::size_t i = 0; i < program_.contract.bind_mounts.size(); ++i) {
      const std::string& host = program_.contract.bind_mounts[i].host_path;
      if (!is_there(host)) {
        const std::string at = "bind_mounts[" + std::to_string(i) + "].host_path";
        add_of_machine(
            at, "is " + engine::quoted(engine::Value(host)) + ", which doesn't exist on this machine", "");
      }
    }
  }

  void check_inputs() {
    for (const jobs::Channel& channel : program_.contract.inputs) {
      const std::string at = "inputs." + channel.name;
      const std::string path = engine::quoted(engine::Value(channel.path));
      if (channel.path.starts_with('/')) {
        if (!is_there(channel.path)) {
          add_of_machine(at, "is " + path + ", which doesn't exist on this machine", "");
        }
      } else if (channel.path.find("://") == std::string::npos && !channel.path.empty() &&
                 files_.find(channel.path) != PackedFiles::Found::packed) {
        add_of_context(at, "is " + path + ", which isn't in what is packed of the context directory",
                       "a path in it, or an absolute path");
      }
    }
  }

  void check_slots() {
    const engine::ResourcesConfig& wanted = file_.config->resources;
    if (engine::pool_named(wanted.resource_pool) != engine::default_pool) {
      add("resources.resource_pool",
          "is " + engine::quoted(engine::Value(wanted.resource_pool)) +
              ", but no worker of hpsearch run is in this pool: its only worker is in the pool " +
              std::string(engine::default_pool),
          "hpsearch submit, for a cluster with this pool", true);
    }
    const std::optional<std::uint64_t> slots = place_.slots ? slots_of(*place_.slots) : std::nullopt;
    if (slots && wanted.slots_per_trial > *slots) {
      add("resources.slots_per_trial",
          "is " + std::to_string(wanted.slots_per_trial) + ", but no worker has " +
              counted(wanted.slots_per_trial, "slot") + ": hpsearch run has --slots " + *place_.slots,
          "at most " + std::to_string(*slots), true);
    }
  }

  ExperimentFile& file_;
  const StartPlace& place_;
  const jobs::Program& program_;
  PackedFiles files_;
  bool makes_files_;  // A hook runs before the program, and may make missing files.
};

}  // namespace

PackedFiles::PackedFiles(fs::path context, bool in_place)
    : context_(std::move(context)), in_place_(in_place) {
}

fs::path PackedFiles::at(const fs::path& relative) const {
  return (context_ / relative).lexically_normal();
}

PackedFiles::Found PackedFiles::find(const fs::path& relative) const {
  if (!is_there(at(relative))) {
    return Found::missing;
  }
  if (in_place_) {
    return Found::packed;
  }
  if (climbs(relative)) {
    return Found::outside;
  }
  if (!listing_) {
    auto listing = context::context_files(context_);
    if (!listing) {
      return Found::packed;  // Packing fails later, with the reason.
    }
    listing_ = *std::move(listing);
  }
  const std::string path = relative.lexically_normal().string();
  const bool packed =
      std::any_of(listing_->files.begin(), listing_->files.end(), [&path](const ContextFile& file) {
        const bool below = file.kind == ContextFile::Kind::link && path.starts_with(file.path + "/");
        return file.path == path || file.path + "/" == path || below;
      });
  return packed ? Found::packed : Found::left_out;
}

std::string PackedFiles::way_to_pack(const fs::path& relative) const {
  const std::string path = relative.lexically_normal().string();
  for (std::string name : listing_ ? listing_->left_out : std::vector<std::string>()) {
    const bool is_directory = name.ends_with('/');
    if (is_directory ? path.starts_with(name) : path == name) {
      name.resize(name.size() - (is_directory ? 1 : 0));
      return "!" + name + " in .hpsearchignore";
    }
  }
  return "a change to .hpsearchignore, which leaves it out";
}

std::string ways_to_reach(const fs::path& at) {
  return "its absolute path " + at.string() + ", bind_mounts, or source: in_place";
}

std::string on_path(std::string_view path, const std::string& name) {
  while (!path.empty()) {
    const std::size_t end = std::min(path.find(':'), path.size());
    const fs::path file = fs::path(path.substr(0, end)) / name;
    if (file.is_absolute() && is_executable_file(file)) {
      return file.string();
    }
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return "";
}

void check_start(ExperimentFile& file, const StartPlace& place) {
  if (!file.problems.empty() || !file.program) {
    return;
  }
  StartCheck(file, place).check();
  if (!file.problems.empty()) {
    file.config.reset();
  }
}

}  // namespace hpsearch::cli
