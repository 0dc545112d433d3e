#include "cli/verbs/failure_hint.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "cli/experiment/start_check.hpp"
#include "cli/run/child_process.hpp"
#include "hpsearch/jobs/fields/requirements.hpp"
#include "hpsearch/jobs/launch/entrypoint_start.hpp"

namespace hpsearch::cli {

namespace fs = std::filesystem;

namespace {

/// The text after `sign` in the last line that has it.
std::optional<std::string_view> last_behind(std::string_view text, std::string_view sign) {
  const std::size_t at = text.rfind(sign);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(at + sign.size());
  return rest.substr(0, rest.find('\n'));
}

/// 'x' and "x" → x; an unquoted text ends at a blank.
std::string unquoted(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const char quote = text.empty() ? '\0' : text.front();
  if (quote == '\'' || quote == '"') {
    text.remove_prefix(1);
    return std::string(text.substr(0, text.find(quote)));
  }
  return std::string(text.substr(0, text.find_first_of(" \t\r")));
}

/// "cat: data.csv: No such file or directory", "sh: 1: cannot open data.csv: No such file"
std::string before_the_reason(std::string_view line) {
  line = line.substr(0, line.rfind(": "));
  line.remove_prefix(line.rfind(": ") == std::string_view::npos ? 0 : line.rfind(": ") + 2);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  for (const std::string_view verb :
       {"cannot open file ", "cannot open ", "can't open file ", "can't open "}) {
    line.remove_prefix(line.starts_with(verb) ? verb.size() : 0);
  }
  return unquoted(line);
}

/// Whether this Python can import it; null if that cannot be found out.
std::optional<bool> has_module(const std::string& python, const std::string& module) {
  constexpr std::chrono::seconds patience{15};  // A loaded machine is slow.
  const std::string code =
      "import importlib.util as u, sys; sys.path = [p for p in sys.path if p]; "
      "sys.exit(0 if u.find_spec(sys.argv[1]) else 3)";
  auto started = ChildProcess::start({python, "-c", code, module}, "/dev/null");
  if (!started || !started->wait(patience)) {
    if (started) {
      started->signal(SIGKILL);
      static_cast<void>(started->wait(patience));
    }
    return std::nullopt;
  }
  const std::optional<Ending> ending = started->ended();
  if (!ending || ending->signaled || (ending->number != 0 && ending->number != 3)) {
    return std::nullopt;
  }
  return ending->number == 0;
}

/// Other Pythons of this machine that users are likely to mean, best first.
std::vector<std::string> other_pythons(const fs::path& context) {
  std::vector<std::string> out;
  const auto add = [&out](const fs::path& file) {
    std::error_code error;
    if (fs::exists(file, error)) {
      out.push_back(file.lexically_normal().string());
    }
  };
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const char* home = std::getenv(variable); home != nullptr && *home != '\0') {
      add(fs::path(home) / "bin/python");
    }
  }
  for (const fs::path& home : {context, context.parent_path()}) {
    for (const char* name : {".venv", "venv", "env"}) {
      add(home / name / "bin/python");
    }
  }
  const char* path = std::getenv("PATH");
  for (const char* name : {"python3", "python"}) {
    if (const std::string file = on_path(path != nullptr ? path : "", name); !file.empty()) {
      out.push_back(file);
    }
  }
  return out;
}

std::string hint_on_module(const std::string& module, const jobs::Program& program, const fs::path& context) {
  const PackedFiles files(context, program.contract.in_place);
  for (const std::string& file : {module + ".py", module}) {
    if (files.find(file) == PackedFiles::Found::left_out) {
      return file + " is in the context directory but isn't packed: it takes " + files.way_to_pack(file);
    }
  }
  const auto set = program.environment.environment_variables.find("PATH");
  const char* inherited = std::getenv("PATH");
  const std::string path = set != program.environment.environment_variables.end() ? set->second
                           : inherited != nullptr                                 ? inherited
                                                                                  : "";
  const std::string word = jobs::python_of(program.entrypoint);
  const std::vector<std::string> start = jobs::plain_start(program.entrypoint);
  if (start.empty() || start.front() != word) {
    return "";  // It is not known which Python a script starts.
  }
  const std::string ran = word.find('/') == std::string::npos ? on_path(path, word) : word;
  if (ran.empty() || ran.front() != '/' || !program.contract.image.empty() ||
      has_module(ran, module) != std::optional(false)) {
    return "";
  }
  for (const std::string& other : other_pythons(context)) {
    if (other != ran && has_module(other, module) == std::optional(true)) {
      return ran + " has no module " + module + ", but " + other +
             " has: start the program with it, as in entrypoint: [" + other + ", ...]";
    }
  }
  const bool listed =
      files.find("requirements.txt") == PackedFiles::Found::packed && !jobs::installs_requirements(program);
  return ran + " has no module " + module + ": install its package with " + ran + " -m pip install PACKAGE" +
         (listed ? ", or write environment.requirements: install if requirements.txt has it" : "");
}

std::string hint_on_file(const std::string& file, const jobs::Program& program, const fs::path& context) {
  if (file.empty() || fs::path(file).is_absolute() || !program.contract.image.empty()) {
    return "";
  }
  const PackedFiles files(context, program.contract.in_place);
  switch (files.find(file)) {
    case PackedFiles::Found::outside:
      return file + " exists outside the context directory " + context.string() +
             ", and a trial runs in a copy of it: use " + ways_to_reach(files.at(file));
    case PackedFiles::Found::left_out:
      return file + " exists in the context directory but isn't packed: use " +
             ways_to_reach(files.at(file)) + ", or " + files.way_to_pack(file);
    case PackedFiles::Found::packed:  // The program looks elsewhere; nothing more is known of it.
    case PackedFiles::Found::missing:
      return "";
  }
  return "";
}

}  // namespace

std::optional<std::string> missing_file(std::string_view log_tail) {
  constexpr std::string_view sign = "No such file";
  const std::size_t at = log_tail.rfind(sign);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t begin = log_tail.rfind('\n', at) + 1;  // If there is no line feed, npos + 1 is 0.
  const std::string_view line =
      log_tail.substr(begin, std::min(log_tail.find('\n', at), log_tail.size()) - begin);
  if (const auto behind = last_behind(line, "No such file or directory: ")) {
    return unquoted(*behind);
  }
  const std::string file = before_the_reason(line);
  return file.empty() ? std::nullopt : std::optional(file);
}

std::optional<std::string> missing_module(std::string_view log_tail) {
  const auto behind = last_behind(log_tail, "No module named ");
  if (!behind) {
    return std::nullopt;
  }
  const std::string module = unquoted(*behind);
  const std::string top = module.substr(0, module.find('.'));
  const bool is_name = !top.empty() && std::all_of(top.begin(), top.end(), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  return is_name ? std::optional(top) : std::nullopt;
}

std::string failure_hint(std::string_view log_tail, const jobs::Program& program, const fs::path& context) {
  if (const auto module = missing_module(log_tail)) {
    return hint_on_module(*module, program, context);
  }
  const auto file = missing_file(log_tail);
  return file ? hint_on_file(*file, program, context) : "";
}

}  // namespace hpsearch::cli
