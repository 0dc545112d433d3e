#include "hpsearch/engine/config/placeholders.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/test_registry.hpp"
#include "hpsearch/engine/base/text.hpp"

namespace hpsearch::engine {
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

TEST(Placeholders, EachStateOfTheShellIsFollowed) {
  for (const char* line : {
           "p {q}", "p --q={q}", "p 'a' {q}", "p \"a\" {q}", "p \"it's\" {q}", "p 'say \"' {q}", "p \\\" {q}",
           "p a#b {q}", "p # it's\n{q}", "p $# {q}", "p $(date) {q}", "p `date` {q}", "p ${X:-\"a b\"} {q}",
           "p $((1 + (2))) {q}", "x=$(p {q})", "echo \"$(p {q})\"", "(cd a; p {q})", "case a in a) p {q};; esac",
           "cat <<EOF\nit's\nEOF\np {q}", "cat <<-'EOF' >f\n\tit's\n\tEOF\np {q}", "p 2>&1 {q}", "p \\\n{q}",
           "python3 train.py -c {q}", "p -c {q}", "grep -e {q} f", "f() { p {q}; }", "sh -c 'p \"$1\"' sh {q}",
           "bash run.sh -c {q}", "eval \"$(conda shell.bash hook)\"; p {q}",
           "eval \"python3 train.py $PAI_USER_ARGS\"; p {q}", "test {q} && echo {{q}}", "p $'a' {q}", "[[ a ]] && p {q}",
           "p {q} | tee log", "p {q} 2>&1 | python3 parse.py", "p {q} --out $DIR | cat", "p {q} <in || exit", "[ {q} = a ] && p",
           ". ./env.sh; p {q} <in", "p {q} | awk '{{print $1}}'", "p {q} > >(tee log)", "python3 a.py | p {q}",
           "for x in 1 2; do p {q}; done", "f() { p \"$1\"; }; f {q}", "flock f p {q}", "read x; p {q}",
       }) {
    EXPECT_EQ(place_in(line), ShellPlace::word) << line;
  }
  for (const char* line : {"p \"{q}\"", "p \"it's {q}\"", "p \"\\\"{q}\"", "p \"$(date) {q}\"", "p \"${X}{q}\"",
                           "p \"a\nb {q}\"", "x=\"$(p \"{q}\")\"", "p \"`date` {q}\"", "p $\"{q}\""}) {
    EXPECT_EQ(place_in(line), ShellPlace::double_quotes) << line;
  }
  for (const char* line : {"p '{q}'", "p '\"{q}'", "p '\\{q}'", "p \"$(p '{q}')\"", "p a'b'\"c\"'{q}'"}) {
    EXPECT_EQ(place_in(line), ShellPlace::single_quotes) << line;
  }
  for (const char* line : {"p # {q}", "# it's {q}\np", "p;# {q}", "x=$(p # {q}\n)"}) {
    EXPECT_EQ(place_in(line), ShellPlace::comment) << line;
  }
}

TEST(Placeholders, WhereATextIsEvaluatedOnlyHarmlessOnesAreSafe) {
  for (const char* line : {
           "sh -c 'p {q}'", "bash -lc \"p {q}\"", "timeout 5 bash -e -o pipefail -c \"p {q}\"", "/bin/sh -c {q}",
           "python3 -c 'print({q})'", "python3 -u -W ignore -c \"f('{q}')\"", "perl -pe 's/{q}//'", "node --eval={q}",
           "eval p {q}", "eval \"p '{q}'\"", "eval 2>&1 \"p {q}\"", "if true; then eval p {q}; fi", "ssh host p {q}",
           "trap 'rm {q}' EXIT", "awk '{print {q}}' f", "sed -i \"s/a/{q}/\" f", "X={q}; eval \"p $X\"",
           "X=\"{q}\"; bash -c \"p $X\"", "f() { eval \"$1\"; }; f {q}", "X=$(echo {q}); eval $X",
           "for x in {q}; do eval $x; done", "p ${X:-{q}}", "p \"${X:-{q}}\"", "$SHELL -c {q}", "bash 2>log -c {q}",
           "sh -c \"$(echo {q})\"", "cat <<EOF\nlr: {q}\nEOF", "cat <<'EOF'\nlr: {q}\nEOF", "xargs -n1 sh -c 'p {q}'",
           "echo \"p {q}\" | sh", "printf %s {q} | bash -s", "bash <<< \"p {q}\"", "bash <(echo {q})", ". <(echo {q})",
           "echo {q} | while read x; do eval \"$x\"; done", "echo {q} | { bash; }", "echo {q} | xargs -I% sh -c '%'",
           ". /dev/stdin <<< {q}", "p {q} | tee >(sh)", "[ -v {q} ]", "sbatch --wrap=\"p {q}\"", "x=$(echo {q} | sh)", "f() { X=$1; eval \"$X\"; }; f {q}", "f() { for x; do eval \"$x\"; done; }; f {q}", "X[0]={q}; eval \"${X[0]}\"",
           "read x <<< {q}; eval \"$x\"", "flock f -c \"p {q}\"", "X={q}; p $[1]; eval \"$X\"",
           "bash -euo pipefail -c \"p {q}\"", "perl -w -e 'p {q}'", "Rscript -e 1 -e 'f({q})'", "php -d x -r 'f({q});'",
           "echo \"p {q}\" | python3 -", "echo \"p {q}\" | bash -", "echo {q} | bash -s -- x", "echo {q} | ssh host",
           "sbatch <<< \"p {q}\"", "sed -i s/LR/{q}/ f", "sed -i s/a/b/ {q}", "find . -exec sed -i s/LR/{q}/ f \\;",
           "N={q}; p $((N*100))", "N={q}; p $(($N + 1))", "p $(( $(echo {q}) ))", "declare -i N; N={q}", "export X={q}; sh -c 'eval \"$X\"'", "scl enable x \"p {q}\"",
           "sg g -c \"p {q}\"", "coproc eval {q}",
           "[[ a && ( {q} -eq 1 ) ]]", "while [[ a || {q} -eq 1 ]]; do p; done",
       }) {
    EXPECT_EQ(place_in(line), ShellPlace::evaluated) << line;
    EXPECT_EQ(with_value(line, "$(touch C)"), "refused") << line;
    EXPECT_EQ(with_value(line, "a b"), "refused") << line;
    EXPECT_EQ(with_value(line, ""), "refused") << line;
    EXPECT_EQ(with_value(line, "A=b"), "refused") << line;
    std::string plain = line;
    plain.replace(plain.find("{q}"), 3, "adam");
    EXPECT_EQ(with_value(line, "adam"), plain) << line;
  }
  for (const char* line : {"p $(( {q} ))", "(( {q} ))", "p \"$(({q} + 1))\"", "p `p {q}`", "cat <<EOF\n{q}\nEOF", "cat <<EOF\nE{q}\nEOF", "cat <<-EOF\n\t{q}\n\tEOF",
                           "cat <<EOF\n$(date) {q}\nEOF", "sh -c 'p $(( {q} ))'"}) {
    EXPECT_EQ(place_in(line), ShellPlace::number) << line;
    EXPECT_EQ(with_value(line, "PATH"), "refused") << line;
    EXPECT_NE(with_value(line, "-1.5e-07"), "refused") << line;
  }
}

TEST(Placeholders, WhereNothingIsSafeEveryValueIsRefused) {
  for (const char* line : {"p \\{q}", "p \"\\{q}\"", "p `p \\{q}`", "p $'{q}'", "p $'\\'' {q}", "p $[1] {q}",
                           "p $\\\n{q}", "p \"${X:-'}\" {q}", "x=$(case a in a) p {q};; esac)", "cat <<E$F\nF\np {q}",
                           "cat <<EOF \"a\nb\"\nEOF\np {q}", "((a 'b')); p {q}", "cat <<E1\n{q}\nE1", "x=$(cat <<EOF)\nEOF\np {q}"}) {
    EXPECT_EQ(place_in(line), ShellPlace::unsafe) << line;
    EXPECT_EQ(with_value(line, "1"), "refused") << line;
  }
}

TEST(Placeholders, DeepNestingIsGivenUp) {
  std::string line;
  for (int i = 0; i < 100'000; ++i) {
    line += "$(p ";
  }
  EXPECT_EQ(place_in(line + "{q}"), ShellPlace::unsafe);
  EXPECT_EQ(place_in("p {q} " + line), ShellPlace::evaluated);  // By what has not been read, perhaps.
}

TEST(Placeholders, ValuesAreQuotedForTheirPlace) {
  EXPECT_EQ(with_value("p {q}", "0.1"), "p 0.1");
  EXPECT_EQ(with_value("p {q}", "it's"), R"(p 'it'"'"'s')");
  EXPECT_EQ(with_value("{q} p", "A=b"), "'A=b' p");
  EXPECT_EQ(with_value("p {q}>out", "2"), "p '2'>out");
  EXPECT_EQ(with_value("p $X{q}", "2"), "p $X'2'");
  EXPECT_EQ(with_value("p ~{q}", "1"), "p ~'1'");
  EXPECT_EQ(with_value("p \"lr={q}\"", "0.1"), "p \"lr=0.1\"");
  EXPECT_EQ(with_value("p \"$X{q}\"", "2"), "p \"$X\"'2'\"\"");
  EXPECT_EQ(with_value("p \"{q}\"", "$(x)"), "p \"\"'$(x)'\"\"");
  EXPECT_EQ(with_value("p '{q}'", "it's"), R"(p '''it'"'"'s''')");
  EXPECT_EQ(with_value("p # {q}\n", "\ntouch C"), "p # {q}\n");
  EXPECT_EQ(with_value("sh -c \"p $X{q}\"", "a"), "refused");
  EXPECT_EQ(with_value("sh -c 'p {q}>f'", "2"), "refused");
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
  EXPECT_EQ(all("sh -c 'p {args}'", harmless), "--lr 0.1");
  EXPECT_EQ(all("sh -c 'p {args}'", hostile), "refused");
}

TEST(Placeholders, AShellsProgramInAListIsALineForSh) {
  const auto second = [](const std::vector<std::string>& items) { return item_pieces(items).back().at(1); };
  EXPECT_EQ(second({"bash", "-c", "p \"{q}\""}).place, ShellPlace::double_quotes);
  EXPECT_EQ(second({"timeout", "9", "/bin/sh", "-ec", "p {q}"}).place, ShellPlace::word);
  EXPECT_EQ(second({"python3", "-c", "f({q})"}).place, ShellPlace::evaluated);
  EXPECT_EQ(second({"docker", "run", "x", "bash", "-c", "p {q}"}).place, ShellPlace::evaluated);
  EXPECT_EQ(second({"python3", "train.py", "-c", "<{q}>"}).place, ShellPlace::item);
  EXPECT_EQ(second({"bash", "-e", "<{q}>"}).place, ShellPlace::item);
  EXPECT_EQ(second({"bash", "-c", "p \"$1\"", "bash", "<{q}>"}).place, ShellPlace::item);
}

TEST(Placeholders, SubmissionRefusesWhatCouldBeEvaluatedWithLineAndWayOut) {
  const auto problems = [](Value value, Value entrypoint) {
    Value tree = with(small_experiment(), "hyperparameters", Value::Map{{"q", std::move(value)}});
    tree = with(std::move(tree), "entrypoint", std::move(entrypoint));
    return lines(parse_submission(tree, test_registry(), "stem", 11).problems);
  };
  const Value hostile = Value::Map{{"type", "categorical"}, {"vals", Value::List{"adam", "$(touch C)"}}};
  const Value number = Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 1}};
  EXPECT_EQ(problems(hostile, "p \"{q}\" '{q}' {q} # {q} {unknown}"), "");
  EXPECT_EQ(problems(hostile, "p\nsh -c 'p {q}'"),
            "entrypoint: can put \"$(touch C)\" in the place of {q} in line 2, inside a text that is evaluated as a program "
            "(texts of letters, digits and @%+:,./_- there; others as an argument of their own: sh -c '... \"$1\"' sh {q}, "
            "or from a variable that the program reads)\n");
  EXPECT_EQ(problems(number, "sh -c 'p {q}'; cat <<EOF\n{q}\nEOF\np `p {q}`"), "");
  EXPECT_NE(problems(hostile, "cat <<EOF\nq: {q}\nEOF").find("{q} in line 2, inside a here-document"), std::string::npos);
  EXPECT_NE(problems(number, "p \\{q}").find("entrypoint: has {q} in line 1, inside what a backslash stands before"),
            std::string::npos);
  EXPECT_NE(problems(number, "p \"{args}\"").find("has {args} in line 1, inside \"…\" ({args} outside quotes"),
            std::string::npos);
  EXPECT_NE(problems(hostile, "sh -c 'p {args}'").find("can put \"$(touch C)\" in the place of {args}"), std::string::npos);
  EXPECT_EQ(problems(number, "sh -c 'p {args_eq}'"), "");
  EXPECT_EQ(problems(hostile, Value::List{"bash", "-c", "p {q} \"{q}\""}), "");
  EXPECT_NE(problems(hostile, Value::List{"python3", "-c", "f('{q}')"}).find("entrypoint[2]: can put"), std::string::npos);
  EXPECT_EQ(problems(hostile, Value::List{"python3", "-c", "f()", "{q}"}), "");
}

}  // namespace
}  // namespace hpsearch::engine
