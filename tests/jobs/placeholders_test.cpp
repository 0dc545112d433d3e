#include "hpsearch/jobs/launch/placeholders.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "jobs/read_experiment.hpp"

namespace hpsearch::jobs {
namespace {

/// The place of {q}, which stands in the line once.
EntrypointPiece only_name(const std::string& line) {
  for (const EntrypointPiece& piece : line_pieces(line)) {
    if (piece.is_name) {
      return piece;
    }
  }
  ADD_FAILURE() << line;
  return {};
}

ShellPlace place_in(const std::string& line) {
  return only_name(line).place;
}

/// The line with {q} replaced; "refused" when it cannot be.
std::string with_value(const std::string& line, const std::string& value) {
  std::string out;
  for (const EntrypointPiece& piece : line_pieces(line)) {
    const auto text = piece.is_name ? written(piece, value) : piece.text;
    if (!text) {
      return "refused";
    }
    out += *text;
  }
  return out;
}

TEST(Placeholders, ValueIsOneWordOutsideQuotes) {
  for (const char* line : {
           "p {q}",
           "p --q={q}",
           "p 'a' {q}",
           "p \"a\" {q}",
           "p \"it's\" {q}",
           "p 'say \"' {q}",
           "p \\\" {q}",
           "p a#b {q}",
           "p # it's\n{q}",
           "p $# {q}",
           "p $(date) {q}",
           "p `date` {q}",
           "p ${X:-\"a b\"} {q}",
           "p $((1 + (2))) {q}",
           "x=$(p {q})",
           "(cd a; p {q})",
           "case a in a) p {q};; esac",
           "cat <<EOF\nit's\nEOF\np {q}",
           "cat <<-'EOF' >f\n\tit's\n\tEOF\np {q}",
           "p 2>&1 {q}",
           "p \\\n{q}",
           "f() { p {q}; }",
           "sh -c 'p \"$1\"' sh {q}",
           "bash run.sh {q}",
           "python3 train.py -c {q}",
           "cd \"$(dirname \"$0\")\"; p {q}",
           "p \"${X:-a}\" {q}",
           "eval \"$(conda shell.bash hook)\" && conda activate x && p {q}",
           "eval \"python3 train.py $PAI_USER_ARGS\"; p {q}",
           "test a && p {q}",
           "[[ a ]] && p {q}",
           "p {q} | tee log",
           "p {q} 2>&1 | python3 parse.py",
           "p {q} <in || exit",
           ". ./env.sh; p {q}",
           "p {q} > >(tee log)",
           "for x in 1 2; do p {q}; done",
           "X={q} p",
           "srun --ntasks 1 p {q}",
           "timeout 5 p {q}",
       }) {
    EXPECT_EQ(place_in(line), ShellPlace::word) << line;
    EXPECT_EQ(with_value(line, "$(touch C)").find("refused"), std::string::npos) << line;
  }
  for (const char* line : {"p # {q}", "# it's {q}\np", "p;# {q}", "x=$(p # {q}\n)"}) {
    EXPECT_EQ(place_in(line), ShellPlace::comment) << line;
  }
}

TEST(Placeholders, EveryValueIsRefusedInsideQuotes) {
  for (const char* line : {
           "p \"{q}\"",
           "p \"it's {q}\"",
           "p \"$(p {q})\"",
           "p '{q}'",
           "sh -c 'p {q}'",
           "python3 -c \"f({q})\"",
           "awk '{{print {q}}}' f",
           "p `p {q}`",
           "p ${X:-{q}}",
           "p $(( {q} ))",
           "(( {q} ))",
           "p \\{q}",
           "p $\\\n{q}",
           "cat <<EOF\n{q}\nEOF",
           "p $'a' {q}",
           "p \"${X:-'}\" {q}",
           "cat <<E$F\nF\np {q}",
           "cat <<EOF \"a\nb\"\nEOF\np {q}",
           "x=\"$(cat <<EOF)\nEOF\"\np {q}",
           "p \"open {q}",
       }) {
    EXPECT_EQ(place_in(line), ShellPlace::quoted) << line;
    EXPECT_EQ(with_value(line, "1"), "refused") << line;
  }
}

TEST(Placeholders, CommandThatParsesItsWordsAgainTakesPlainValues) {
  for (const char* line : {
           "ssh node1 python3 train.py --opt {q}",
           "eval p {q}",
           "sh -c {q}",
           "bash -lc {q}",
           "python3 -u -c {q}",
           "if true; then eval p {q}; fi",
           "echo {q} | sh",
           "echo {q} | bash -s",
           "trap {q} EXIT",
           "X={q}; eval \"p $X\"",
           "xargs -n1 p {q}",
           "[[ {q} -eq 1 ]]",
           "[ -v {q} ]",
           "echo {q} | ssh host p",
           "declare -i N={q}",
           "\\eval p {q}",
           "e\\val p {q}",
           "'eval' p {q}",
           "e'va'l p {q}",
           "\"eval\" p {q}",
           "X={q}; \\eval \"p $X\"",
           "\\sh -c {q}",
           "'/bin/sh' -c {q}",
           "\"python3\" '-c' {q}",
           "echo {q} | \\bash",
       }) {
    EXPECT_EQ(place_in(line), ShellPlace::reparsed) << line;
    EXPECT_EQ(with_value(line, "$(touch C)"), "refused") << line;
    EXPECT_EQ(with_value(line, "a b"), "refused") << line;
    EXPECT_EQ(with_value(line, ""), "refused") << line;
    std::string plain = line;
    plain.replace(plain.find("{q}"), 3, "adam");
    EXPECT_EQ(with_value(line, "adam"), plain) << line;
  }
}

TEST(Placeholders, DeepNestingIsRefusedInBoundedTime) {
  std::string line;
  for (int i = 0; i < 100'000; ++i) {
    line += "\"$(p ";
  }
  EXPECT_EQ(place_in(line + "{q}"), ShellPlace::quoted);
  EXPECT_EQ(place_in("p {q} " + line), ShellPlace::word);
}

TEST(Placeholders, ValuesAreQuotedForTheirPlace) {
  EXPECT_EQ(with_value("p {q}", "0.1"), "p 0.1");
  EXPECT_EQ(with_value("p {q}", "sgd nesterov"), "p 'sgd nesterov'");
  EXPECT_EQ(with_value("p {q}", "it's"), R"(p 'it'"'"'s')");
  EXPECT_EQ(with_value("{q} p", "A=b"), "'A=b' p");
  EXPECT_EQ(with_value("{q} p", "if"), "'if' p");
  EXPECT_EQ(with_value("p {q}>out", "2"), "p '2'>out");
  EXPECT_EQ(with_value("p $X{q}", "2"), "p $X'2'");
  EXPECT_EQ(with_value("p ~{q}", "1"), "p ~'1'");
  EXPECT_EQ(with_value("p # {q}\n", "\ntouch C"), "p # {q}\n");
}

TEST(Placeholders, ArgumentsAreSeveralWords) {
  const std::vector<std::string> harmless = {"--lr", "0.1"};
  const std::vector<std::string> hostile = {"--x", "a b"};
  const auto all = [](const std::string& line, const std::vector<std::string>& words) {
    return written(only_name(line), words).value_or("refused");
  };
  EXPECT_EQ(all("p {args}", hostile), "--x 'a b'");
  EXPECT_EQ(all("p {args}>out", harmless), "'--lr' '0.1'");
  EXPECT_EQ(all("p \"{args}\"", harmless), "refused");
  EXPECT_EQ(all("p '{args}'", harmless), "refused");
  EXPECT_EQ(all("ssh host p {args}", harmless), "--lr 0.1");
  EXPECT_EQ(all("ssh host p {args}", hostile), "refused");
}

TEST(Placeholders, ProgramOfAShellInAListIsALineForSh) {
  const auto last = [](const std::vector<std::string>& items) {
    return item_pieces(items).back().at(1).place;
  };
  EXPECT_EQ(last({"bash", "-c", "p \"{q}\""}), ShellPlace::quoted);
  EXPECT_EQ(last({"timeout", "9", "/bin/sh", "-ec", "p {q}"}), ShellPlace::word);
  EXPECT_EQ(last({"docker", "run", "x", "bash", "-c", "p {q}"}), ShellPlace::word);
  EXPECT_EQ(last({"python3", "-u", "-c", "f({q})"}), ShellPlace::reparsed);
  EXPECT_EQ(last({"python3", "train.py", "-c", "<{q}>"}), ShellPlace::item);
  EXPECT_EQ(last({"bash", "-c", "p \"$1\"", "bash", "<{q}>"}), ShellPlace::item);
}

TEST(Placeholders, SubmissionNamesThePlaceAndTheVariableToUse) {
  const auto problems = [](Value value, Value entrypoint) {
    Value tree = with(small_experiment(), "hyperparameters", Value::Map{{"q", std::move(value)}});
    tree = with(std::move(tree), "entrypoint", std::move(entrypoint));
    return lines(parse_submission(tree, test_registry(), "stem", 11).problems);
  };
  const Value hostile = Value::Map{{"type", "categorical"}, {"vals", Value::List{"adam", "$(touch C)"}}};
  const Value number = Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 1}};
  EXPECT_EQ(problems(hostile, "p {q} # {q} {unknown}"), "");
  EXPECT_EQ(problems(hostile, "p\nsh -c 'p {q}'"),
            "entrypoint: has {q} in line 2, inside single quotes (use $HPSEARCH_HP_Q)\n");
  EXPECT_EQ(problems(number, "p \"{args}\""),
            "entrypoint: has {args} in line 1, inside double quotes (use {args} as an unquoted argument of "
            "the program "
            "itself)\n");
  EXPECT_EQ(problems(hostile, "ssh host p {q}"),
            "entrypoint: can put \"$(touch C)\" in the place of {q} in line 1, inside a command that parses "
            "its words again "
            "(only letters, digits and @%+:,./_- there; for other values use $HPSEARCH_HP_Q)\n");
  EXPECT_EQ(problems(number, "ssh host p {q} {args_eq}"), "");
  EXPECT_EQ(problems(hostile, Value::List{"bash", "-c", "p {q}"}), "");
  EXPECT_NE(problems(hostile, Value::List{"python3", "-c", "f('{q}')"}).find("entrypoint[2]: can put"),
            std::string::npos);
  EXPECT_EQ(problems(hostile, Value::List{"python3", "-c", "f()", "{q}"}), "");
}

}  // namespace
}  // namespace hpsearch::jobs
