#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>

#include "hpsearch/proto/events/stored.hpp"
#include "hpsearch/proto/wire/wire.hpp"
#include "proto/examples.hpp"
#include "proto/filled.hpp"
#include "proto/foreign_msgpack.hpp"
#include "proto/listed_fields.hpp"
#include "proto/schema_page.hpp"

// Compares proto/SCHEMA.md with the bytes: the examples have all fields set, so they have all
// keys, and a message without one of them shows how a reader handles that.

namespace hpsearch::test {
namespace {

using proto::Bytes;
using Members = std::vector<std::pair<std::string, Bytes>>;
/// Whether the whole message is still read with this map in it.
using StillRead = std::function<bool(const Bytes&)>;

/// The heading that a type like "list of [held attempt](#held-attempt)" links to, or "".
std::string heading_in(const std::string& type) {
  const auto open = type.find('[');
  return open == std::string::npos ? "" : type.substr(open + 1, type.find(']') - open - 1);
}

Bytes list_of(const std::vector<Bytes>& items) {
  Bytes list = bytes_of(std::string(1, static_cast<char>(0x90 + items.size())));
  for (const Bytes& item : items) {
    list.insert(list.end(), item.begin(), item.end());
  }
  return list;
}

/// The tables that describe this map; for a report also the table of its kind.
std::vector<SchemaField> fields_for(const std::string& heading, const Members& members) {
  std::vector<SchemaField> fields = schema_fields(heading);
  if (heading == "report") {
    const auto type =
        std::find_if(members.begin(), members.end(), [](const auto& m) { return m.first == "type"; });
    const std::string word(reinterpret_cast<const char*>(type->second.data()) + 1, type->second.size() - 1);
    const std::vector<SchemaField> more = schema_fields("report " + word);
    fields.insert(fields.end(), more.begin(), more.end());
  }
  return fields;
}

void expect_described(const std::string& where, const std::string& heading, const Bytes& map,
                      const StillRead& still_read) {
  const Members members = members_of(map);
  const std::vector<SchemaField> fields = fields_for(heading, members);
  EXPECT_EQ(fields.size(), members.size()) << where;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::string& key = members[i].first;
    const auto field =
        std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.name == key; });
    ASSERT_NE(field, fields.end()) << where << "." << key << " is not described";

    Members without = members;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(still_read(map_of(without)), field->when_missing != "refused") << where << " without " << key;

    const std::string below = heading_in(field->type);
    if (below.empty()) {
      continue;
    }
    const auto with = [&](const Bytes& value) {
      Members changed = members;
      changed[i].second = value;
      return map_of(changed);
    };
    if (!is_list(members[i].second)) {
      expect_described(where + "." + key, below, members[i].second,
                       [&](const Bytes& value) { return still_read(with(value)); });
      continue;
    }
    const std::vector<Bytes> items = items_of(members[i].second);
    for (std::size_t n = 0; n < items.size(); ++n) {
      expect_described(where + "." + key, below, items[n], [&](const Bytes& value) {
        std::vector<Bytes> changed = items;
        changed[n] = value;
        return still_read(with(list_of(changed)));
      });
    }
  }
}

template <class Decode>
void expect_message_described(const std::string& type, const Bytes& bytes, Decode decode) {
  const Apart apart = take_apart(bytes);
  ASSERT_TRUE(schema_has(type)) << type << " is not described";
  expect_described(type, type, map_of(apart.body), [&](const Bytes& body) {
    Apart changed = apart;
    changed.body = members_of(body);
    return decode(put_together(changed)).has_value();
  });
}

TEST(Schema, DescribesMessagesOfWorkers) {
  for (const auto& example : examples_from_worker()) {
    if (!example.whole) {
      continue;
    }
    expect_message_described(name_of(example.value), encode(example_envelope(), example.value),
                             [](const Bytes& bytes) { return proto::decode_from_worker(bytes); });
  }
}

TEST(Schema, DescribesMessagesOfTheDaemon) {
  for (const auto& example : examples_from_daemon()) {
    if (!example.whole) {
      continue;
    }
    expect_message_described(name_of(example.value), encode(example_envelope(), example.value),
                             [](const Bytes& bytes) { return proto::decode_from_daemon(bytes); });
  }
}

/// Sections of events that the page lacks are written with HPSEARCH_BLESS=1.
template <class Kind>
void expect_listed() {
  const std::vector<SchemaField> fields = listed_fields<Kind>();
  if (!schema_has(Kind::type) && std::getenv("HPSEARCH_BLESS") != nullptr) {
    write_schema_of_event(Kind::type, fields);
  }
  ASSERT_TRUE(schema_has(Kind::type))
      << Kind::type << " is not described; HPSEARCH_BLESS=1 writes its section";
  const std::vector<SchemaField> rows = schema_fields(Kind::type);
  ASSERT_EQ(rows.size(), fields.size()) << Kind::type;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string where = std::string(Kind::type) + "." + fields[i].name;
    EXPECT_EQ(rows[i].name, fields[i].name) << where;
    EXPECT_EQ(rows[i].type, fields[i].type) << where;
    EXPECT_EQ(rows[i].when_missing, fields[i].when_missing) << where;
  }
}

TEST(Schema, ListsTheFieldsOfEvents) {
  for_each_kind_of_event([]<class Kind>(const Kind& /*empty*/) { expect_listed<Kind>(); });
}

TEST(Schema, DescribesStoredEvents) {
  for (const auto& example : example_events()) {
    if (!example.whole) {
      continue;
    }
    expect_message_described(proto::type_of(example.value), proto::encode_event(example.value),
                             [](const Bytes& bytes) { return proto::decode_event(bytes); });
  }
}

}  // namespace
}  // namespace hpsearch::test
