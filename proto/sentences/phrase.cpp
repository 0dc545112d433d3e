#include "hpsearch/proto/sentences/phrase.hpp"

#include "hpsearch/proto/sentences/words.hpp"

namespace hpsearch::sentences {

std::string filled(std::string_view form, std::initializer_list<std::string_view> values) {
  std::string text;
  while (!form.empty()) {
    const std::size_t hole = form.find('{');
    text += form.substr(0, hole);
    if (hole == std::string_view::npos) {
      break;
    }
    text += values.begin()[form[hole + 1] - '0'];
    form.remove_prefix(hole + 3);
  }
  return text;
}

std::string counted(std::uint64_t number, const Noun& noun, Language language) {
  return language == Language::chinese ? std::to_string(number) + " " + std::string(noun.chinese)
                                       : counted(number, noun.english);
}

}  // namespace hpsearch::sentences
