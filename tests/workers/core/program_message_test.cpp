#include "hpsearch/workers/core/program_message.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "messages.hpp"

namespace hpsearch::workers {
namespace {

using engine::Metrics;
using engine::Units;

template <class Said>
Said expect_message(const engine::Result<ProgramMessage>& message) {
  EXPECT_TRUE(message.has_value()) << message.error().message;
  if (!message || !std::holds_alternative<Said>(*message)) {
    ADD_FAILURE() << "another kind of message";
    return Said{};
  }
  return std::get<Said>(*message);
}

std::string problem_of(const engine::Result<ProgramMessage>& message) {
  EXPECT_FALSE(message.has_value());
  return message ? "" : message.error().message;
}

TEST(SocketLine, ReportHasStepAndMetrics) {
  const auto said = expect_message<MetricsMessage>(
      parse_socket_line(R"({"type":"report","step":3,"metrics":{"val_acc":0.91,"loss":2}})"));
  EXPECT_EQ(said.step, Units{3});
  EXPECT_EQ(said.metrics, (Metrics{{"loss", 2.0}, {"val_acc", 0.91}}));
  EXPECT_TRUE(said.ignored.empty());
}

TEST(SocketLine, NestedNamesAreJoinedByDotsAndSorted) {
  const auto said = expect_message<MetricsMessage>(
      parse_socket_line(R"({"type":"report","step":1,"metrics":{"val":{"b":{"c":2},"a":1},"t":3}})"));
  EXPECT_EQ(said.metrics, (Metrics{{"t", 3.0}, {"val.a", 1.0}, {"val.b.c", 2.0}}));
}

TEST(SocketLine, TwoSpellingsOfOneNameGiveOneMetric) {
  const auto said = expect_message<MetricsMessage>(
      parse_socket_line(R"({"type":"report","step":1,"metrics":{"a.b":1,"a":{"b":2}}})"));
  ASSERT_EQ(said.metrics.size(), 1U);
  EXPECT_EQ(said.metrics[0].first, "a.b");
}

TEST(SocketLine, ValueThatIsNoNumberIsNamedAndLeftOut) {
  const auto said = expect_message<MetricsMessage>(parse_socket_line(
      R"({"type":"report","step":1,"metrics":{"note":"x","ok":true,"none":null,"list":[1],"loss":1.5}})"));
  EXPECT_EQ(said.metrics, (Metrics{{"loss", 1.5}}));
  EXPECT_EQ(said.ignored.size(), 4U);
}

TEST(SocketLine, PythonsNonFiniteNumbersAreNumbers) {
  const auto said = expect_message<MetricsMessage>(parse_socket_line(
      R"({"type":"report","step":1,"metrics":{"a":NaN,"b":Infinity,"c":-Infinity,"d":-1}})"));
  ASSERT_EQ(said.metrics.size(), 4U);
  EXPECT_TRUE(std::isnan(said.metrics[0].second));
  EXPECT_EQ(said.metrics[1].second, HUGE_VAL);
  EXPECT_EQ(said.metrics[2].second, -HUGE_VAL);
  EXPECT_EQ(said.metrics[3].second, -1.0);
}

TEST(SocketLine, NonFiniteWordsInsideTextStayText) {
  const auto said = expect_message<InvalidHparamsMessage>(
      parse_socket_line(R"({"type":"invalid_hyperparameters","why":"loss \" is NaN, -Infinity"})"));
  EXPECT_EQ(said.why, R"(loss " is NaN, -Infinity)");
}

TEST(SocketLine, OtherNonNumbersStayErrors) {
  for (const char* word : {"nan", "-NaN", "Infinit", "1Infinity", "+Infinity", "1e999"}) {
    const std::string line = std::string(R"({"type":"report","step":1,"metrics":{"a":)") + word + "}}";
    EXPECT_FALSE(parse_socket_line(line).has_value()) << word;
  }
}

TEST(SocketLine, StepIsAWholeNumberInAnySpelling) {
  EXPECT_EQ(
      expect_message<MetricsMessage>(parse_socket_line(R"({"type":"report","step":3.0,"metrics":{}})")).step,
      Units{3});
  for (const char* step : {"-1", "2.5", "\"3\"", "true", "null", "NaN", "1e300"}) {
    const std::string line = std::string(R"({"type":"report","metrics":{},"step":)") + step + "}";
    EXPECT_MESSAGE(problem_of(parse_socket_line(line))) << step;
  }
}

TEST(SocketLine, ProblemsNameTheMissingField) {
  EXPECT_MESSAGE(problem_of(parse_socket_line(R"({"step":1})")));
  EXPECT_MESSAGE(problem_of(parse_socket_line(R"({"type":"report","metrics":{}})")));
  EXPECT_NE(problem_of(parse_socket_line(R"({"type":"report","step":1,"val_acc":0.9})")).find("\"metrics\""),
            std::string::npos);
  EXPECT_MESSAGE(problem_of(parse_socket_line(R"({"type":"raport","step":1})")));
  EXPECT_MESSAGE(problem_of(parse_socket_line("hello")));
  EXPECT_MESSAGE(problem_of(parse_socket_line("[1]")));
  EXPECT_MESSAGE(problem_of(parse_socket_line(std::string(max_message_bytes + 1, ' '))));
}

TEST(SocketLine, ReportHasLimits) {
  std::string many = R"({"type":"report","step":1,"metrics":{)";
  for (int i = 0; i < 1001; ++i) {
    many += (i == 0 ? "\"m" : ",\"m") + std::to_string(i) + "\":1";
  }
  EXPECT_MESSAGE(problem_of(parse_socket_line(many + "}}")));
  const std::string name(300, 'n');
  EXPECT_NE(problem_of(parse_socket_line(R"({"type":"report","step":1,"metrics":{")" + name + R"(":1}})"))
                .find("name"),
            std::string::npos);
}

TEST(SocketLine, CheckpointMayNameItsStep) {
  EXPECT_EQ(expect_message<CheckpointMessage>(parse_socket_line(R"({"type":"checkpoint","step":9})")).step,
            Units{9});
  EXPECT_FALSE(
      expect_message<CheckpointMessage>(parse_socket_line(R"({"type":"checkpoint"})")).step.has_value());
}

TEST(SocketLine, ProgressAndLogAreRemarks) {
  EXPECT_EQ(expect_message<RemarkMessage>(parse_socket_line(R"({"type":"progress","fraction":0.5})")).log,
            "");
  EXPECT_EQ(expect_message<RemarkMessage>(parse_socket_line(R"({"type":"log","text":"hello"})")).log,
            "hello");
  const auto percent = [](const char* fraction) {
    return expect_message<RemarkMessage>(
               parse_socket_line(R"({"type":"progress","fraction":)" + std::string(fraction) + "}"))
        .percent;
  };
  EXPECT_EQ(percent("0"), 0);
  EXPECT_EQ(percent("0.29"), 29);
  EXPECT_EQ(percent("0.999"), 99);
  EXPECT_EQ(percent("1"), 100);
  for (const char* nothing : {"-0.1", "1.1", "NaN", "null", "\"0.5\""}) {
    EXPECT_FALSE(percent(nothing)) << nothing;
  }
}

TEST(SocketLine, GroupPrefixesItsMetrics) {
  const auto named = [](const std::string& group) {
    return expect_message<MetricsMessage>(parse_socket_line(R"({"type":"report","step":1,"group":)" + group +
                                                            R"(,"metrics":{"a":{"b":1}}})"))
        .metrics.at(0)
        .first;
  };
  EXPECT_EQ(named(R"("training")"), "training.a.b");
  EXPECT_EQ(named(R"("validation")"), "a.b");
  EXPECT_EQ(named("null"), "a.b");
  for (const char* group : {R"("a.b")", R"("")", "1", R"("train loss")"}) {
    const std::string line = std::string(R"({"type":"report","step":1,"metrics":{},"group":)") + group + "}";
    EXPECT_MESSAGE(problem_of(parse_socket_line(line))) << group;
  }
}

TEST(StdoutLine, OnlyTheKeywordMarksAMessage) {
  EXPECT_EQ(stdout_payload(R"(HPSEARCH {"step":1})"), R"({"step":1})");
  EXPECT_FALSE(stdout_payload("HPSEARCHING").has_value());
  EXPECT_FALSE(stdout_payload(R"(epoch 1 HPSEARCH {"step":1})").has_value());
}

TEST(StdoutLine, EverythingButTheStepIsAMetric) {
  const auto said =
      expect_message<MetricsMessage>(parse_stdout_payload(R"({"step":3,"val_acc":0.91,"val":{"loss":NaN}})"));
  EXPECT_EQ(said.step, Units{3});
  ASSERT_EQ(said.metrics.size(), 2U);
  EXPECT_EQ(said.metrics[0].first, "val.loss");
  EXPECT_EQ(said.metrics[1], (std::pair<std::string, double>{"val_acc", 0.91}));
}

TEST(StdoutLine, FormatOfTheSocketIsAccepted) {
  const auto said =
      expect_message<MetricsMessage>(parse_stdout_payload(R"({"type":"report","step":3,"metrics":{"a":1}})"));
  EXPECT_EQ(said.metrics, (Metrics{{"a", 1.0}}));
}

TEST(StdoutLine, GroupIsNoMetric) {
  const auto said =
      expect_message<MetricsMessage>(parse_stdout_payload(R"({"step":3,"group":"training","loss":1})"));
  EXPECT_EQ(said.metrics, (Metrics{{"training.loss", 1.0}}));
  EXPECT_EQ(expect_message<MetricsMessage>(parse_stdout_payload(R"({"step":3,"group":7})")).metrics,
            (Metrics{{"group", 7.0}}));
}

TEST(FirstNumber, IsFoundInOutputOfPrograms) {
  for (const auto& [text, number] :
       std::vector<std::pair<std::string, double>>{{"0.91", 0.91},
                                                   {"+1e-3", 0.001},
                                                   {"tensor(0.0754, device='cuda:0')", 0.0754},
                                                   {"f1 0.5", 0.5},
                                                   {"array([-2.5e+1], dtype=float32)", -25},
                                                   {"=.5", 0.5},
                                                   {"12%", 12}}) {
    const auto found = first_number(text);
    ASSERT_TRUE(found) << text;
    EXPECT_EQ(*found, number) << text;
  }
  EXPECT_TRUE(std::isnan(*first_number("nan (diverged)")));
  EXPECT_EQ(*first_number("loss: -inf"), -HUGE_VAL);
}

TEST(FirstNumber, IsNeverAPartOfThePrintedNumber) {
  for (const char* text : {"1,234", "1,234,567.8", "-12,345", "1_000", "1'000", "12,345,"}) {
    const auto found = first_number(text);
    ASSERT_FALSE(found) << text << " is read as " << *found;
    EXPECT_EQ(found.error().message, "its thousands are separated; print the number without separators")
        << text;
  }
  for (const char* text : {"1.5k", "3M", "2.1GB", "4KiB", "7K/s", "1.2M |"}) {
    const auto found = first_number(text);
    ASSERT_FALSE(found) << text << " is read as " << *found;
    EXPECT_EQ(found.error().message, "it is shortened; print the whole number") << text;
  }
  for (const auto& [text, why] :
       std::vector<std::pair<std::string, std::string>>{{"0,91", "decimal comma"},
                                                        {"loss 12,5 %", "decimal comma"},
                                                        {"1,2345", "decimal comma"},
                                                        {"1234,567", "decimal comma"},
                                                        {"1.234.567", "two decimal points"},
                                                        {"0.5D-03", "exponent"},
                                                        {"1d2", "exponent"},
                                                        {"0x1f", "hexadecimal"}}) {
    const auto found = first_number(text);
    ASSERT_FALSE(found) << text << " is read as " << *found;
    EXPECT_NE(found.error().message.find(why), std::string::npos) << text << ": " << found.error().message;
  }
  EXPECT_FALSE(first_number("0", ",91")) << "the pattern's group ended in the middle of it";
  EXPECT_FALSE(first_number("1", ",234 images")) << "the pattern's group ended in the middle of it";
  EXPECT_FALSE(first_number("1.5", "k"));
}

TEST(FirstNumber, MayPrecedeUnitsAndLists) {
  for (const auto& [text, number] : std::vector<std::pair<std::string, double>>{{"12ms", 12},
                                                                                {"0.91, 0.92", 0.91},
                                                                                {"0.91,0.92", 0.91},
                                                                                {"3,0.14", 3},
                                                                                {"3,14,15", 3},
                                                                                {"3, 14", 3},
                                                                                {"2d", 2},
                                                                                {"1.5.", 1.5},
                                                                                {"5Mpx", 5},
                                                                                {"92.5%", 92.5}}) {
    const auto found = first_number(text);
    ASSERT_TRUE(found) << text << ": " << found.error().message;
    EXPECT_EQ(*found, number) << text;
  }
}

TEST(CapturedStep, IsAWholeNumber) {
  EXPECT_EQ(*captured_step("12"), Units{12});
  EXPECT_EQ(*captured_step("12", "/100"), Units{12});
  for (const auto& [text, behind] : std::vector<std::pair<std::string, std::string>>{
           {"", ""}, {"x", ""}, {"-1", ""}, {"1,000", ""}, {"1", ",000"}}) {
    EXPECT_FALSE(captured_step(text, behind)) << text << behind;
  }
}

TEST(FirstNumber, IsNoPartOfAWord) {
  for (const char* text : {"", "unknown", "banana", "info", "f1", "v2.0", "1e999", "cuda0", "--"}) {
    EXPECT_FALSE(first_number(text)) << text;
  }
}

TEST(StdoutLine, WithoutStepIsAProblem) {
  EXPECT_MESSAGE(problem_of(parse_stdout_payload(R"({"val_acc":0.91})")));
}

}  // namespace
}  // namespace hpsearch::workers
