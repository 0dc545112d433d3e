#include "hpsearch/io/files/state_home.hpp"

#include <cstdlib>

#include "hpsearch/io/files/sha256.hpp"

namespace hpsearch::files {
namespace {

constexpr std::size_t hash_digits = 12;

bool is_set(const char* variable) {
  return variable != nullptr && *variable != '\0';
}

std::string suffix_of(const std::filesystem::path& here) {
  return "-" + files::sha256_of(here.string()).substr(0, hash_digits);
}

}  // namespace

engine::Result<StateHome> StateHome::from(const Variables& variables) {
  if (is_set(variables.hpsearch_state_home)) {
    if (*variables.hpsearch_state_home != '/') {
      return engine::Error{engine::Errc::bad_request, std::string("HPSEARCH_STATE_HOME is \"") +
                                                          variables.hpsearch_state_home +
                                                          "\"; it must be an absolute path"};
    }
    return StateHome(variables.hpsearch_state_home, Holds::many_directories);
  }
  if (is_set(variables.xdg_state_home) && *variables.xdg_state_home == '/') {
    return StateHome(std::filesystem::path(variables.xdg_state_home) / "hpsearch", Holds::many_directories);
  }
  return StateHome(".hpsearch", Holds::one_directory);
}

engine::Result<StateHome> StateHome::of_environment() {
  return from({std::getenv("HPSEARCH_STATE_HOME"), std::getenv("XDG_STATE_HOME")});
}

std::filesystem::path StateHome::of_python(const Variables& variables, const char* home) {
  if (is_set(variables.hpsearch_state_home)) {
    return *variables.hpsearch_state_home == '/' ? variables.hpsearch_state_home : "";
  }
  if (is_set(variables.xdg_state_home) && *variables.xdg_state_home == '/') {
    return std::filesystem::path(variables.xdg_state_home) / "hpsearch";
  }
  return is_set(home) && *home == '/' ? std::filesystem::path(home) / ".local" / "state" / "hpsearch"
                                      : std::filesystem::path();
}

std::filesystem::path StateHome::of_python() {
  return of_python({std::getenv("HPSEARCH_STATE_HOME"), std::getenv("XDG_STATE_HOME")}, std::getenv("HOME"));
}

std::filesystem::path StateHome::run(std::string_view stem, const std::filesystem::path& here) const {
  const std::string name(stem.empty() ? "experiment" : stem);
  return path_ / (holds_ == Holds::many_directories ? name + suffix_of(here) : name);
}

bool StateHome::may_be_of(std::string_view entry, const std::filesystem::path& here) const {
  return holds_ == Holds::one_directory || entry.find(suffix_of(here)) != std::string_view::npos;
}

std::string StateHome::name_of_run(std::string_view entry, const std::filesystem::path& here) const {
  std::string name(entry);
  const std::size_t hash = name.rfind(suffix_of(here));
  if (holds_ == Holds::many_directories && hash != std::string::npos) {
    name.erase(hash, suffix_of(here).size());  // A run that was moved aside has its time after the hash.
  }
  return name;
}

}  // namespace hpsearch::files
