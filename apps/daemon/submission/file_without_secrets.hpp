#pragma once

#include <optional>
#include <string>

#include "hpsearch/engine/base/value.hpp"

namespace hpsearch::daemon {

/// The text that replaces a secret in an experiment file. It is a plain word in YAML wherever it stands.
inline constexpr const char* hidden_in_text = "<hidden>";

/// An experiment file that everybody may read who may read its effective configuration.
struct FileWithoutSecrets {
  std::optional<std::string> text;
  std::string why_not;  ///< Why there is no text, a sentence about "it"; "" if there is one.
};

/// The experiment file with hidden_in_text in the place of each secret, and otherwise byte by byte as its
/// user wrote it. Secrets are those of the file itself and those of `config`, the configuration that it
/// became (jobs/fields/secrets.hpp): changes of the command line may have replaced some.
///
/// A secret is replaced in its field however it is spelled on the field's line, and every other time it
/// stands in the text, comments included. The result is then read again as YAML: if a secret is still in it,
/// because it has several lines, for example, there is no text. A secret of fewer than 4 characters, or one
/// that is true, false or null, is only replaced in its field: it says nothing elsewhere.
///
/// Cost: O(text · secrets), at most 256 of them.
[[nodiscard]] FileWithoutSecrets file_without_secrets(const std::string& text, const engine::Value& config);

}  // namespace hpsearch::daemon
