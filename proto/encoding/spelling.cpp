#include "hpsearch/proto/encoding/spelling.hpp"

#include <limits>
#include <string_view>
#include <system_error>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::proto {
namespace {

using Kind = MsgpackItem::Kind;

template <class Number>
bool read_signed(MsgpackItem item, Number& out) {
  const bool natural = item.kind() == Kind::natural &&
                       item.natural() <= static_cast<std::uint64_t>(std::numeric_limits<Number>::max());
  const bool negative =
      item.kind() == Kind::negative && item.negative() >= std::numeric_limits<Number>::min();
  if (natural) {
    out = static_cast<Number>(item.natural());
  } else if (negative) {
    out = static_cast<Number>(item.negative());
  }
  return natural || negative;
}

/// What count_value() makes of a number that no integer of a Value holds.
bool read_long_count(std::string_view digits, std::uint64_t& out) {
  const auto number = engine::number_in<std::uint64_t>(digits);
  if (!number || digits.front() == '0' ||
      *number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return false;
  }
  out = *number;
  return true;
}

bool comes_before(const engine::Metrics::value_type& a, const engine::Metrics::value_type& b) {
  return a.first < b.first;
}

/// Made from JSON, {"class":"nan"} and its like stand where a real is expected.
bool read_class(MsgpackItem item, double& out) {
  if (item.size() != 1 || item.first().kind() != Kind::text || item.first().text() != "class" ||
      item.first().next().kind() != Kind::text) {
    return false;
  }
  const std::string_view name = item.first().next().text();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  out = name == "nan" ? std::numeric_limits<double>::quiet_NaN() : name == "+inf" ? infinity : -infinity;
  return name == "nan" || name == "+inf" || name == "-inf";
}

}  // namespace

engine::Metrics tidy(engine::Metrics metrics) {
  std::stable_sort(metrics.begin(), metrics.end(), comes_before);
  engine::Metrics last_of_each;
  for (auto& metric : metrics) {
    if (!last_of_each.empty() && last_of_each.back().first == metric.first) {
      last_of_each.back() = std::move(metric);
    } else {
      last_of_each.push_back(std::move(metric));
    }
  }
  return last_of_each;
}

bool is_tidy(const engine::Metrics& metrics) noexcept {
  const auto not_ascending = [](const auto& a, const auto& b) { return !comes_before(a, b); };
  return std::adjacent_find(metrics.begin(), metrics.end(), not_ascending) == metrics.end();
}

std::optional<MsgpackItem> find_key(MsgpackItem map, std::string_view key, Trouble& trouble) {
  std::optional<MsgpackItem> found;
  const bool once = each_member(map, [&](std::string_view name, MsgpackItem item) {
    if (name == key) {
      if (found) {
        return false;
      }
      found = item;
    }
    return true;
  });
  if (!once) {
    trouble.say("stands twice");
    trouble.below(key);
    return std::nullopt;
  }
  return found;
}

engine::Error corrupt_field(std::string_view type, const Trouble& trouble) {
  constexpr std::size_t longest = 200;  // A key from outside may be long; a message is for people.
  const std::string where =
      trouble.where.size() <= longest ? trouble.where : to_utf8(trouble.where.substr(0, longest));
  return {engine::Errc::corrupt,
          std::string(type) + ": " + (where.empty() ? "it" : where) + " " + trouble.what};
}

bool expect(MsgpackItem item, Kind kind, const char* wanted, Trouble& trouble) {
  return item.kind() == kind || trouble.say(std::string("is ") + item.kind_name() + ", not " + wanted);
}

bool read(MsgpackItem item, bool& out, Trouble& trouble) {
  if (!expect(item, Kind::boolean, "a boolean", trouble)) {
    return false;
  }
  out = item.boolean();
  return true;
}

bool read(MsgpackItem item, std::uint64_t& out, Trouble& trouble) {
  if (item.kind() == Kind::negative) {
    return trouble.say("is " + std::to_string(item.negative()) + ", not an integer of at least 0");
  }
  if (item.kind() == Kind::text && read_long_count(item.text(), out)) {
    return true;
  }
  if (!expect(item, Kind::natural, "an integer of at least 0", trouble)) {
    return false;
  }
  out = item.natural();
  return true;
}

bool read(MsgpackItem item, std::uint32_t& out, Trouble& trouble) {
  std::uint64_t wide = 0;
  if (!read(item, wide, trouble)) {
    return false;
  }
  if (wide > std::numeric_limits<std::uint32_t>::max()) {
    return trouble.say("is " + std::to_string(wide) + ", not an integer of 32 bits");
  }
  out = static_cast<std::uint32_t>(wide);
  return true;
}

bool read(MsgpackItem item, std::int64_t& out, Trouble& trouble) {
  return read_signed(item, out) || trouble.say("is not an integer of 64 bits with a sign");
}

bool read(MsgpackItem item, int& out, Trouble& trouble) {
  return read_signed(item, out) || trouble.say("is not an integer of 32 bits");
}

bool read(MsgpackItem item, double& out, Trouble& trouble) {
  switch (item.kind()) {
    case Kind::map:
      return read_class(item, out) || expect(item, Kind::real, "a number", trouble);
    case Kind::real:
      out = item.real();
      return true;
    case Kind::natural:  // Other people's encoders write 64.0 as 64.
      out = static_cast<double>(item.natural());
      return true;
    case Kind::negative:
      out = static_cast<double>(item.negative());
      return true;
    default:
      return expect(item, Kind::real, "a number", trouble);
  }
}

