#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "hpsearch/proto/events/stored.hpp"
#include "hpsearch/proto/wire/wire.hpp"
#include "proto/examples.hpp"
#include "proto/foreign_msgpack.hpp"

// Untrusted bytes must give an Error for any content. Runs with the address and undefined
// behaviour sanitizers; the fuzz targets cover what these tables don't.

namespace hpsearch::test {
namespace {

using engine::Errc;
using engine::Error;
using proto::Bytes;

/// A decoder, and the bytes of every example it reads.
struct Decoder {
  std::string name;
  /// Returns the error; nothing if the bytes were read.
  std::function<std::optional<Error>(std::span<const std::byte>)> decode;
  std::vector<std::pair<std::string, Bytes>> examples;
};

template <class Read>
std::optional<Error> error_of(const Read& result) {
  return result ? std::nullopt : std::optional<Error>(result.error());
}

std::vector<Decoder> decoders() {
  std::vector<Decoder> all;
  all.push_back({"from worker", [](auto bytes) { return error_of(proto::decode_from_worker(bytes)); }, {}});
  for (const auto& example : examples_from_worker()) {
    all.back().examples.emplace_back(example.name, encode(example_envelope(), example.value));
  }
  all.push_back({"from daemon", [](auto bytes) { return error_of(proto::decode_from_daemon(bytes)); }, {}});
  for (const auto& example : examples_from_daemon()) {
    all.back().examples.emplace_back(example.name, encode(example_envelope(), example.value));
  }
  all.push_back({"event", [](auto bytes) { return error_of(proto::decode_event(bytes)); }, {}});
  for (const auto& example : example_events()) {
    all.back().examples.emplace_back(example.name, proto::encode_event(example.value));
  }
  return all;
}

void expect_corrupt(const Decoder& decoder, const std::string& what, const Bytes& bytes) {
  const auto error = decoder.decode(bytes);
  ASSERT_TRUE(error) << decoder.name << " read " << what;
  EXPECT_EQ(error->code, Errc::corrupt) << what;
  EXPECT_FALSE(error->message.empty()) << what;
}

TEST(HostileMsgpack, KnownTricksAreRefused) {
  const std::string many_lists(200'000, '\x91');
  std::string many_maps;
  for (int i = 0; i < 100'000; ++i) {
    many_maps += "\x81\xA1k";
  }
  const std::vector<std::pair<std::string, std::string>> tricks = {
      {"nothing", ""},
      {"a list of 4 Gi items", "\xDD\xFF\xFF\xFF\xFF"},
      {"a list of 64 Ki items", "\xDC\xFF\xFF"},
      {"a map of 4 Gi members", "\xDF\xFF\xFF\xFF\xFF"},
      {"a text of 4 GiB", "\xDB\xFF\xFF\xFF\xFF"},
      {"bytes of 4 GiB", "\xC6\xFF\xFF\xFF\xFF"},
      {"an extension of 4 GiB", "\xC9\xFF\xFF\xFF\xFF\x01"},
      {"an extension of no bytes", std::string("\xC7\x00\x01", 3)},
      {"a fixed extension", std::string("\xD4\x01\x00", 3)},
      {"a timestamp extension", std::string("\xD6\xFF\x00\x00\x00\x00", 6)},
      {"the unused byte", "\xC1"},
      {"the unused byte in a list", std::string("\x93\x01\xC1", 3)},
      {"lists of lists of lists", many_lists},
      {"maps of maps of maps", many_maps},
      {"lists that each claim 64 Ki lists",
       [] {
         std::string raw;
         for (int i = 0; i < 60; ++i) {
           raw += "\xDC\xFF\xFF";
         }
         return raw;
       }()},
      {"a text that is not UTF-8", std::string("\x93\x01\xA2\xC3\x28\x80", 6)},
      {"an overlong text", std::string("\x93\x01\xA2\xC0\x80\x80", 6)},
      {"a map with an integer for a key", std::string("\x93\x01\xA1x\x81\x01\x01", 7)},
      {"a map with a list for a key", std::string("\x93\x01\xA1x\x81\x90\x01", 7)},
      {"an empty list", "\x90"},
      {"an empty map", "\x80"},
      {"only a version", std::string("\x91\x01", 2)},
      {"a real for a version", std::string("\x91\xCB\x3F\xF0\0\0\0\0\0\0", 10)},
      {"a negative version", "\x91\xFF"},
      {"an integer alone", std::string("\x01", 1)},
      {"null alone", "\xC0"},
  };
  for (const Decoder& decoder : decoders()) {
    for (const auto& [what, raw] : tricks) {
      expect_corrupt(decoder, what, bytes_of(raw));
    }
  }
}

TEST(HostileMsgpack, EverySingleByteIsRefused) {
  for (const Decoder& decoder : decoders()) {
    for (int byte = 0; byte < 256; ++byte) {
      expect_corrupt(decoder, "byte " + std::to_string(byte), {static_cast<std::byte>(byte)});
    }
  }
}

TEST(HostileMsgpack, CutBytesAreRefused) {
  for (const Decoder& decoder : decoders()) {
    for (const auto& [name, bytes] : decoder.examples) {
      ASSERT_FALSE(decoder.decode(bytes)) << name;
      for (std::size_t size = 0; size < bytes.size(); ++size) {
        expect_corrupt(decoder, name + " cut to " + std::to_string(size),
                       Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)));
      }
    }
  }
}

TEST(HostileMsgpack, BytesAfterTheEndAreRefused) {
  for (const Decoder& decoder : decoders()) {
    for (const auto& [name, bytes] : decoder.examples) {
      for (const auto& [kind, more] : one_of_each_kind()) {
        Bytes longer = bytes;
        longer.insert(longer.end(), more.begin(), more.end());
        expect_corrupt(decoder, name + " and then " + kind, longer);
      }
    }
  }
}

// A flipped bit may still give a message, but no crash.
TEST(HostileMsgpack, FlippedBitsNeverCrash) {
  std::size_t refused = 0;
  for (const Decoder& decoder : decoders()) {
    for (const auto& [name, bytes] : decoder.examples) {
      for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        Bytes flipped = bytes;
        flipped[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
        refused += decoder.decode(flipped) ? 1U : 0U;
      }
    }
  }
  EXPECT_GT(refused, 0U);
}

/// All ways to replace one value of `raw` (a field, or deeper) by one of each kind.
void each_replacement(const Bytes& raw, const std::function<void(const Bytes&)>& take) {
  for (const auto& [kind, other] : one_of_each_kind()) {
    take(other);
  }
  if (is_map(raw)) {
    auto members = members_of(raw);
    for (auto& member : members) {
      const Bytes before = member.second;
      each_replacement(before, [&](const Bytes& after) {
        member.second = after;
        take(map_of(members));
      });
      member.second = before;
    }
  } else if (is_list(raw)) {
    auto items = items_of(raw);
    for (auto& item : items) {
      const Bytes before = item;
      each_replacement(before, [&](const Bytes& after) {
        item = after;
        Bytes list = bytes_of(std::string(1, static_cast<char>(0x90 + items.size())));
        for (const Bytes& each : items) {
          list.insert(list.end(), each.begin(), each.end());
        }
        take(list);
      });
      item = before;
    }
  }
}

TEST(HostileMsgpack, ReplacedValuesNeverCrash) {
  std::size_t tried = 0;
  for (const Decoder& decoder : decoders()) {
    for (const auto& [name, bytes] : decoder.examples) {
      each_replacement(bytes, [&](const Bytes& replaced) {
        ++tried;
        if (const auto error = decoder.decode(replaced)) {
          EXPECT_FALSE(error->message.empty());
        }
      });
    }
  }
  EXPECT_GT(tried, 5'000U);
}

// Duplicates every key of every body.
TEST(HostileMsgpack, DuplicateKeysAreRefused) {
  for (const Decoder& decoder : decoders()) {
    for (const auto& [name, bytes] : decoder.examples) {
      const Apart apart = take_apart(bytes);
      for (const auto& member : apart.body) {
        Apart doubled = apart;
        doubled.body.push_back(member);
        expect_corrupt(decoder, name + " with " + member.first + " twice", put_together(doubled));
      }
    }
  }
}

TEST(HostileMsgpack, DuplicateOrUnorderedKeysOfValuesAreRefused) {
  for (const char* map : {"\x82\xA1\x61\x01\xA1\x61\x02", "\x82\xA1\x62\x01\xA1\x61\x02"}) {
    Apart apart =
        take_apart(proto::encode_event(engine::ExperimentCreated{engine::ExperimentId{1}, {}, "", ""}));
    ASSERT_EQ(apart.body[1].first, "config");
    apart.body[1].second = bytes_of(map);
    EXPECT_TRUE(error_of(proto::decode_event(put_together(apart))));
  }
}

TEST(HostileMsgpack, DuplicateMetricsAreRefused) {
  Apart apart = take_apart(proto::encode_event(
      engine::ReportTaken{{}, 1, engine::MetricsReport{engine::Units{1}, {{"loss", 1.0}}}}));
  auto report = members_of(apart.body.back().second);
  report.back().second = map_of({{"b", raw_integer(1)}, {"a", raw_integer(1)}, {"b", raw_integer(2)}});
  apart.body.back().second = map_of(report);
  const auto error = error_of(proto::decode_event(put_together(apart)));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "report_taken: report.metrics has a name that stands twice");
}

TEST(HostileMsgpack, LongKeysDoNotMakeLongMessages) {
  Apart apart =
      take_apart(proto::encode_event(engine::ExperimentCreated{engine::ExperimentId{1}, {}, "", ""}));
  apart.body[1].second = map_of({{std::string(100'000, 'x'), bytes_of(std::string("\xC4\x00", 2))}});
  const auto error = error_of(proto::decode_event(put_together(apart)));
  ASSERT_TRUE(error);
  EXPECT_LT(error->message.size(), 300U);
}

}  // namespace
}  // namespace hpsearch::test
