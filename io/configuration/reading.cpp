#include "hpsearch/io/configuration/reading.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/engine/base/quoted.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/engine/config/section.hpp"
#include "hpsearch/io/files/descriptor.hpp"
#include "hpsearch/jobs/yaml/read_text.hpp"

extern char** environ;  // NOLINT(readability-identifier-naming): POSIX names it.

namespace hpsearch::configuration {
namespace {

namespace fs = std::filesystem;
using engine::Errc;
using engine::Error;
using engine::Section;
using engine::Value;
using Kind = Take::Kind;

constexpr const char* a_file = "a YAML file";

/// One byte more than allowed, so that a larger file is noticed. not_found: there is none.
engine::Result<std::string> text_of_file(const std::string& path, std::size_t limit) {
  const files::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat found {};
  if (!file || ::fstat(file.get(), &found) != 0) {
    const int error = errno;
    return Error{error == ENOENT ? Errc::not_found : Errc::unavailable,
                 std::string("cannot be read: ") + std::strerror(error)};
  }
  if (!S_ISREG(found.st_mode)) {
    return Error{Errc::bad_request, S_ISDIR(found.st_mode) ? "is a directory" : "is not a regular file"};
  }
  std::string text(limit + 1, '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + have, text.size() - have);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return Error{Errc::unavailable, std::string("cannot be read: ") + std::strerror(errno)};
    }
    if (count == 0) {
      break;
    }
    have += static_cast<std::size_t>(count);
  }
  text.resize(have);
  return text;
}

/// FILE.d/*.yaml in the order of their names; none if there is no such directory.
std::vector<std::string> fragments_of(const std::string& file, std::vector<std::string>& problems) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry(file + ".d", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.ends_with(".yaml") && !name.starts_with(".")) {
      found.push_back(entry->path().string());
    }
  }
  std::error_code unknown;
  if (error && fs::exists(file + ".d", unknown)) {
    problems.push_back(file + ".d: cannot be read: " + error.message());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// The names of a program's sections, in the order of its options.
std::vector<std::string> sections_of(const Program& program) {
  std::vector<std::string> names;
  for (const Option& option : program.options) {
    if (std::string name = parts_of(option.key).first;
        std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

/// The key that the user meant by one that there is not: the only option of that name or flag, or a near name
/// in the same section. "" = none.
std::string meant_by(const Program& program, const std::string& section, const std::string& given) {
  std::string name = given;
  std::replace(name.begin(), name.end(), '-', '_');
  std::vector<std::string> near = section.empty() ? sections_of(program) : std::vector<std::string>();
  std::vector<std::string> exact;
  for (const Option& option : program.options) {
    const auto [its_section, its_name] = parts_of(option.key);
    if (its_section == section) {
      near.push_back(its_name);
    }
    std::string flag = option.flag.substr(2);
    std::replace(flag.begin(), flag.end(), '-', '_');
    if (its_name == name || flag == name) {
      exact.push_back(option.key);
    }
  }
  if (exact.size() == 1) {
    return exact.front();
  }
  const std::string_view nearest = engine::nearest(name, near);
  return nearest.empty() ? std::string() : engine::path_below(section, nearest);
}

/// Refuses the members of a map that are no section or no option.
void refuse_unknown(const Program& program, Section& map) {
  for (const auto& [key, value] : map.unread()) {
    const std::string meant = meant_by(program, map.path(), key);
    std::string allowed = meant.empty() ? "" : "did you mean `" + meant + "`?";
    if (meant.empty()) {
      for (const Option& option : program.options) {
        const auto [section, name] = parts_of(option.key);
        const std::string& one = map.path().empty() ? section : name;
        const bool belongs = map.path().empty() || map.path() == section;
        if (belongs && (", " + allowed + ", ").find(", " + one + ", ") == std::string::npos) {
          allowed += (allowed.empty() ? "" : ", ") + one;
        }
      }
      allowed = "one of " + allowed;
    }
    map.problem(key, "is not a known key", std::move(allowed));
  }
}

/// The texts of an option's value in a file; nothing if it is absent or wrong, which is a problem then.
std::optional<std::vector<std::string>> texts_in(Section& section, std::string_view name, Kind kind) {
  const Value* value = section.any(name);
  const std::size_t before = section.findings().problems.size();
  if (value == nullptr) {
    return std::nullopt;
  }
  std::vector<std::string> texts;
  switch (kind) {
    case Kind::on_off:
      texts.emplace_back(section.boolean(name).value_or(false) ? "true" : "false");
      break;
    case Kind::list:
      texts = section.texts(name);
      break;
    case Kind::text:
      texts.push_back(section.text(name).value_or(""));
      break;
    case Kind::scalar:
      if (const std::string* text = value->as_text()) {
        texts.push_back(*text);
      } else if (const std::int64_t* number = value->as_integer()) {
        texts.push_back(std::to_string(*number));
      } else if (const double* real = value->as_real()) {
        texts.push_back(engine::python_float(*real));
      } else {
        section.problem(name, "is " + engine::quoted(*value), "a number or a string");
      }
      break;
  }
  return section.findings().problems.size() == before ? std::optional(std::move(texts)) : std::nullopt;
}

void read_file(const Program& program, const std::string& path, bool must_exist, Reading& out) {
  const yaml::FileLimits limits;
  const auto text = text_of_file(path, limits.bytes);
  if (!text) {
    if (must_exist || text.error().code != Errc::not_found) {
      out.problems.push_back(yaml::to_text(
          path, {0, {"", text.error().message, text.error().code == Errc::bad_request ? a_file : ""}, ""}));
    }
    return;
  }
  out.files.push_back(path);
  yaml::ReadText read = yaml::read_experiment_text(*text, limits);
  engine::Findings findings;
  if (read.tree) {
    // A Section keeps views of the names that it is asked for.
    const std::vector<std::string> sections = sections_of(program);
    Section whole(&*read.tree, "", findings);
    for (const std::string& name : sections) {
      Section section = whole.section(name);
      for (const Option& option : program.options) {
        const std::string_view key = option.key;
        if (!key.starts_with(name + ".")) {
          continue;
        }
        if (auto texts = texts_in(section, key.substr(name.size() + 1), option.take.kind)) {
          out.values[option.key] =
              Given{*std::move(texts), Place{Place::Kind::file, path, read.lines.line_of(option.key)}};
        }
      }
      refuse_unknown(program, section);
    }
    refuse_unknown(program, whole);
  }
  for (engine::Problem& problem : findings.problems) {
    const std::size_t line = read.lines.line_of(problem.path);
    read.problems.push_back({line, std::move(problem), ""});
  }
  std::stable_sort(read.problems.begin(), read.problems.end(),
                   [](const auto& a, const auto& b) { return a.line < b.line; });
  for (const yaml::FileProblem& problem : read.problems) {
    out.problems.push_back(yaml::to_text(path, problem));
  }
}

void read_variables(const Program& program, Reading& out) {
  const std::string prefix = program.variable_prefix();
  std::vector<std::string> known;
  for (const Option& option : program.options) {
    known.push_back(program.variable_of(option));
  }
  std::vector<std::string> unknown;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view assignment = *at;
    const std::size_t equals = assignment.find('=');
    const std::string name(assignment.substr(0, equals));
    if (equals == std::string_view::npos || !name.starts_with(prefix) ||
        name.find("__", prefix.size()) == std::string::npos || equals + 1 == assignment.size()) {
      continue;
    }
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      unknown.push_back(name);
      continue;
    }
    const Option& option = program.options[static_cast<std::size_t>(found - known.begin())];
    std::string_view text = assignment.substr(equals + 1);
    Given given{{}, Place{Place::Kind::variable, name}};
    while (option.take.kind == Kind::list && text.find(',') != std::string_view::npos) {
      given.texts.emplace_back(text.substr(0, text.find(',')));
      text.remove_prefix(text.find(',') + 1);
    }
    given.texts.emplace_back(text);
    out.values[option.key] = std::move(given);
  }
  std::sort(unknown.begin(), unknown.end());
  for (const std::string& name : unknown) {
    const std::string_view meant = engine::nearest(name, known);
    out.problems.push_back("the variable " + name + " is no option of " + program.name +
                           (meant.empty() ? "; --describe-config lists its keys"
                                          : "; did you mean " + std::string(meant) + "?"));
  }
}

/// Whether an option has a value that does something.
bool is_set(const Program& program, const Values& values, const std::string& key) {
  const auto found = values.find(key);
  const Option* option = program.find(key);
  if (found == values.end() || option == nullptr || found->second.place.kind == Place::Kind::usual) {
    return false;
  }
  const std::vector<std::string>& texts = found->second.texts;
  if (option->take.kind == Kind::on_off) {
    bool on = false;
    static_cast<void>(on_off_in(on).store(texts.front()));
    return on;
  }
  return std::any_of(texts.begin(), texts.end(), [](const std::string& text) { return !text.empty(); });
}

/// The name of an option among values of that place: a key, a variable or a flag.
std::string name_beside(const Program& program, const Option& option, const Place& place) {
  return place.kind == Place::Kind::file       ? option.key
         : place.kind == Place::Kind::variable ? program.variable_of(option)
                                               : option.flag;
}

void check_relations(const Program& program, const Option& option, const Values& values,
                     std::vector<std::string>& problems) {
  const Place& place = values.find(option.key)->second.place;
  for (const std::string& key : option.needs) {
    if (!is_set(program, values, key)) {
      problems.push_back(sentence(
          program, values, {option.key, "needs " + name_beside(program, *program.find(key), place), ""}));
    }
  }
  for (const std::string& key : option.excludes) {
    if (!is_set(program, values, key)) {
      continue;
    }
    const Place& other = values.find(key)->second.place;
    problems.push_back(sentence(
        program, values,
        {option.key,
         "cannot be used with " + name_beside(program, *program.find(key), place) +
             (other.kind == place.kind && other.name == place.name ? "" : " (" + text_of(other) + ")"),
         ""}));
  }
}

/// A text in a message: without quotes if it is a number.
std::string shown(const std::string& text) {
  return engine::number_in<double>(text) ? text : engine::quoted(Value(text));
}

std::string printed_value(const Option& option, const Given& given) {
  if (option.take.kind == Kind::on_off) {
    return given.texts.front();
  }
  if (option.take.kind == Kind::list) {
    return engine::compact_json(Value(Value::List(given.texts.begin(), given.texts.end())));
  }
  return engine::compact_json(Value(given.texts.front()));
}

}  // namespace

std::string text_of(const Place& place) {
  return place.kind == Place::Kind::usual ? "default"
         : place.line == 0                ? place.name
                                          : place.name + ":" + std::to_string(place.line);
}

fs::path usual_file(std::string_view program) {
  const auto absolute = [](const char* name) {
    const char* text = std::getenv(name);
    return text != nullptr && *text == '/' ? std::string(text) : std::string();
  };
  const std::string file = std::string(program) + ".yaml";
  if (const std::string directory = absolute("CONFIGURATION_DIRECTORY"); !directory.empty()) {
    return fs::path(directory.substr(0, directory.find(':'))) / file;
  }
  if (::geteuid() == 0) {
    return fs::path("/etc/hpsearch") / file;
  }
  // A container may have the home of another user.
  const auto usable = [](const std::string& home) {
    return !home.empty() && ::access(home.c_str(), X_OK) == 0;
  };
  if (const std::string home = absolute("XDG_CONFIG_HOME"); usable(home)) {
    return fs::path(home) / "hpsearch" / file;
  }
  const std::string home = absolute("HOME");
  return usable(home) ? fs::path(home) / ".config" / "hpsearch" / file : fs::path();
}

Reading read(const Program& program, const CommandLine& line) {
  Reading out;
  if (!line.alone) {
    const std::string& file = line.file.empty() ? line.usual : line.file;
    if (!file.empty()) {
      read_file(program, file, !line.file.empty(), out);
      for (const std::string& fragment : fragments_of(file, out.problems)) {
        read_file(program, fragment, /*must_exist=*/false, out);
      }
    }
    read_variables(program, out);
  }
  for (const auto& [key, texts] : line.flags) {
    const Option* option = program.find(key);
    out.values[key] = Given{texts, Place{Place::Kind::flag, option != nullptr ? option->flag : key}};
  }
  return out;
}

std::vector<std::string> store(const Program& program, const Values& values) {
  std::vector<std::string> problems;
  for (const Option& option : program.options) {
    const auto found = values.find(option.key);
    if (found == values.end() || found->second.place.kind == Place::Kind::usual) {
      continue;
    }
    const std::vector<std::string>& texts = found->second.texts;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (std::string allowed = option.take.store(texts[i]); !allowed.empty()) {
        problems.push_back(sentence(
            program, values,
            {option.key, (texts.size() > 1 ? "has " : "is ") + shown(texts[i]), std::move(allowed)}));
      }
    }
    if (is_set(program, values, option.key)) {
      check_relations(program, option, values, problems);
    }
  }
  return problems;
}

