#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/verbs/verbs.hpp"
#include "hpsearch/proto/api/queues.hpp"

namespace hpsearch::cli {

/// The settings of a queue without options.
[[nodiscard]] api::QueueSettings usual_queue_settings();

/// Changes the setting that an option of `alloc add` names, without its dashes. Nothing: it is done.
[[nodiscard]] std::optional<Failure> change_setting(api::QueueSettings& settings, const std::string& key,
                                                    const std::string& text);

/// The queue that the options describe.
[[nodiscard]] Outcome<api::QueueRequest> queue_request(const AllocOptions& options);

/// The queues of a file, in YAML or JSON, by name: `queues: {gpu: {time-limit: 8h, arguments: [-p, gpu]}}`.
/// Settings are named as the options of `alloc add`.
[[nodiscard]] Outcome<std::vector<api::QueueRequest>> queues_in_file(const std::string& file);

}  // namespace hpsearch::cli
