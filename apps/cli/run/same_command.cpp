#include "cli/run/same_command.hpp"

#include <algorithm>

namespace hpsearch::cli {
namespace {

/// Quotes a word for a shell.
std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789@%+=:,./_-") == std::string::npos;
  if (plain) {
    return word;
  }
  std::string out = "'";
  for (const char c : word) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

}  // namespace

std::string command_text(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    out += (out.empty() ? "" : " ") + shell_word(word);
  }
  return out;
}

std::string same_command(std::vector<std::string> command, const std::string& with) {
  const auto own = std::find(command.begin(), command.end(), "--");
  const auto kept = std::remove_if(command.begin(), own, [](const std::string& word) {
    return word == "--fresh" || word == "--with-new-program";
  });
  const auto place = command.erase(kept, own);
  if (!with.empty()) {
    command.insert(place, with);
  }
  return command_text(command);
}

}  // namespace hpsearch::cli
