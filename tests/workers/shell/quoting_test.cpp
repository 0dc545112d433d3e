// Placeholders in a line for sh, in real shells: every value reaches the program unchanged; none is executed.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/jobs/launch/placeholders.hpp"
#include "hpsearch/workers/core/launch/entrypoint.hpp"
#include "scratch.hpp"
#include "workers/shell/fake_daemon.hpp"
#include "workers/shell/run_program.hpp"

namespace hpsearch::workers::test {
namespace {

namespace fs = std::filesystem;
using engine::Value;
using jobs::LaunchSpec;
using Texts = std::vector<std::string>;

const std::uint64_t first_seed = test_seed(20'261'122);

class Quoting : public testing::Test {
 protected:
  Quoting() : chance_(first_seed) {
    RecordProperty("seed", std::to_string(first_seed));
    for (const char* bash : {"/bin/bash", "/usr/bin/bash"}) {
      if (bash_.empty() && fs::exists(bash)) {
        bash_ = bash;  // sh is bash on many machines.
      }
    }
  }

  template <class T>
  const T& one_of(const std::vector<T>& all) {
    return all[chance_() % all.size()];
  }

  std::string hostile() {
    static const Texts pieces = {
        "'",
        "\"",
        "\n",
        "\t",
        "$(touch canary)",
        "`touch canary`",
        "; touch canary;",
        "-rf",
        "*",
        "?",
        "\\",
        " ",
        "&touch canary&",
        "|touch canary",
        ">canary",
        "é漢😀",
        "\x7f",
        "\x01",
        "{x}",
        "{{",
        "}}",
        "${HOME}",
        "$V",
        "!",
        "!!",
        "#",
        "~",
        "=",
        "a",
        "2",
        "\nEOF\ntouch canary\n",
        ")touch canary",
        "}",
        "'\"'\"'",
        "\\\n",
        "$'",
        "\r",
    };
    static const Texts whole = {
        "",
        "0.001",
        "-1e-05",
        "2",
        "adam",
        "A=b",
        "if",
        "-rf",
        "~",
        "*",
        "it's",
        "\\",
        "\n",
        "$(touch canary)",
        "a; touch canary #",
        "EOF",
        "\"; touch canary; \"",
        "'; touch canary; '",
        "\ntouch canary\n",
        "EOF\ntouch canary\n",
        "';touch canary;'\";touch canary;\"$(touch canary)`touch canary`\nEOF\ntouch canary\n}touch "
        "canary)touch canary\n",
        "a[$(touch canary)]",
        "\\';touch canary #",
        "\\\";touch canary #",
    };
    if (chance_() % 2 == 0) {
      return one_of(whole);
    }
    std::string text;
    for (std::uint64_t left = chance_() % 8; left > 0; --left) {
      text += one_of(pieces);
    }
    return chance_() % 16 == 0 ? text + std::string(1'000, '\'') : text;
  }

  /// The words that would run; nothing if a place is refused.
  Texts planned(const std::string& line) {
    LaunchSpec spec = spec_of(key_of(0), {line});
    if (chance_() % 2 == 0) {
      spec.entrypoint.command = Texts{"/bin/sh", "-c", line};  // Equivalent.
    }
    spec.hparams = Value::Map{{"q", q_}, {"r.s", r_}};
    const HyperparameterForms forms(spec.hparams, {});
    environment_ = forms.variables();
    const auto argv = expand_entrypoint(spec, forms, {}, environment_);
    return argv ? *argv : Texts();
  }

  /// In dash, or whatever sh is, and every second time in bash as sh.
  void run(Texts argv) {
    fs::remove(scratch_.path() / "got");
    if (!bash_.empty() && chance_() % 2 == 0) {
      argv[0] = bash_;
      argv.insert(argv.begin() + 1, "--posix");
    }
    const Texts limited = {"/usr/bin/timeout", "-s", "KILL", "20"};
    argv.insert(argv.begin(), limited.begin(), limited.end());
    environment_.insert({{"PATH", "/usr/bin:/bin"}, {"V", "v"}, {"HOME", "/h"}});
    run_program(std::move(argv), environment_, scratch_.path());
  }

  void expect_not_run(const std::string& line) {
    ASSERT_FALSE(fs::exists(scratch_.path() / "canary"))
        << "seed " << first_seed << ": " << engine::compact_json(line) << " with q "
        << engine::compact_json(q_) << " and r.s " << engine::compact_json(r_);
  }

  /// The arguments of the program.
  [[nodiscard]] Texts got() const {
    Texts words;
    std::string word;
    for (const char c : text_of(scratch_.path() / "got")) {
      if (c == '\0') {
        words.push_back(std::exchange(word, {}));
      } else {
        word.push_back(c);
      }
    }
    return words;
  }

