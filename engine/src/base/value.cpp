#include "hpsearch/engine/base/value.hpp"

#include <algorithm>

namespace hpsearch::engine {

namespace {

bool key_before(const Members::Member& member, std::string_view key) noexcept {
  return member.first < key;
}

}  // namespace

Members::Members(std::initializer_list<Member> members) {
  members_.reserve(members.size());
  for (const Member& member : members) {
    (*this)[member.first] = member.second;
  }
}

const Value* Members::find(std::string_view key) const noexcept {
  const auto place = std::lower_bound(members_.begin(), members_.end(), key, key_before);
  return place != members_.end() && place->first == key ? &place->second : nullptr;
}

Value* Members::find(std::string_view key) noexcept {
  const auto place = std::lower_bound(members_.begin(), members_.end(), key, key_before);
  return place != members_.end() && place->first == key ? &place->second : nullptr;
}

Value& Members::operator[](std::string_view key) {
  if (members_.empty() || members_.back().first < key) {  // Most maps are filled in order.
    if (members_.capacity() == 0) {
      constexpr std::size_t few = 4;
      members_.reserve(few);
    }
    return members_.emplace_back(key, Value()).second;
  }
  auto place = std::lower_bound(members_.begin(), members_.end(), key, key_before);
  if (place == members_.end() || place->first != key) {
    place = members_.emplace(place, std::string(key), Value());
  }
  return place->second;
}

void Members::erase(std::string_view key) {
  const auto place = std::lower_bound(members_.begin(), members_.end(), key, key_before);
  if (place != members_.end() && place->first == key) {
    members_.erase(place);
  }
}

std::size_t Members::size() const noexcept {
  return members_.size();
}
bool Members::empty() const noexcept {
  return members_.empty();
}
std::vector<Members::Member>::const_iterator Members::begin() const noexcept {
  return members_.begin();
}
std::vector<Members::Member>::const_iterator Members::end() const noexcept {
  return members_.end();
}

bool operator==(const Members& a, const Members& b) {
  return a.members_ == b.members_;
}

double Value::number_or(double otherwise) const noexcept {
  if (const auto* integer = as_integer()) {
    return static_cast<double>(*integer);
  }
  const auto* real = as_real();
  return real != nullptr ? *real : otherwise;
}

std::string_view Value::kind_name() const noexcept {
  constexpr std::string_view names[] = {"null", "boolean", "integer", "number", "string", "list", "map"};
  return names[held_.index()];
}

const Value* Value::at_path(std::string_view dotted) const noexcept {
  const Value* here = this;
  while (true) {
    const Map* map = here->as_map();
    if (map == nullptr) {
      return nullptr;
    }
    const std::size_t dot = dotted.find('.');
    here = map->find(dotted.substr(0, dot));
    if (here == nullptr || dot == std::string_view::npos) {
      return here;
    }
    dotted.remove_prefix(dot + 1);
  }
}

const Value* Value::at_keys(std::span<const std::string> keys) const noexcept {
  const Value* here = this;
  for (const std::string& key : keys) {
    const Map* map = here->as_map();
    here = map != nullptr ? map->find(key) : nullptr;
    if (here == nullptr) {
      return nullptr;
    }
  }
  return here;
}

bool operator==(const Value& a, const Value& b) {
  return a.held_ == b.held_;
}

}  // namespace hpsearch::engine
