#include "daemon/audit/audit_entry.hpp"

#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/io/files/sha256.hpp"
#include "hpsearch/proto/encoding/json.hpp"

namespace hpsearch::daemon {

using engine::Done;
using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Status;
using engine::Value;

namespace {

std::string text_in(const Value& map, std::string_view key) {
  const Value* value = map.as_map()->find(key);
  return value == nullptr || value->as_text() == nullptr ? "" : *value->as_text();
}

}  // namespace

AuditEntry cut_to_size(AuditEntry entry) {
  for (std::string* text : {&entry.from, &entry.name, &entry.resource, &entry.method, &entry.path}) {
    if (text->size() > most_audit_text) {
      text->resize(most_audit_text);
      while (!text->empty() && (static_cast<unsigned char>(text->back()) & 0x80U) != 0) {
        text->pop_back();  // Don't keep a part of a UTF-8 character.
      }
      *text += "...";
    }
  }
  return entry;
}

std::string audit_line(const AuditEntry& entry, AuditLink& before) {
  const std::uint64_t number = before.number + 1;
  Value::Map fields{{"number", static_cast<std::int64_t>(number)},
                    {"time", static_cast<double>(entry.at) / 1e6},
                    {"request", entry.request},
                    {"channel", entry.channel},
                    {"from", entry.from},
                    {"name", entry.name},
                    {"token", entry.token},
                    {"role", entry.role},
                    {"workspace", entry.workspace},
                    {"resource", entry.resource},
                    {"method", entry.method},
                    {"path", entry.path},
                    {"status", static_cast<std::int64_t>(entry.status)},
                    {"previous", before.hash}};
  if (entry.count > 0) {
    fields["count"] = static_cast<std::int64_t>(entry.count);
  }
  std::string line = engine::compact_json(fields);
  before = {number, files::sha256_of(line)};
  return line;
}

Result<Value> read_audit_line(std::string_view line) {
  Result<Value> value = proto::parse_json(std::string(line));
  if (!value || value->as_map() == nullptr || value->as_map()->find("number") == nullptr ||
      value->as_map()->find("number")->as_integer() == nullptr) {
    return Error{Errc::corrupt, "is not a line of an audit log"};
  }
  return value;
}

Status follow_audit_line(std::string_view line, AuditLink& before) {
  const Result<Value> value = read_audit_line(line);
  if (!value) {
    return value.error();
  }
  const auto number = static_cast<std::uint64_t>(*value->as_map()->find("number")->as_integer());
  if (!before.hash.empty() && number != before.number + 1) {
    return Error{Errc::corrupt, "has number " + std::to_string(number) + " and follows line " +
                                    std::to_string(before.number) + ": lines are missing or were moved"};
  }
  if (!before.hash.empty() && text_in(*value, "previous") != before.hash) {
    return Error{Errc::corrupt, "does not have the hash of the line before it: that line was changed"};
  }
  before = {number, files::sha256_of(line)};
  return Done{};
}

}  // namespace hpsearch::daemon