bool read(MsgpackItem item, std::string& out, Trouble& trouble) {
  if (!expect(item, Kind::text, "a text", trouble)) {
    return false;
  }
  out = item.text();
  return true;
}

bool read(MsgpackItem item, engine::Units& out, Trouble& trouble) {
  std::uint64_t units = 0;
  if (!read(item, units, trouble)) {
    return false;
  }
  out = engine::Units{units};
  return true;
}

bool read(MsgpackItem item, engine::Duration& out, Trouble& trouble) {
  constexpr std::uint64_t longest_ms = std::uint64_t{1} << 52U;  // In microseconds it still fits.
  std::uint64_t millis = 0;
  if (!read(item, millis, trouble)) {
    return false;
  }
  if (millis > longest_ms) {
    return trouble.say("is " + std::to_string(millis) + " ms; at most " + std::to_string(longest_ms) +
                       " are possible");
  }
  out = engine::Duration::millis(static_cast<std::int64_t>(millis));
  return true;
}

bool read(MsgpackItem item, engine::Metrics& out, Trouble& trouble) {
  if (!expect(item, Kind::map, "a map", trouble)) {
    return false;
  }
  out.clear();
  out.reserve(item.size());
  const bool numbers = each_member(item, [&](std::string_view name, MsgpackItem value) {
    out.emplace_back(name, 0.0);
    return read(value, out.back().second, trouble) || trouble.below(name);
  });
  if (!numbers) {
    return false;
  }
  if (!is_tidy(out)) {  // A stranger's order; ours is sorted.
    std::sort(out.begin(), out.end(), comes_before);
    if (!is_tidy(out)) {
      return trouble.say("has a name that stands twice");
    }
  }
  return true;
}

bool read_bytes(MsgpackItem item, std::string& out, Trouble& trouble) {
  if (!expect(item, Kind::bytes, "bytes", trouble)) {
    return false;
  }
  out = item.bytes();
  return true;
}

bool read_bytes(MsgpackItem item, std::vector<std::string>& out, Trouble& trouble) {
  if (!expect(item, Kind::list, "a list", trouble)) {
    return false;
  }
  const std::uint32_t size = item.size();
  out.clear();
  out.reserve(size);  // The tree holds that many items already.
  for (std::uint32_t i = 0; i < size; ++i) {
    item = i == 0 ? item.first() : item.next();
    if (!read_bytes(item, out.emplace_back(), trouble)) {
      return trouble.below("[" + std::to_string(i) + "]");
    }
  }
  return true;
}

bool read_bytes(MsgpackItem item, std::map<std::string, std::string>& out, Trouble& trouble) {
  std::vector<std::string> pairs;
  if (!read_bytes(item, pairs, trouble)) {
    return false;
  }
  if (pairs.size() % 2 != 0) {
    return trouble.say("ends with a key without a value");
  }
  out.clear();
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    if (!out.emplace(std::move(pairs[i]), std::move(pairs[i + 1])).second) {
      return trouble.say("has a key that stands twice");
    }
  }
  return true;
}

bool read(MsgpackItem item, engine::Value::Map& out, Trouble& trouble) {
  engine::Value value;
  if (!expect(item, Kind::map, "a map", trouble) || !read(item, value, trouble)) {
    return false;
  }
  out = std::move(*value.as_map());
  return true;
}

bool read(MsgpackItem item, engine::Cardinality& out, Trouble& trouble) {
  if (item.kind() != Kind::text) {
    std::uint64_t number = 0;
    if (!read(item, number, trouble)) {
      return false;
    }
    out = number;
    return true;
  }
  out = 0;
  for (const char digit : item.text()) {
    if (digit < '0' || digit > '9' || out > ~engine::Cardinality{0} / 10) {
      return trouble.say("is no count");
    }
    out = 10 * out + static_cast<unsigned>(digit - '0');
  }
  return true;
}

bool read(MsgpackItem item, engine::Value& out, Trouble& trouble) {
  switch (item.kind()) {
    case Kind::null:
      out = {};
      return true;
    case Kind::boolean:
      out = item.boolean();
      return true;
    case Kind::natural:
      if (item.natural() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        return trouble.say("is " + std::to_string(item.natural()) +
                           ", not an integer of 64 bits with a sign");
      }
      out = static_cast<std::int64_t>(item.natural());
      return true;
    case Kind::negative:
      out = item.negative();
      return true;
    case Kind::real:
      out = item.real();
      return true;
    case Kind::text:
      out = item.text();
      return true;
    case Kind::bytes:
      return trouble.say("is bytes, which no value is");
    case Kind::list: {
      engine::Value::List items;
      if (!read(item, items, trouble)) {
        return false;
      }
      out = std::move(items);
      return true;
    }
    case Kind::map: {
      engine::Value::Map members;
      std::string_view last;
      const bool good = each_member(item, [&](std::string_view name, MsgpackItem value) {
        if (!members.empty() &&
            name <= last) {  // One spelling for equal values; also finds keys that stand twice.
          trouble.say("is out of order");
          return trouble.below(name);
        }
        last = name;
        return read(value, members[name], trouble) || trouble.below(name);
      });
      if (!good) {
        return false;
      }
      out = std::move(members);
      return true;
    }
  }
  return false;
}

}  // namespace hpsearch::proto
