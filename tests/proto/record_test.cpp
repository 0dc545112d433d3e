#include "hpsearch/proto/encoding/record.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/json.hpp"
#include "hpsearch/proto/encoding/spell.hpp"

// Structs with a spelling, as another room would write one.

namespace hpsearch::test {

using Texts = std::map<std::string, std::string>;

struct Parcel {
  std::uint64_t number = 0;
  std::int64_t below_zero = 0;
  int code = 0;
  std::string name;
  std::string bytes;
  std::vector<std::string> arguments;
  Texts environment;
  std::optional<std::uint64_t> maybe;
  friend bool operator==(const Parcel&, const Parcel&) = default;
};

void spell(auto& fields, proto::Is<Parcel> auto& parcel) {
  fields("number", parcel.number);
  fields("below_zero", parcel.below_zero);
  fields("code", parcel.code);
  fields("name", parcel.name);
  fields.bytes("bytes", parcel.bytes);
  fields.bytes("arguments", parcel.arguments);
  fields.bytes("environment", parcel.environment);
  fields.maybe("maybe", parcel.maybe);
}

struct Letter {
  std::string text;
  friend bool operator==(const Letter&, const Letter&) = default;
};

void spell(auto& fields, proto::Is<Letter> auto& letter) {
  fields("text", letter.text);
}

using Post = std::variant<Parcel, Letter>;

/// A record in JSON for people.
struct Address {
  std::uint64_t inode = 0;
  std::vector<Letter> letters;
  friend bool operator==(const Address&, const Address&) = default;
};

void spell(auto& fields, proto::Is<Address> auto& address) {
  fields("inode", address.inode);
  fields.maybe("letters", address.letters);
}

}  // namespace hpsearch::test

namespace hpsearch::proto {

template <>
inline constexpr const char* tag_of<test::Parcel> = "parcel";
template <>
inline constexpr const char* tag_of<test::Letter> = "letter";

}  // namespace hpsearch::proto

namespace hpsearch::test {
namespace {

using engine::Errc;

Parcel full_parcel() {
  return {.number = std::numeric_limits<std::uint64_t>::max(),
          .below_zero = std::numeric_limits<std::int64_t>::min(),
          .code = -1,
          .name = "Zoë",
          .bytes = std::string("a\0b\xFF", 4),
          .arguments = {"/bin/sh", "", "\xFE\n"},
          .environment = {{"A", ""}, {"B\xFF", "\xFE=\n"}},
          .maybe = 7};
}

TEST(Records, AreReadBackUnchanged) {
  const auto read = proto::decode_record<Parcel>(proto::encode_record(full_parcel()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, full_parcel());
  EXPECT_EQ(*proto::decode_record<Parcel>(proto::encode_record(Parcel{})), Parcel{});
}

TEST(Records, TagSelectsTheAlternative) {
  for (const Post& post : {Post(full_parcel()), Post(Letter{"dear"})}) {
    const auto read = proto::decode_record<Post>(proto::encode_record(post));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, post);
  }
  EXPECT_EQ(proto::decode_record<Post>(proto::encode_record(Letter{"dear"})).error().message,
            "the record: it has no type");
}

TEST(Records, ErrorsNameTheField) {
  const auto read = proto::decode_record<Parcel>(proto::encode_record(Letter{"dear"}));
  EXPECT_EQ(read.error().code, Errc::corrupt);
  EXPECT_EQ(read.error().message, "the record: number is missing");
}

/// The problem with a map that is written as these items.
std::string wrong_with(const std::vector<std::string>& texts) {
  proto::Bytes bytes;
  proto::MsgpackWriter out(bytes);
  proto::put_bytes(out, texts);
  proto::MsgpackTree tree;
  EXPECT_TRUE(tree.fill(bytes, {.bytes = bytes.size()}));
  Texts read;
  proto::Trouble trouble;
  EXPECT_FALSE(proto::read_bytes(tree.root(), read, trouble));
  return trouble.what;
}

TEST(Records, MapsWithoutPairsAreRefused) {
  EXPECT_EQ(wrong_with({"A", "1", "A", "2"}), "has a key that stands twice");
  EXPECT_EQ(wrong_with({"A", "1", "B"}), "ends with a key without a value");
}

TEST(Records, CutRecordsAreErrors) {
  const std::string whole = proto::encode_record(Post(full_parcel()));
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    const auto read = proto::decode_record<Post>(std::string_view(whole).substr(0, cut));
    ASSERT_FALSE(read) << cut;
    EXPECT_EQ(read.error().code, Errc::corrupt) << cut;
  }
  EXPECT_FALSE(proto::decode_record<Post>(whole + '\0'));
}

/// Without a checksum, a changed byte may give another record, but no crash.
TEST(Records, ChangedBytesAreErrorsOrOtherRecords) {
  const std::string whole = proto::encode_record(Post(full_parcel()));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bits = 1; bits < 256; ++bits) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ bits);
      const auto read = proto::decode_record<Post>(changed);
      if (read) {
        const auto again = proto::decode_record<Post>(proto::encode_record(*read));
        ASSERT_TRUE(again) << again.error().message;
        EXPECT_EQ(*again, *read) << "byte " << at << " ^ " << bits;
      } else {
        EXPECT_EQ(read.error().code, Errc::corrupt) << read.error().message;
      }
    }
  }
}

TEST(Records, JsonKeepsEveryNumber) {
  for (const std::uint64_t inode :
       {std::uint64_t{0}, std::uint64_t{1} << 62U, std::uint64_t{1} << 63U, ~std::uint64_t{0}}) {
    const Address address{.inode = inode, .letters = {{"dear"}, {"you"}}};
    const auto json = proto::parse_json(engine::compact_json(proto::encode_value(address)));
    ASSERT_TRUE(json) << json.error().message;
    const auto read = proto::decode_value<Address>(*json);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, address);
  }
}

TEST(Records, JsonRefusesTextForASmallNumber) {
  for (const char* text : {"", "2", "-1", "018446744073709551615", "18446744073709551616", "x"}) {
    const auto read = proto::decode_value<Address>(engine::Value::Map{{"inode", text}});
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Errc::corrupt);
  }
}

}  // namespace
}  // namespace hpsearch::test
