#include "hpsearch/jobs/launch/placeholders.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "jobs/read_experiment.hpp"

namespace hpsearch::jobs {
namespace {

/// The last placeholder of the line.
EntrypointPiece last_name(const std::string& line) {
  EntrypointPiece found;
  for (const EntrypointPiece& piece : line_pieces(line)) {
    found = piece.is_name ? piece : found;
  }
  EXPECT_TRUE(found.is_name) << line;
  return found;
}

void expect_place(Place place, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    EXPECT_EQ(last_name(line).place, place) << line << ": " << last_name(line).inside;
  }
}

TEST(Placeholders, ValueIsOneWordOutsideQuotes) {
  expect_place(Place::word, {"p {q}",
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
                             "p \"$(p {q})\"",
                             "p \"\\$(\" {q}",
                             "p \"${X:-a}\" {q}",
                             "(cd a; p {q})",
                             "case a in a) p {q};; esac",
                             "cat <<EOF\nit's\nEOF\np {q}",
                             "cat <<-'EOF' >f\n\tit's\n\tEOF\np {q}",
                             "cat <<\\EOF\nit's\nEOF\np {q}",
                             "cat <<A <<B\nA\nit's\nB\np {q}",
                             "cat <<<it {q}",
                             "p 2>&1 {q}",
                             "p \\\n{q}",
                             "f() { p {q}; }",
                             "p {q}>out",
                             "cd \"$(dirname \"$0\")\"; p {q}",
                             "p {q} > >(tee log)",
                             "X={q} p"});
}

TEST(Placeholders, VariableIsExpandedInsideDoubleQuotesAndHereDocuments) {
  expect_place(Place::quotes,
               {"p \"{q}\"", "p \"it's {q}\"", "p \"$(date) {q}\"", "sh -c \"p {q}\"", "p \"$(p \"{q}\")\"",
                "cat <<EOF\nit's {q}\nEOF", "cat <<EOF\na\\\nEOF\n{q}\nEOF", "cat <<-EOF\n\ta\n\t{q}"});
}

TEST(Placeholders, CommentStays) {
  expect_place(Place::comment, {"p # {q}", "# it's {q}\n", "p;# {q}", "x=$(p # {q}\n)"});
}

TEST(Placeholders, PlaceWhereNoVariableIsExpandedAsOneWordIsRefused) {
  expect_place(
      Place::refused,
      {"p '{q}'", "sh -c 'p {q}'", "awk '{{print {q}}}' f", "p `p {q}`", "p ${X:-{q}}", "p $(( {q} ))",
       "(( {q} ))", "p $[ {q} ]", "p \\{q}", "p \"\\{q}\"", "cat <<'EOF'\n{q}\nEOF", "cat <<\\EOF\n{q}\nEOF",
       "cat <<EOF\n$(p {q})\nEOF", "cat <<EOF\n$(p\n{q})\nEOF", "cat <<{q}\nEOF", "cat <<E$F\nF\np {q}",
       "p $'a' {q}", "p \"${X:-'}\" {q}", "x=$(case a in a) p {q};; esac)"});
}

TEST(Placeholders, DeepNestingTakesLinearTime) {
  std::string line;
  for (int i = 0; i < 100'000; ++i) {
    line += "\"$(p ";
  }
  expect_place(Place::word, {line + "{q}"});
  expect_place(Place::quotes, {line + "\"{q}"});
}

TEST(Placeholders, CommandThatParsesItsWordsAgainIsFound) {
  const auto found = [](const std::string& line) { return last_name(line).parsed_again; };
  for (const char* line :
       {"ssh node1 p {q}", "eval p {q}", "eval \"p {q}\"", "sh -c {q}", "bash -l -c \"p {q}\"",
        "timeout 9 python3 -u -c \"f({q})\"", "true; e'va'l p {q}", "\\eval p {q}",
        "bash -s <<EOF\np {q}\nEOF", "python3 - <<EOF\nf({q})\nEOF", "bash -euo pipefail -c \"p {q}\"",
        "ksh -c \"p {q}\"", "su u -c \"p {q}\"", "echo p {q} | bash", "echo {q} | tr a b | sh -s; true",
        "cat <<EOF | bash\np {q}\nEOF"}) {
    EXPECT_TRUE(found(line)) << line;
  }
  for (const char* line :
       {"p {q}", "bash run.sh {q}", "python3 train.py -c {q}", "sh -c 'p \"$1\"' sh {q}",
        "eval \"$(conda shell.bash hook)\" && p {q}", "srun -c 4 p {q}", "cat <<EOF\n{q}\nEOF", "bash -e {q}",
        "bash -o pipefail {q}", "p {q} | tee log", "p {q} || bash", "true | bash; p {q}"}) {
    EXPECT_FALSE(found(line)) << line;
  }
}

TEST(Placeholders, ProgramOfAShellInAListIsALine) {
  const auto last = [](const std::vector<std::string>& items) {
    return pieces_of(Entrypoint{items}).back().at(1);
  };
  EXPECT_EQ(last({"bash", "-c", "p \"{q}\""}).place, Place::quotes);
  EXPECT_EQ(last({"/bin/sh", "-e", "-c", "p {q}"}).place, Place::word);
  EXPECT_EQ(last({"bash", "-eo", "pipefail", "-c", "p {q}"}).place, Place::word);
  EXPECT_EQ(last({"bash", "-e", "<{q}/train.sh"}).place, Place::item) << "a script, not a line";
  EXPECT_EQ(last({"docker", "run", "x", "bash", "-c", "p {q}"}).place, Place::item)
      << "its variables are other ones";
  EXPECT_TRUE(last({"docker", "run", "x", "bash", "-c", "p {q}"}).parsed_again);
  EXPECT_TRUE(last({"python3", "-u", "-c", "f({q})"}).parsed_again);
  EXPECT_FALSE(last({"python3", "train.py", "-c", "<{q}>"}).parsed_again);
  EXPECT_EQ(last({"bash", "-c", "p \"$1\"", "bash", "<{q}>"}).place, Place::item);
}

TEST(Placeholders, EachHasItsVariable) {
  EXPECT_EQ(variable_of("optimizer.learning-rate"), "HPSEARCH_HP_OPTIMIZER_LEARNING_RATE");
  EXPECT_EQ(variable_of("trial_id"), "HPSEARCH_TRIAL_ID");
  EXPECT_EQ(variable_of("args_json"), "HPSEARCH_PARAMS");
  EXPECT_EQ(variable_of("inputs.data-url"), "PAI_INPUT_DATA_URL");
}

TEST(Placeholders, SubmissionNamesThePlaceAndWhatToWriteInstead) {
  const auto submitted = [](Value value, Value entrypoint) {
    Value tree = with(small_experiment(), "hyperparameters", Value::Map{{"q", std::move(value)}});
    return parse_submission(with(std::move(tree), "entrypoint", std::move(entrypoint)), test_registry(),
                            "stem", 11);
  };
  const auto problems = [&](Value value, Value entrypoint) {
    return lines(submitted(std::move(value), std::move(entrypoint)).problems);
  };
  const Value hostile = Value::Map{{"type", "categorical"}, {"vals", Value::List{"adam", "$(touch C)"}}};
  const Value number = Value::Map{{"type", "double"}, {"minval", 0}, {"maxval", 1}};
  EXPECT_EQ(problems(hostile, "p {q} \"{q}\" # {q} {unknown}"), "");
  EXPECT_EQ(problems(hostile, "p\nsh -c 'p {q}'"),
            "entrypoint: has {q} in line 2, inside single quotes (end the quotes before it, or use "
            "$HPSEARCH_HP_Q)\n");
  EXPECT_EQ(problems(number, "p \"{args}\""),
            "entrypoint: has {args} in line 1, inside double quotes (use {args} as an unquoted argument of "
            "the program itself)\n");
  const auto notes = [&](Value value, Value entrypoint) {
    const ParsedExperiment parsed = submitted(std::move(value), std::move(entrypoint));
    EXPECT_EQ(lines(parsed.problems), "");
    const std::string all = lines(parsed.notes);
    const std::size_t at = all.find("entrypoint");
    return at == std::string::npos ? "" : all.substr(at, all.find('\n', at) - at);
  };
  EXPECT_EQ(
      notes(hostile, "ssh host p {q}"),
      "entrypoint: {q} can be \"$(touch C)\" in a command that parses its words again (eval, ssh, bash "
      "-c): it would be split or executed there. Use letters, digits and @%+=:,./_- for such values, or "
      "bash -c '… \"$HPSEARCH_HP_Q\"'");
  EXPECT_EQ(notes(hostile, "ssh host p {args}").substr(0, 26), "entrypoint: {args} can be ");
  EXPECT_EQ(notes(number, "ssh host p {q} {args_eq}"), "");
  EXPECT_EQ(notes(hostile, Value::List{"bash", "-c", "p {q}"}), "");
  EXPECT_EQ(notes(hostile, Value::List{"python3", "-c", "f('{q}')"}).substr(0, 13), "entrypoint[2]");
  EXPECT_EQ(notes(hostile, Value::List{"python3", "-c", "f()", "{q}"}), "");
}

}  // namespace
}  // namespace hpsearch::jobs