  Scratch scratch_;
  std::mt19937_64 chance_;
  std::string bash_;
  std::map<std::string, std::string> environment_;
  std::string q_;
  std::string r_;
};

/// A part of a word, and the text that the program must get for it, if $V is "v".
struct Part {
  std::string line;
  std::function<std::string(const std::string& q, const std::string& r)> means;
};

TEST_F(Quoting, EveryValueReachesTheProgramFromEveryPlaceInALine) {
  using Text = const std::string&;
  const std::vector<Part> parts = {
      {"{q}", [](Text q, Text) { return q; }},
      {"x$V{q}", [](Text q, Text) { return "xv" + q; }},
      {"\"it's\"{r.s}", [](Text, Text r) { return "it's" + r; }},
      {"'say \"'{r.s}'\"'", [](Text, Text r) { return "say \"" + r + "\""; }},
      {"\\\"{q}", [](Text q, Text) { return "\"" + q; }},
      {"a#{q}", [](Text q, Text) { return "a#" + q; }},
      {"\"$(echo \"x)\"'\"')\"{q}", [](Text q, Text) { return "x)\"" + q; }},
      {"\"`echo x`\"{q}", [](Text q, Text) { return "x" + q; }},
      {"\"${V}\"{q}{r.s}", [](Text q, Text r) { return "v" + q + r; }},
      {"{{{q}}}", [](Text q, Text) { return "{" + q + "}"; }},
      {"$((1 + (2))){q}", [](Text q, Text) { return "3" + q; }},
      {"\\\n{q}", [](Text q, Text) { return q; }},
      {"${N:-\"n'n\"}{q}", [](Text q, Text) { return "n'n" + q; }},
      {"\"$HPSEARCH_HP_Q\"", [](Text q, Text) { return q; }},
      {"\"{q}\"", [](Text q, Text) { return q; }},
      {"\"it's ${V} {r.s}{q}'\"", [](Text q, Text r) { return "it's v " + r + q + "'"; }},
      {"${V}", [](Text, Text) { return std::string("v"); }},
  };
  // The surroundings of the command; shells read each differently, and so must we.
  const std::vector<std::pair<std::string, std::string>> around = {
      {"", ""},
      {": \"it's\" 'a \"b' \\' ; ", " # it's {q}"},
      {"# it's \"a comment `$(\n", ""},
      {"cat <<EOF >/dev/null\nit's \"open `date`\nEOF\n", ""},
      {"cat <<-'EOF' >/dev/null\n\tit's `$(\n\tEOF\n", "\n: 'it' \"s\""},
      {"(", ")"},
      {"x=$(", ")"},
      {"if true; then ", "; fi"},
      {"case a in b) : \"'\";; a) ", ";; esac"},
      {"f() { ", "; }; f"},
      {"false || { : 2>&1 >/dev/null; ", "; } # '"},
      {": $# ${#V} a#b; ", ""},
      {"eval \"$(echo 'V=v')\"; ", ""},
      {"sh -c 'exit 0' x {q} {r.s}; ", ""},
  };
  for (int round = 0; round < 300 * test_effort(); ++round) {
    q_ = hostile();
    r_ = hostile();
    const auto& [before, after] = one_of(around);
    std::string line = before + "/usr/bin/printf '%s\\0' begin";
    Texts expected = {"begin"};
    for (std::uint64_t words = 1 + chance_() % 3; words > 0; --words) {
      line += ' ';
      expected.emplace_back();
      for (std::uint64_t left = 1 + chance_() % 3; left > 0; --left) {
        const Part& part = one_of(parts);
        line += part.line;
        expected.back() += part.means(q_, r_);
      }
    }
    line += " >>got" + after;
    const Texts argv = planned(line);
    ASSERT_FALSE(argv.empty()) << "seed " << first_seed << ", round " << round << ": "
                               << engine::compact_json(line);
    run(argv);
    ASSERT_EQ(got(), expected) << "seed " << first_seed << ", round " << round << ": "
                               << engine::compact_json(argv[2]).substr(0, 2'000) << "\n"
                               << text_of(scratch_.path() / "complaints");
    expect_not_run(line);
  }
}

TEST_F(Quoting, ValuesAreNeverExecuted) {
  const Texts fragments = {
      "{q}",       "{q}",
      "{q}",       "{q}",
      "{r.s}",     "'",
      "'",         "\"",
      "\"",        "`",
      "$(",        "(",
      ")",         "${V:-",
      "${V",       "}",
      "\\",        "\n",
      "\n",        " ",
      " ",         " ",
      "#",         "# ",
      "<<EOF\n",   "\nEOF\n",
      "<<-'EOF'",  "<<\"E2\"\n",
      "\nE2\n",    "<",
      ">f",        "<<",
      "$((",       "((",
      "))",        "$'",
      "$\"",       "$",
      "$V",        "$[",
      "]",         ";",
      ";;",        "&",
      "|",         "&&",
      "case a in", "esac",
      " a) ",      "if true; then ",
      "; fi",      "{{ ",
      "; }}",      "awk ",
      "X=",        "echo ",
      "echo a",    ": ",
      "a",         "=",
      "~",         "!",
      "for x in ", "; do echo $x; done",
      "<<<",       "<(",
      "command ",  "then ",
      "x\\\ny",    "\\'",
      "\\\"",      "\\`",
      "\t",        "\"$(",
      ")\"",
  };
  const int rounds = 400 * test_effort();
  int ran = 0;
  for (int round = 0; round < rounds; ++round) {
    q_ = hostile();
    r_ = hostile();
    std::string line = chance_() % 2 == 0 ? "echo " : "";
    for (std::uint64_t left = 2 + chance_() % 10; left > 0; --left) {
      line += one_of(fragments);
    }
    if (const Texts argv = planned(line); !argv.empty()) {
      ++ran;
      run(argv);
      expect_not_run(line);
    }
  }
  EXPECT_GT(ran, rounds / 10);
}

}  // namespace
}  // namespace hpsearch::workers::test
