#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace hpsearch::net {

/// The connections of a server, and which is closed when there are too many.
///
/// A connection counts for its address until a request on it was let in under a name (HttpEntry::name); then
/// it counts for that name. So whoever shares an address with others, as all do behind a proxy or on one
/// machine, takes none of their room.
///
/// Pure. Cost: O(log connections).
class ConnectionLimit {
 public:
  /// Those before give way first.
  enum class Standing : std::uint8_t {
    stranger,   ///< Has sent no request that was let in.
    waiting,    ///< Between two requests.
    streaming,  ///< Reads events as they happen, and can come back.
    answering,  ///< Is being answered, and never gives way.
  };

  class Member {
   public:
    Member() = default;
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;
    virtual ~Member() = default;
    /// It has left the crowd, and is to close.
    virtual void give_way() = 0;

   private:
    friend class ConnectionLimit;
    std::string counts_for_{};
    Standing standing_ = Standing::stranger;
    std::uint64_t since_ = 0;
    bool is_in_ = false;
  };

  explicit ConnectionLimit(std::size_t most) : most_(most) {}

  /// Lets one more in that counts for `name`, which may have that many. False: all those that could give way
  /// to it are being answered.
  [[nodiscard]] bool join(Member& member, const std::string& name, std::size_t most_of_one);
  void leave(Member& member);
  /// From now on. Without effect on one that has left.
  void stand(Member& member, Standing standing);
  /// The same; the oldest other one that waits gives way if `name` has more than that many.
  void count_for(Member& member, const std::string& name, std::size_t most_of_one);

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }

 private:
  using Place = std::tuple<Standing, std::uint64_t, Member*>;
  using Places = std::set<Place>;
  [[nodiscard]] static Place place_of(Member& member) { return {member.standing_, member.since_, &member}; }
  void insert(Member& member);
  /// The first of these gives way, if it stands no higher. False: it doesn't.
  bool clear_one(const Places& places, Standing highest);

  std::size_t most_;
  std::uint64_t moves_ = 0;
  Places all_;
  std::map<std::string, Places> of_;  ///< By whom they count for; none is empty.
};

}  // namespace hpsearch::net