std::string sentence(const Program& program, const Values& values, const engine::Problem& problem) {
  const auto found = values.find(problem.path);
  const Option* option = program.find(problem.path);
  const Place place = found != values.end() ? found->second.place : Place();
  if (place.kind == Place::Kind::file) {
    return yaml::to_text(place.name, {place.line, problem, ""});
  }
  const std::string name = option != nullptr ? name_beside(program, *option, place) : problem.path;
  return name + " " + problem.what + (problem.allowed.empty() ? "" : "; it must be " + problem.allowed);
}

std::string printed(const Program& program, const Values& values) {
  std::string text = "# The configuration of " + program.name + ", and where each value is from.\n";
  for (const std::string& section : sections_of(program)) {
    text += section + ":\n";
    for (const Option& option : program.options) {
      const auto [its_section, name] = parts_of(option.key);
      if (its_section != section) {
        continue;
      }
      const auto found = values.find(option.key);
      if (found != values.end() && found->second.place.kind != Place::Kind::usual) {
        text += "  " + name + ": " + printed_value(option, found->second) + "  # " +
                text_of(found->second.place) + "\n";
        continue;
      }
      const std::string usual = found != values.end()              ? printed_value(option, found->second)
                                : !option.usual.empty()            ? option.usual
                                : option.take.kind == Kind::on_off ? "false"
                                                                   : "none";
      text += "  # " + name + ": default: " + usual + "\n";
    }
  }
  return text;
}

