#include "daemon/submission/as_written.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "hpsearch/engine/config/section.hpp"
#include "hpsearch/jobs/yaml/read_text.hpp"

namespace hpsearch::daemon {
namespace {

using engine::Findings;
using engine::Problems;
using engine::Section;
using engine::Value;

constexpr std::size_t most_name_bytes = 255;  // As file systems have it.

/// A name on one line; "" if there is none.
std::string name_at(Section& section, std::string_view key) {
  const std::string name = section.text(key).value_or("");
  const bool on_one_line = std::all_of(
      name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  if (!on_one_line || name.size() > most_name_bytes) {
    section.problem(key, "is not a name",
                    "a text on one line, of at most " + std::to_string(most_name_bytes) + " bytes");
    return "";
  }
  return name;
}

bool is_commit(const std::string& text) {
  return (text.size() == 40 || text.size() == 64) && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// Reads the map with `read`; nothing if the value is null or something else is wrong.
template <class Struct, class Read>
std::optional<Struct> read_part(const char* name, const Value& value, Problems& problems, const Read& read) {
  if (value.is_null()) {
    return std::nullopt;
  }
  if (value.as_map() == nullptr) {
    problems.push_back({name, "is a " + std::string(value.kind_name()), "a map"});
    return std::nullopt;
  }
  Findings findings;
  Section section(&value, name, findings);
  Struct out = read(section);
  section.finish();
  const bool good = findings.problems.empty();
  std::move(findings.problems.begin(), findings.problems.end(), std::back_inserter(problems));
  return good ? std::optional<Struct>(std::move(out)) : std::nullopt;
}

}  // namespace

std::optional<engine::SubmittedFile> read_submitted_file(const Value& file, Problems& problems) {
  return read_part<engine::SubmittedFile>("file", file, problems, [](Section& section) {
    engine::SubmittedFile read{name_at(section, "name"), ""};
    const std::size_t most = yaml::FileLimits{}.bytes;
    if (!section.has("text")) {
      section.missing("text", "the experiment file as a text");
    }
    read.text = section.text("text").value_or("");
    if (read.text.size() > most) {
      section.problem("text", "has " + std::to_string(read.text.size()) + " bytes",
                      "at most " + std::to_string(most));
    }
    return read;
  });
}

std::optional<engine::GitState> read_git_state(const Value& git, Problems& problems) {
  return read_part<engine::GitState>("git", git, problems, [](Section& section) {
    constexpr const char* a_commit = "40 or 64 digits of lower case hexadecimal";
    constexpr const char* a_flag = "true or false: whether there were uncommitted changes";
    for (const auto& [key, allowed] : {std::pair("commit", a_commit), std::pair("dirty", a_flag)}) {
      if (!section.has(key)) {
        section.missing(key, allowed);
      }
    }
    const std::optional<std::string> commit = section.text("commit");
    if (commit && !is_commit(*commit)) {
      section.problem("commit", "is not a commit", a_commit);
    }
    return engine::GitState{commit.value_or(""), name_at(section, "branch"),
                            section.boolean("dirty").value_or(false)};
  });
}

}  // namespace hpsearch::daemon
