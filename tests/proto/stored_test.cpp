#include "hpsearch/proto/events/stored.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "proto/arbitrary.hpp"
#include "proto/examples.hpp"
#include "proto/filled.hpp"
#include "proto/foreign_msgpack.hpp"
#include "proto/listed_fields.hpp"
#include "proto/same.hpp"

namespace hpsearch::test {
namespace {

using engine::Errc;
using engine::EventBody;
using engine::Value;
using proto::Bytes;
using proto::decode_event;
using proto::encode_event;

RC_GTEST_PROP(StoredEvent, ComesBackAsItWas, ()) {
  const auto body = arbitrary<EventBody>();
  const Bytes bytes = encode_event(body);
  const auto decoded = decode_event(bytes);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(same(*decoded, body));
  RC_ASSERT(encode_event(*decoded) == bytes);
}

TEST(StoredEvent, TypesAreSpelledLikeTheirExamples) {
  std::set<std::size_t> seen;
  for (const auto& example : example_events()) {
    EXPECT_EQ(example.name.rfind(proto::type_of(example.value), 0), 0U) << example.name;
    seen.insert(example.value.index());
  }
  EXPECT_EQ(seen.size(), std::variant_size_v<EventBody>) << "an event has no example";
}

TEST(FilledEvent, HasSomethingInEveryField) {
  for_each_kind_of_event([]<class Kind>(const Kind& /*empty*/) {
    const EventBody event = filled<Kind>();
    const Bytes bytes = encode_event(event);
    EXPECT_EQ(take_apart(bytes).body.size(), listed_fields<Kind>().size()) << Kind::type;
    const auto decoded = decode_event(bytes);
    ASSERT_TRUE(decoded) << Kind::type << ": " << decoded.error().message;
    EXPECT_TRUE(same(*decoded, event)) << Kind::type;
  });
}

// The decoder reads our own order of members faster than others; both give the same event.
TEST(StoredEvent, MembersInAnotherOrderAreTheSameEvent) {
  for (const auto& example : example_events()) {
    Apart apart = take_apart(encode_event(example.value));
    std::reverse(apart.body.begin(), apart.body.end());
    const auto decoded = decode_event(put_together(apart));
    ASSERT_TRUE(decoded) << example.name << ": " << decoded.error().message;
    EXPECT_TRUE(same(*decoded, example.value)) << example.name;
  }
}

TEST(StoredEvent, OneDecoderReadsAllEvents) {
  proto::EventDecoder decoder;
  EventBody body;
  for (const auto& example : example_events()) {
    const Bytes bytes = encode_event(example.value);
    Apart apart = take_apart(bytes);
    std::reverse(apart.body.begin(), apart.body.end());
    EXPECT_FALSE(decoder.decode(std::span(bytes).first(bytes.size() - 1), body)) << example.name;
    ASSERT_TRUE(decoder.decode(put_together(apart), body)) << example.name;
    EXPECT_TRUE(same(body, example.value)) << example.name;
    ASSERT_TRUE(decoder.decode(bytes, body)) << example.name;
    EXPECT_TRUE(same(body, example.value)) << example.name;
  }
}

TEST(StoredEvent, RealsStayReals) {
  const EventBody body =
      engine::ExperimentCreated{engine::ExperimentId{1}, Value::List{64, 64.0, -0.0}, "", ""};
  const auto decoded = decode_event(encode_event(body));
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(same(*decoded, body));
}

TEST(StoredEvent, EqualEventsAreEqualBytes) {
  Value::Map forwards;
  forwards["a"] = 1;
  forwards["b"] = 2;
  Value::Map backwards;
  backwards["b"] = 2;
  backwards["a"] = 1;
  EXPECT_EQ(encode_event(engine::ExperimentCreated{{}, forwards, "", ""}),
            encode_event(engine::ExperimentCreated{{}, backwards, "", ""}));
}

TEST(StoredEvent, UnknownFieldsOfALaterBuildAreSkipped) {
  for (const auto& example : example_events()) {
    const Bytes bytes = encode_event(example.value);
    Apart apart = take_apart(bytes);
    apart.body.insert(apart.body.begin(), {"a_new_field", bytes_of("\x91\xC0")});
    const auto decoded = decode_event(put_together(apart));
    ASSERT_TRUE(decoded) << example.name << ": " << decoded.error().message;
    EXPECT_EQ(encode_event(*decoded), bytes) << example.name;
  }
}

TEST(StoredEvent, OtherVersionsAreRefused) {
  for (const std::uint64_t version : {proto::oldest_store_version - 1, proto::store_version + 1}) {
    Apart apart = take_apart(encode_event(engine::ExperimentPaused{engine::ExperimentId{1}}));
    apart.items[0] = raw_integer(version);
    const auto decoded = decode_event(put_together(apart));
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code, Errc::version_mismatch);
  }
}

TEST(StoredEvent, UnknownTypesAreAVersionMismatch) {
  Apart apart = take_apart(encode_event(engine::ExperimentPaused{engine::ExperimentId{1}}));
  apart.items[1] = raw_text("trial_cloned");
  const auto decoded = decode_event(put_together(apart));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, Errc::version_mismatch);
  EXPECT_EQ(decoded.error().message, "an event of type \"trial_cloned\", which this build does not know");
}

