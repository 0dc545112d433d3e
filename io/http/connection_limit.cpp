#include "http/connection_limit.hpp"

namespace hpsearch::net {

bool ConnectionLimit::join(Member& member, const std::string& name, std::size_t most_of_one) {
  for (auto found = of_.find(name); found != of_.end() && found->second.size() >= most_of_one;
       found = of_.find(name)) {
    if (!clear_one(found->second, Standing::streaming)) {
      return false;
    }
  }
  while (all_.size() >= most_) {
    if (!clear_one(all_, Standing::waiting)) {
      return false;
    }
  }
  member.counts_for_ = name;
  member.standing_ = Standing::stranger;
  member.since_ = ++moves_;
  member.is_in_ = true;
  insert(member);
  return true;
}

void ConnectionLimit::leave(Member& member) {
  if (!member.is_in_) {
    return;
  }
  member.is_in_ = false;
  all_.erase(place_of(member));
  const auto found = of_.find(member.counts_for_);
  found->second.erase(place_of(member));
  if (found->second.empty()) {
    of_.erase(found);
  }
}

void ConnectionLimit::stand(Member& member, Standing standing) {
  if (!member.is_in_) {
    return;
  }
  leave(member);
  member.standing_ = standing;
  member.since_ = ++moves_;
  member.is_in_ = true;
  insert(member);
}

void ConnectionLimit::count_for(Member& member, const std::string& name, std::size_t most_of_one) {
  if (!member.is_in_ || member.counts_for_ == name) {
    return;
  }
  leave(member);
  if (const auto found = of_.find(name); found != of_.end() && found->second.size() >= most_of_one) {
    static_cast<void>(clear_one(found->second, Standing::waiting));
  }
  member.counts_for_ = name;
  member.is_in_ = true;
  insert(member);
}

void ConnectionLimit::insert(Member& member) {
  all_.insert(place_of(member));
  of_[member.counts_for_].insert(place_of(member));
}

bool ConnectionLimit::clear_one(const Places& places, Standing highest) {
  if (places.empty() || std::get<Standing>(*places.begin()) > highest) {
    return false;
  }
  Member& first = *std::get<Member*>(*places.begin());
  leave(first);
  first.give_way();
  return true;
}

}  // namespace hpsearch::net
