#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/proto/sentences/language.hpp"

namespace hpsearch::sentences {

/// "1 trial", "3 trials".
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view noun);

/// engine::amount() in a language: "9 epochs", "9 轮". Units of the pages have a Chinese word, others stay.
[[nodiscard]] std::string amount(engine::Units length, std::string_view unit, Language language);

/// "8 s", rounded up.
[[nodiscard]] std::string seconds_text(engine::Duration duration);

/// Six significant digits: "0.972222", "1e-05", "nan".
[[nodiscard]] std::string metric_text(double metric);

/// "batch_size=32 lr=0.01 optimizer.name=sgd": all leaves on one line.
[[nodiscard]] std::string flat_text(const engine::Value& hparams);

}  // namespace hpsearch::sentences
