#pragma once

#include <string_view>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::cli {

// Files of earlier results, as lists for `searcher.prior`: maps of hparams, length and metric. If a row has
// `reached`, as in the output of `hpsearch export`, its metric is at that length; otherwise at its `length`.
// bad_request: "line 3: …".

/// CSV with columns hparams.NAME, metric, and length or reached; other columns are ignored. A cell is the
/// value of the space with that spelling; an empty one is no value.
[[nodiscard]] engine::Result<engine::Value::List> prior_of_csv(std::string_view text,
                                                               const engine::Space& space);

/// One JSON object per line, with the same names; hparams is an object.
[[nodiscard]] engine::Result<engine::Value::List> prior_of_json_lines(std::string_view text);

}  // namespace hpsearch::cli
