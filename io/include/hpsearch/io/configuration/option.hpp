#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hpsearch::configuration {

/// Stores a value from its text, in what the caller of the functions below names.
struct Take {
  /// How a configuration file spells the value.
  enum class Kind : std::uint8_t {
    text,    ///< A string; an unquoted number is refused, because YAML would change its spelling.
    scalar,  ///< A string or a number: numbers, times, sizes, ports.
    on_off,  ///< true or false; the flag has no value.
    list,    ///< A list of strings; the flag is repeated, the variable has commas.
  };

  Kind kind = Kind::text;
  /// Returns what is allowed instead, such as "a number from 1 to 9"; "" = the value was stored. Lists call
  /// it for each value.
  std::function<std::string(const std::string& text)> store{};
};

/// The text that is needed instead, in words; "" = it is right.
using Check = std::function<std::string(const std::string& text)>;

[[nodiscard]] Take text_in(std::string& place, Check check = {});
/// As text_in(); an unquoted number is a text, too.
[[nodiscard]] Take scalar_in(std::string& place, Check check = {});
[[nodiscard]] Take choice_in(std::string& place, std::vector<std::string_view> allowed);
[[nodiscard]] Take on_off_in(bool& place);
[[nodiscard]] Take list_in(std::vector<std::string>& place, Check check = {});
/// Bytes: "500MB", "20GiB" or a plain number.
[[nodiscard]] Take bytes_in(std::uint64_t& place);

/// Calls `store` with an integer, a number, or the seconds of a time as "90", "2.5", "15m" or "1h 30m".
[[nodiscard]] Take take_integer(std::function<void(std::uint64_t)> store, std::uint64_t least,
                                std::uint64_t most);
[[nodiscard]] Take take_seconds(std::function<void(double)> store, double least, double most);

/// `Place` is an integer or a number, or a std::optional of one.
template <class Place>
[[nodiscard]] Take integer_in(Place& place, std::uint64_t least, std::uint64_t most) {
  return take_integer([&place](std::uint64_t number) { place = number; }, least, most);
}
template <class Place>
[[nodiscard]] Take seconds_in(Place& place, double least, double most) {
  return take_seconds([&place](double seconds) { place = seconds; }, least, most);
}

/// When a value that was changed in a file counts.
enum class Change : std::uint8_t {
  at_start,    ///< After a restart.
  by_hang_up,  ///< After SIGHUP.
};

/// One option of a program: a flag, a key of its configuration files and a variable of the environment, all
/// with the same meaning.
struct Option {
  std::string key;      ///< "workers.lost_after": a section and a name.
  std::string flag;     ///< "--lost-after"
  std::string value{};  ///< What stands for the value in help: "SECONDS"; "" = none, for Take::Kind::on_off.
  std::string meaning{};
  std::string usual{};  ///< The value if none is given, in words; "" = none, or off.
  Take take{};
  Change change = Change::at_start;
  std::vector<std::string> needs{};     ///< Keys of options that must be given, too.
  std::vector<std::string> excludes{};  ///< Keys of options that must not be given, too.
  std::string group{};                  ///< Heading in help; "" = the usual one.
};

/// A program and all its options.
struct Program {
  std::string name;  ///< "hpsearchd"
  std::vector<Option> options;

  /// "HPSEARCHD_": how its variables begin.
  [[nodiscard]] std::string variable_prefix() const;
  /// "HPSEARCHD_WORKERS__LOST_AFTER"
  [[nodiscard]] std::string variable_of(const Option& option) const;
  /// Null: it has no such option.
  [[nodiscard]] const Option* find(std::string_view key) const;
};

/// The section and the name of a key: "workers" and "lost_after".
[[nodiscard]] std::pair<std::string, std::string> parts_of(const std::string& key);

/// A table in Markdown: key, flag, value, default, and what the option means.
[[nodiscard]] std::string describe(const Program& program);

}  // namespace hpsearch::configuration
