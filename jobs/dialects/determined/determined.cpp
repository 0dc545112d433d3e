#include "hpsearch/jobs/dialects/determined.hpp"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "dialects/determined/determined_dialect.hpp"
#include "dialects/determined/translation.hpp"
#include "fields/sections.hpp"

namespace hpsearch::jobs {

namespace {

constexpr std::string_view own_module = "-m determined.";
constexpr std::string_view own_package = "determined.";
constexpr std::string_view torch_launcher = "determined.launch.torch_distributed";

class DeterminedDialect : public Dialect {
 public:
  void translate(Value& tree, Findings& findings) override { translate_determined(tree, findings); }

  [[nodiscard]] bool spans_workers(const Program& program) const override {
    return meets_by_torch_distributed(program.entrypoint);
  }
};

}  // namespace

bool names_trial_class(std::string_view entrypoint) noexcept {
  const std::size_t colon = entrypoint.find(':');
  const auto is_dotted = [](std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
      return c == '_' || c == '.' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
             (c >= '0' && c <= '9');
    });
  };
  return colon != std::string_view::npos && is_dotted(entrypoint.substr(0, colon)) &&
         is_dotted(entrypoint.substr(colon + 1));
}

bool needs_determined_harness(const Entrypoint& entrypoint, const Value* launch) {
  const Value* kind = launch == nullptr ? nullptr : launch->at_path("kind");
  if (kind != nullptr && kind->as_text() != nullptr && *kind->as_text() == "determined") {
    return true;
  }
  if (const auto* line = std::get_if<std::string>(&entrypoint.command)) {
    return names_trial_class(*line) || line->find(own_module) != std::string::npos;
  }
  const auto& words = std::get<std::vector<std::string>>(entrypoint.command);
  const auto flag = std::find(words.begin(), words.end(), "-m");
  return flag != words.end() && flag + 1 != words.end() && (flag + 1)->starts_with(own_package);
}

bool meets_by_torch_distributed(const Entrypoint& entrypoint) {
  if (const auto* line = std::get_if<std::string>(&entrypoint.command)) {
    const std::size_t at = line->find(torch_launcher);
    return at != std::string::npos && std::string_view(*line).substr(0, at).ends_with("-m ");
  }
  const auto& words = std::get<std::vector<std::string>>(entrypoint.command);
  const auto flag = std::find(words.begin(), words.end(), "-m");
  return flag != words.end() && flag + 1 != words.end() && *(flag + 1) == torch_launcher;
}

std::unique_ptr<Dialect> make_determined_dialect() {
  return std::make_unique<DeterminedDialect>();
}

}  // namespace hpsearch::jobs