TEST(StoredEvent, MissingFieldsAreNamed) {
  Apart apart =
      take_apart(encode_event(engine::TrialQueued{engine::ExperimentId{1}, engine::TrialNumber{2}}));
  apart.body.pop_back();
  const auto decoded = decode_event(put_together(apart));
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().message, "trial_queued: trial is missing");
}

TEST(StoredEvent, IsAMapForPeople) {
  const engine::Event event{
      engine::Lsn{12}, engine::Instant::from_micros(1'500'000),
      engine::TrialEnded{engine::ExperimentId{1},
                         engine::TrialNumber{2},
                         engine::TrialState::stopped,
                         {engine::Reason::Why::rung_closed, 0U, 1U, {}, {}, {}, {}, ""}}};
  EXPECT_EQ(engine::compact_json(proto::to_value(event)),
            R"({"at":1.5,"experiment":1,"lsn":12,"reason":{"bracket":0,"rung":1,"why":"rung_closed"},)"
            R"("state":"STOPPED","trial":2,"type":"trial_ended"})");
}

TEST(StoredEvent, ReportsForPeopleHaveTheirKind) {
  const engine::Event event{
      engine::Lsn{13}, engine::Instant::from_micros(0),
      engine::ReportTaken{
          {engine::ExperimentId{1}, engine::TrialNumber{0}, engine::AttemptNumber{1}, engine::LeaseId{5}},
          2,
          engine::MetricsReport{engine::Units{3}, {{"loss", std::nan("")}, {"val.acc", 1.0}}}}};
  EXPECT_EQ(engine::compact_json(proto::to_value(event)),
            R"({"at":0.0,"attempt":1,"experiment":1,"lease":5,"lsn":13,)"
            R"("report":{"metrics":{"loss":{"class":"nan"},"val.acc":1.0},"step":3,"type":"metrics"},)"
            R"("seq":2,"trial":0,"type":"report_taken"})");
}

TEST(StoredEvent, NumbersAbove63BitsAreTextForPeople) {
  const engine::Event event{
      engine::Lsn{1}, {}, engine::ExperimentPaused{engine::ExperimentId{~std::uint64_t{0}}}};
  const Value value = proto::to_value(event);
  EXPECT_EQ(*value.as_map()->find("experiment"), Value("18446744073709551615"));
}

TEST(ShownEvent, IsReadBackFromJson) {
  std::uint64_t lsn = 0;
  for (const auto& example : example_events()) {
    const engine::Event event{engine::Lsn(++lsn), engine::Instant::from_micros(1'700'000'000'123'456),
                              example.value};
    const auto json = proto::parse_json(proto::pretty_json(proto::to_value(event)));
    ASSERT_TRUE(json) << example.name;
    const auto read = proto::event_of(*json);
    ASSERT_TRUE(read) << example.name << ": " << read.error().message;
    EXPECT_EQ(read->lsn, event.lsn) << example.name;
    EXPECT_EQ(read->at, event.at) << example.name;
    EXPECT_TRUE(same(read->body, event.body)) << example.name;
  }
}

TEST(ShownEvent, ErrorNamesTheField) {
  Value::Map paused{{"type", "experiment_paused"}, {"lsn", 4}, {"at", 1.5}, {"experiment", 7}};
  ASSERT_TRUE(proto::event_of(paused));
  const auto message_without = [&paused](const char* field) {
    Value::Map without = paused;
    without.erase(field);
    const auto read = proto::event_of(without);
    return read ? std::string("read") : read.error().message;
  };
  EXPECT_EQ(message_without("experiment"), "an event: experiment is missing");
  EXPECT_EQ(message_without("lsn"), "an event: lsn is missing");
  EXPECT_EQ(message_without("type"), "an event: it has no type");
  paused["type"] = "experiment_painted";
  EXPECT_EQ(proto::event_of(paused).error().message,
            "an event: type is none known here: \"experiment_painted\"");
  EXPECT_EQ(proto::event_of(Value(3)).error().code, Errc::corrupt);
}

}  // namespace
}  // namespace hpsearch::test
