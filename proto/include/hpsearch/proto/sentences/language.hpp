#pragma once

#include <cstdint>
#include <string_view>

namespace hpsearch::sentences {

/// Languages of sentences. Numbers, names, metrics, fields and texts of programs are the same in each.
enum class Language : std::uint8_t { english, chinese };

/// The language for a request with this header Accept-Language: Chinese if it prefers a kind of Chinese to
/// English and to "*", otherwise English. The earlier of two equal preferences counts; an entry that can't be
/// read doesn't.
[[nodiscard]] Language language_for(std::string_view accept_language) noexcept;

/// Its value of Content-Language: "en", "zh-CN".
[[nodiscard]] std::string_view name_of(Language language) noexcept;

}  // namespace hpsearch::sentences
