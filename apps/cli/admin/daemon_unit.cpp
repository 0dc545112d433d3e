#include "cli/admin/daemon_unit.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace hpsearch::cli {

/// deploy/systemd/hpsearchd.service, from the build directory.
extern const char shipped_unit[];  // NOLINT(modernize-avoid-c-arrays): made by CMake.

namespace {

/// Settings that the manager of a user can carry out.
constexpr std::array<std::string_view, 12> for_users{
    "Description", "StartLimitIntervalSec",    "Type",        "ExecStart", "ExecReload", "Restart",
    "RestartSec",  "RestartPreventExitStatus", "LimitNOFILE", "UMask",     "WantedBy",   ""};

/// One word of a command line of systemd, which replaces % and $ in quotes, too.
std::string unit_word(std::string_view word) {
  std::string quoted;
  for (const char c : word) {
    quoted += c == '%'                ? "%%"
              : c == '$'              ? "$$"
              : c == '"' || c == '\\' ? std::string("\\") + c
                                      : std::string(1, c);
  }
  return word.find_first_of(" \t'\"\\;") == std::string_view::npos ? quoted : "\"" + quoted + "\"";
}

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    line += (line.empty() ? "" : " ") + unit_word(word);
  }
  return line;
}

bool is_in_a_home(const std::string& directory) {
  return directory.starts_with("/home/") || directory.starts_with("/root/") ||
         directory.starts_with("/run/user/");
}

}  // namespace

std::string DaemonUnit::text() const {
  std::string unit;
  std::string comment;  // Belongs to the next setting.
  std::string_view rest = shipped_unit;
  while (!rest.empty()) {
    const std::string line(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with('#')) {
      comment += line + "\n";
      continue;
    }
    const std::string key = line.starts_with('[') ? "" : line.substr(0, line.find('='));
    const bool is_ours =
        key == "ExecStart" || key == "User" || key == "RuntimeDirectory" ||
        key.starts_with("StateDirectory") ||
        (user.empty() && std::find(for_users.begin(), for_users.end(), key) == for_users.end());
    if (!is_ours) {
      unit += comment;
    }
    comment.clear();
    if (key == "ExecStart") {
      unit += "ExecStart=" + joined(command) + "\n";
      if (!user.empty()) {
        unit += "User=" + user + "\nReadWritePaths=" + joined(written) + "\n";
      }
    } else if (key == "ProtectHome" && !user.empty() &&
               std::any_of(written.begin(), written.end(), is_in_a_home)) {
      unit += "ProtectHome=no\n";
    } else if (key == "WantedBy" && user.empty()) {
      unit += "WantedBy=default.target\n";
    } else if (!is_ours) {
      unit += line + "\n";
    }
  }
  return unit;
}

}  // namespace hpsearch::cli
