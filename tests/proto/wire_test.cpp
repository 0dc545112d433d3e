#include "hpsearch/proto/wire/wire.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "hpsearch/proto/api/utilization.hpp"
#include "proto/arbitrary.hpp"
#include "proto/examples.hpp"
#include "proto/foreign_msgpack.hpp"
#include "proto/same.hpp"

namespace hpsearch::test {
namespace {

using engine::Errc;
using proto::Bytes;
using proto::decode_from_daemon;
using proto::decode_from_worker;
using proto::encode;
using proto::Envelope;
using proto::FromDaemon;
using proto::FromWorker;

RC_GTEST_PROP(Wire, MessagesOfWorkersComeBackAsTheyWere, ()) {
  const auto envelope = arbitrary<Envelope>();
  const auto message = arbitrary<FromWorker>();
  const Bytes frame = encode(envelope, message);
  const auto decoded = decode_from_worker(frame);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(same(decoded->envelope, envelope));
  RC_ASSERT(same(decoded->message, message));
  RC_ASSERT(encode(decoded->envelope, decoded->message) == frame);
}

RC_GTEST_PROP(Wire, MessagesOfTheDaemonComeBackAsTheyWere, ()) {
  const auto envelope = arbitrary<Envelope>();
  const auto message = arbitrary<FromDaemon>();
  const Bytes frame = encode(envelope, message);
  const auto decoded = decode_from_daemon(frame);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(same(decoded->envelope, envelope));
  RC_ASSERT(same(decoded->message, message));
  RC_ASSERT(encode(decoded->envelope, decoded->message) == frame);
}

TEST(Utilization, IsALineOfJsonForEachStretch) {
  const std::vector<proto::Utilization> stretches{
      {1'769'000'000'000, 10'000, 39'100, 2'147'483'648, {{0, 8'700, 33'285'996'544}}},
      {1'769'000'010'000, 10'000, std::nullopt, std::nullopt, {{0, std::nullopt, 5}}},
      {1'769'000'020'000, 10'000, 0, 0, {}}};
  const std::string text = proto::utilization_text(stretches);
  EXPECT_EQ(text.substr(text.rfind('{')),
            "{\"at_ms\":1769000020000,\"cpu_ms\":0,\"memory_bytes\":0,\"ms\":10000}\n");
  EXPECT_EQ(proto::utilization_from(text), stretches);
  EXPECT_TRUE(proto::utilization_from("").empty());
}

TEST(Utilization, ReaderLeavesOutBrokenAndRepeatedLines) {
  const std::vector<proto::Utilization> stretches{{1'000, 10, 1, 2, {}}, {2'000, 10, 3, 4, {}}};
  const std::string text = proto::utilization_text(stretches);
  EXPECT_EQ(proto::utilization_from("no JSON\n" + text + "{\"at_ms\":5\n[]\n" + text), stretches);
  EXPECT_EQ(proto::utilization_from(text.substr(0, text.size() - 5)).size(), 1U) << "the last line is cut";
}

TEST(Utilization, TextOfAProgramFillsNoMemory) {
  std::string text;
  for (std::uint64_t i = 1; i <= 2'000; ++i) {
    text +=
        proto::utilization_text({{i, 1, 1, 1, {{2 * i, 1, 1}, {2 * i + 1, 1, 1}, {2 * i + 9'000, 1, 1}}}});
  }
  const auto stretches = proto::utilization_from(text);
  EXPECT_EQ(stretches.size(), proto::most_stretches);
  const api::Utilization columns = api::utilization_of(stretches);
  EXPECT_EQ(columns.at.size(), proto::most_stretches);
  EXPECT_EQ(columns.devices.size(), proto::max_worker_slots);
  EXPECT_EQ(columns.devices.front().utilization.size(), proto::most_stretches);
}

TEST(Wire, NamesEveryMessage) {
  EXPECT_STREQ(name_of(FromWorker(proto::Hello{})), "HELLO");
  EXPECT_STREQ(name_of(FromWorker(proto::Beat{})), "BEAT");
  EXPECT_STREQ(name_of(FromWorker(proto::Started{})), "STARTED");
  EXPECT_STREQ(name_of(FromWorker(proto::Reports{})), "REPORTS");
  EXPECT_STREQ(name_of(FromWorker(proto::DecisionAck{})), "DECISION_ACK");
  EXPECT_STREQ(name_of(FromWorker(proto::LogPart{})), "LOG_PART");
  EXPECT_STREQ(name_of(FromWorker(proto::Goodbye{})), "GOODBYE");
  EXPECT_STREQ(name_of(FromWorker(proto::LogNotKept{})), "LOG_NOT_KEPT");
  EXPECT_STREQ(name_of(FromWorker(proto::Join{})), "JOIN");
  EXPECT_STREQ(name_of(FromDaemon(proto::Welcome{})), "WELCOME");
  EXPECT_STREQ(name_of(FromDaemon(proto::Lease{})), "LEASE");
  EXPECT_STREQ(name_of(FromDaemon(proto::Ack{})), "ACK");
  EXPECT_STREQ(name_of(FromDaemon(proto::Nack{})), "NACK");
  EXPECT_STREQ(name_of(FromDaemon(proto::Decide{})), "DECISION");
  EXPECT_STREQ(name_of(FromDaemon(proto::Fenced{})), "FENCED");
  EXPECT_STREQ(name_of(FromDaemon(proto::Hold{})), "HOLD");
  EXPECT_STREQ(name_of(FromDaemon(proto::Resync{})), "RESYNC");
  EXPECT_STREQ(name_of(FromDaemon(proto::ReadLog{})), "READ_LOG");
  EXPECT_STREQ(name_of(FromDaemon(proto::Refused{})), "REFUSED");
  EXPECT_STREQ(name_of(FromDaemon(proto::Joined{})), "JOINED");
  EXPECT_STREQ(name_of(FromDaemon(proto::Wanted{})), "WANTED");
}

TEST(Wire, EmptyFieldsTakeNoBytes) {
  const Bytes frame = encode({}, FromWorker(proto::Goodbye{}));
  EXPECT_TRUE(take_apart(frame).body.empty());
}

TEST(Wire, OtherVersionsAreRefusedForAnyContent) {
  for (const std::uint64_t version : {proto::oldest_wire_version - 1, proto::wire_version + 1}) {
    Apart apart = take_apart(encode({}, FromWorker(proto::Beat{})));
    apart.items[0] = raw_integer(version);
    apart.items.insert(apart.items.begin() + 1, raw_text("a field we know nothing of"));
    const auto decoded = decode_from_worker(put_together(apart));
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, Errc::version_mismatch) << version;
  }
}

TEST(Wire, UnknownTypesAreRefusedByName) {
  Apart apart = take_apart(encode({}, FromWorker(proto::Beat{})));
  apart.items[1] = raw_text("RUN_THIS");
  const auto decoded = decode_from_worker(put_together(apart));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, Errc::corrupt);
  EXPECT_EQ(decoded.error().message, "a message of unknown type \"RUN_THIS\"");
}

TEST(Wire, EachSideRefusesItsOwnMessages) {
  EXPECT_FALSE(decode_from_worker(encode({}, FromDaemon(proto::Resync{}))));
  EXPECT_FALSE(decode_from_daemon(encode({}, FromWorker(proto::Beat{}))));
}

TEST(Wire, FramesAboveTheLimitAreRefused) {
  proto::LogPart part;
  part.text.assign(proto::max_frame_bytes, 'x');
  const auto decoded = decode_from_worker(encode({}, FromWorker(part)));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, Errc::corrupt);
}

TEST(Wire, FramesAtTheLimitAreRead) {
  proto::LogPart part;
  const std::size_t around =
      encode({}, FromWorker(part)).size() + 3;  // Three more bytes for the longer length.
  part.text.assign(proto::max_frame_bytes - around - 1, 'x');
  while (encode({}, FromWorker(part)).size() < proto::max_frame_bytes) {
    part.text += 'x';
  }
  const Bytes frame = encode({}, FromWorker(part));
  ASSERT_EQ(frame.size(), proto::max_frame_bytes);
  EXPECT_TRUE(decode_from_worker(frame));
}

TEST(Wire, ErrorsNameTheField) {
  proto::Reports reports{{}, 1, {engine::MetricsReport{engine::Units{1}, {{"loss", 1.0}}}}};
  Apart apart = take_apart(encode({}, FromWorker(reports)));
  auto report = members_of(items_of(apart.body.back().second)[0]);
  ASSERT_EQ(report[1].first, "step");
  report[1].second = raw_text("three");
  Bytes list = bytes_of("\x91");
  const Bytes map = map_of(report);
  list.insert(list.end(), map.begin(), map.end());
  apart.body.back().second = list;
  const auto decoded = decode_from_worker(put_together(apart));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().message, "REPORTS: reports[0].step is a text, not an integer of at least 0");
}

TEST(Wire, InvalidCreditIsRefusedWithItsMessage) {
  Apart apart = take_apart(encode({}, FromDaemon(proto::Ack{{}, 1, 65'536})));
  ASSERT_EQ(apart.body.back().first, "credit");
  for (const Bytes& wrong : {raw_text("much"), bytes_of("\xff")}) {  // -1
    apart.body.back().second = wrong;
    const auto decoded = decode_from_daemon(put_together(apart));
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, Errc::corrupt);
    EXPECT_NE(decoded.error().message.find("credit"), std::string::npos) << decoded.error().message;
  }
}

TEST(Wire, InvalidUtf8IsRepairedBeforeItIsSent) {
  engine::ExitReport exit;
  exit.log_tail = "caf\xC3";  // Cut in the middle of a character.
  const auto decoded = decode_from_worker(encode({}, FromWorker(proto::Reports{{}, 1, {exit}})));
  ASSERT_TRUE(decoded);
  const auto& report = std::get<proto::Reports>(decoded->message).reports[0];
  EXPECT_EQ(std::get<engine::ExitReport>(report).log_tail, "caf\xEF\xBF\xBD");
}

TEST(Wire, LogTextKeepsItsBytes) {
  proto::LogPart part;
  part.text = std::string("\xFF\x00\xC3", 3);
  const auto decoded = decode_from_worker(encode({}, FromWorker(part)));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::get<proto::LogPart>(decoded->message).text, part.text);
}

TEST(Wire, MetricsAreSentSortedAndTheLastDuplicateCounts) {
  const engine::MetricsReport untidy{engine::Units{1}, {{"b", 1.0}, {"a", 2.0}, {"b", 3.0}}};
  const auto decoded = decode_from_worker(encode({}, FromWorker(proto::Reports{{}, 1, {untidy}})));
  ASSERT_TRUE(decoded);
  const auto& report = std::get<engine::MetricsReport>(std::get<proto::Reports>(decoded->message).reports[0]);
  EXPECT_EQ(report.metrics, (engine::Metrics{{"a", 2.0}, {"b", 3.0}}));
}

TEST(Wire, ForeignMetricsMayBeUnorderedOrIntegers) {
  Apart apart = take_apart(
      encode({}, FromWorker(proto::Reports{{}, 1, {engine::MetricsReport{engine::Units{1}, {}}}})));
  auto report = members_of(items_of(apart.body.back().second)[0]);
  report.emplace_back("metrics", map_of({{"b", raw_integer(7)}, {"a", bytes_of("\xFE")}}));
  report.erase(report.begin() + 2);
  Bytes list = bytes_of("\x91");
  const Bytes map = map_of(report);
  list.insert(list.end(), map.begin(), map.end());
  apart.body.back().second = list;
  const auto decoded = decode_from_worker(put_together(apart));
  ASSERT_TRUE(decoded) << decoded.error().message;
  const auto& read = std::get<engine::MetricsReport>(std::get<proto::Reports>(decoded->message).reports[0]);
  EXPECT_EQ(read.metrics, (engine::Metrics{{"a", -2.0}, {"b", 7.0}}));
}

TEST(Wire, UnknownFieldsOfALaterVersionAreSkipped) {
  const Bytes novelty = map_of({{"deep", map_of({{"deeper", raw_integer(1)}})}, {"also", raw_text("new")}});
  for (const auto& example : examples_from_worker()) {
    const Bytes frame = encode(example_envelope(), example.value);
    Apart apart = take_apart(frame);
    apart.body.insert(apart.body.begin(), {"a_new_field", novelty});
    const auto decoded = decode_from_worker(put_together(apart));
    ASSERT_TRUE(decoded) << example.name << ": " << decoded.error().message;
    EXPECT_EQ(encode(decoded->envelope, decoded->message), frame) << example.name;
  }
  for (const auto& example : examples_from_daemon()) {
    const Bytes frame = encode(example_envelope(), example.value);
    Apart apart = take_apart(frame);
    apart.body.emplace_back("zz_new_field", novelty);
    const auto decoded = decode_from_daemon(put_together(apart));
    ASSERT_TRUE(decoded) << example.name << ": " << decoded.error().message;
    EXPECT_EQ(encode(decoded->envelope, decoded->message), frame) << example.name;
  }
}

}  // namespace
}  // namespace hpsearch::test
