#include "cli/doctor/masked.hpp"

#include <re2/re2.h>

namespace hpsearch::cli {

std::string masked(std::string text) {
  struct Rule {
    RE2 pattern;
    const char* replacement;
  };
  static const Rule rules[] = {
      {RE2(R"((?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?-----END [A-Z ]*PRIVATE KEY-----)"), "<masked>"},
      {RE2(R"(\bhps_[A-Za-z0-9_-]+)"), "<masked>"},
      {RE2(R"(\bhpi_[A-Za-z0-9_-]+)"), "<masked>"},
      {RE2(R"(\b(?:AKIA|ASIA)[0-9A-Z]{16}\b)"), "<masked>"},
      {RE2(R"((?i)\b(bearer|basic)\s+[^\s"']+)"), "\\1 <masked>"},
      {RE2(R"((://[^/\s:@"']*):[^@\s/"']+@)"), "\\1:<masked>@"},
      {RE2(R"((?i)((?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential)[A-Za-z_]*["']?\s*[=:]\s*)(?:"[^"]*"|'[^']*'|[^\s"',;&]+))"),
       "\\1<masked>"},
  };
  for (const Rule& rule : rules) {
    RE2::GlobalReplace(&text, rule.pattern, rule.replacement);
  }
  return text;
}

}  // namespace hpsearch::cli