std::vector<std::string> differences(const Program& program, const Values& before, const Values& after) {
  std::vector<std::string> keys;
  const auto texts_of = [](const Values& values, const std::string& key) {
    const auto found = values.find(key);
    return found == values.end() || found->second.place.kind == Place::Kind::usual
               ? std::vector<std::string>()
               : found->second.texts;
  };
  for (const Option& option : program.options) {
    if (texts_of(before, option.key) != texts_of(after, option.key)) {
      keys.push_back(option.key);
    }
  }
  return keys;
}

Reread read_again(const Program& program, const CommandLine& line, const Values& running,
                  const std::function<engine::Problems()>& conflicts) {
  Reading reading = read(program, line);
  Reread again{running, {}, {}, std::move(reading.problems)};
  for (std::string& problem : store(program, reading.values)) {
    again.problems.push_back(std::move(problem));
  }
  if (again.problems.empty()) {
    for (const engine::Problem& problem : conflicts()) {
      again.problems.push_back(sentence(program, reading.values, problem));
    }
  }
  if (!again.problems.empty()) {
    return again;
  }
  for (const std::string& key : differences(program, running, reading.values)) {
    if (program.find(key)->change == Change::at_start) {
      again.need_restart.push_back(key);
      continue;
    }
    again.changed.push_back(key);
    const auto found = reading.values.find(key);
    if (found == reading.values.end()) {
      again.values.erase(key);
    } else {
      again.values[key] = std::move(found->second);
    }
  }
  return again;
}

RereadSentences sentences_of(const Program& program, const Reread& reread) {
  RereadSentences out;
  if (!reread.problems.empty()) {
    const std::size_t more = reread.problems.size() - 1;
    out.problem =
        "the configuration stays as it was: " + reread.problems.front() +
        (more == 0 ? "" : " (and " + std::to_string(more) + " more: " + program.name + " --check-config)");
    return out;
  }
  for (const std::string& key : reread.changed) {
    const auto found = reread.values.find(key);
    const Option& option = *program.find(key);
    out.changed += (out.changed.empty() ? "the configuration was read again: " : ", ") + key + " is " +
                   (found != reread.values.end() ? printed_value(option, found->second)
                    : option.usual.empty()       ? "not set"
                                                 : option.usual);
  }
  for (const std::string& key : reread.need_restart) {
    out.need_restart += (out.need_restart.empty() ? "" : ", ") + key;
  }
  if (!out.need_restart.empty()) {
    out.need_restart =
        "these options were changed and stay as they were until a restart: " + out.need_restart;
  }
  return out;
}

}  // namespace hpsearch::configuration
