#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/result.hpp"

namespace hpsearch::engine {

/// What users write about an experiment or a trial, for themselves and others. No decision depends on it.
struct Annotation {
  static constexpr std::size_t most_note_bytes = 10'000;
  static constexpr std::size_t most_labels = 50;
  static constexpr std::size_t most_label_bytes = 100;

  std::string note{};                 ///< Any text.
  std::vector<std::string> labels{};  ///< Each once, ascending; of an experiment those of its file at first.
  bool starred = false;

  friend bool operator==(const Annotation&, const Annotation&) = default;
};

struct ExperimentRecord;
/// That of the experiment, or of its trial; an empty one if users wrote nothing.
[[nodiscard]] const Annotation& annotation_of(const ExperimentRecord& record,
                                              const std::optional<TrialNumber>& trial) noexcept;

/// Changes the annotation of an experiment, or of one of its trials; what is not given stays. The same again
/// leaves no trace. bad_request: a text is too long, or a label is empty.
struct Annotate {
  ExperimentId experiment;
  std::optional<TrialNumber> trial{};  ///< Nothing: the experiment itself.
  std::optional<std::string> note{};
  std::optional<std::vector<std::string>> labels{};  ///< All that it has then.
  std::optional<bool> starred{};
};

}  // namespace hpsearch::engine
