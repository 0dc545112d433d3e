#include "hpsearch/searchers/ranked_list.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::searchers {

template <class Count>
void RankedList::Counts::rebuild(std::size_t blocks, Count count) {
  sums_.assign(blocks + 1, 0);
  for (std::size_t block = 1; block < sums_.size(); ++block) {
    sums_[block] += count(block - 1);
    if (const std::size_t next = block + (block & -block); next < sums_.size()) {
      sums_[next] += sums_[block];
    }
  }
}

void RankedList::Counts::add(std::size_t block, std::int64_t more) noexcept {
  for (std::size_t i = block + 1; i < sums_.size(); i += i & -i) {
    sums_[i] += static_cast<std::uint64_t>(more);
  }
}

std::uint64_t RankedList::Counts::before(std::size_t block) const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = block; i > 0; i -= i & -i) {
    sum += sums_[i];
  }
  return sum;
}

std::size_t RankedList::Counts::find(std::uint64_t& rank) const noexcept {
  std::size_t block = 0;
  for (std::size_t step = std::bit_floor(sums_.size() - 1); step > 0; step /= 2) {
    if (block + step < sums_.size() && sums_[block + step] <= rank) {
      block += step;
      rank -= sums_[block];
    }
  }
  return block;
}

std::size_t RankedList::block_of(Place place) const noexcept {
  const auto after = std::upper_bound(firsts_.begin() + 1, firsts_.end(), place);
  return static_cast<std::size_t>(after - firsts_.begin()) - 1;
}

std::size_t RankedList::position_in(const Block& block, Place place) noexcept {
  const auto at = std::lower_bound(block.entries.begin(), block.entries.end(), place,
                                   [](const Entry& entry, Place than) { return entry.place() < than; });
  return static_cast<std::size_t>(at - block.entries.begin());
}

void RankedList::count_anew() {
  sizes_.rebuild(blocks_.size(), [this](std::size_t block) { return blocks_[block].entries.size(); });
  marks_.rebuild(blocks_.size(), [this](std::size_t block) { return blocks_[block].marked; });
}

void RankedList::split(std::size_t index) {
  Block upper;
  upper.entries.reserve(width);
  Block& lower = blocks_[index];
  upper.entries.assign(lower.entries.begin() + width / 2, lower.entries.end());
  lower.entries.resize(width / 2);
  upper.marked = static_cast<std::uint64_t>(std::count_if(upper.entries.begin(), upper.entries.end(),
                                                          [](const Entry& entry) { return entry.marked; }));
  lower.marked -= upper.marked;
  const auto behind = static_cast<std::ptrdiff_t>(index) + 1;
  firsts_.insert(firsts_.begin() + behind, upper.entries.front().place());
  blocks_.insert(blocks_.begin() + behind, std::move(upper));
  count_anew();
}

std::uint64_t RankedList::insert(Place place, bool marked) {
  if (blocks_.empty()) {
    blocks_.emplace_back().entries.reserve(width);
    firsts_.push_back(place);
    count_anew();
  }
  std::size_t index = block_of(place);
  if (blocks_[index].entries.size() == width) {
    split(index);
    index = block_of(place);
  }
  Block& block = blocks_[index];
  const std::size_t position = position_in(block, place);
  block.entries.insert(block.entries.begin() + static_cast<std::ptrdiff_t>(position),
                       Entry{place.score, place.tie, marked});
  sizes_.add(index, 1);
  ++size_;
  if (marked) {
    marks_.add(index, 1);
    ++block.marked;
    ++marked_;
  }
  return sizes_.before(index) + position;
}

void RankedList::erase(Place place) {
  unmark(place);
  const std::size_t index = block_of(place);
  Block& block = blocks_[index];
  block.entries.erase(block.entries.begin() + static_cast<std::ptrdiff_t>(position_in(block, place)));
  sizes_.add(index, -1);
  --size_;
  if (block.entries.empty()) {
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(index));
    firsts_.erase(firsts_.begin() + static_cast<std::ptrdiff_t>(index));
    count_anew();
  }
}

void RankedList::unmark(Place place) {
  const std::size_t index = block_of(place);
  Block& block = blocks_[index];
  const std::size_t position = position_in(block, place);
  HPSEARCH_CHECK(position < block.entries.size() && block.entries[position].place() == place,
                 "what is taken out of a list, or loses its mark, is in it");
  if (std::exchange(block.entries[position].marked, false)) {
    marks_.add(index, -1);
    --block.marked;
    --marked_;
  }
}

void RankedList::unmark_from(std::uint64_t rank) {
  if (rank >= size_ || marked_ == 0) {
    return;
  }
  std::uint64_t position = rank;
  for (std::size_t index = sizes_.find(position); index < blocks_.size(); ++index, position = 0) {
    Block& block = blocks_[index];
    for (; position < block.entries.size() && block.marked > 0; ++position) {
      if (std::exchange(block.entries[position].marked, false)) {
        --block.marked;
        --marked_;
      }
    }
  }
  count_anew();
}

std::uint64_t RankedList::rank_of(Place place) const noexcept {
  if (size_ == 0) {
    return 0;
  }
  const std::size_t index = block_of(place);
  return sizes_.before(index) + position_in(blocks_[index], place);
}

Place RankedList::nth(std::uint64_t rank) const noexcept {
  const std::size_t index = sizes_.find(rank);
  return blocks_[index].entries[rank].place();
}

std::vector<Place> RankedList::places() const {
  std::vector<Place> all;
  all.reserve(size_);
  for (const Block& block : blocks_) {
    for (const Entry& entry : block.entries) {
      all.push_back(entry.place());
    }
  }
  return all;
}

std::optional<RankedList::Marked> RankedList::first_marked() const noexcept {
  if (marked_ == 0) {
    return std::nullopt;
  }
  std::uint64_t rank = 0;
  const std::size_t index = marks_.find(rank);
  const std::vector<Entry>& entries = blocks_[index].entries;
  const auto first =
      std::find_if(entries.begin(), entries.end(), [](const Entry& entry) { return entry.marked; });
  return Marked{first->place(), sizes_.before(index) + static_cast<std::uint64_t>(first - entries.begin())};
}

}  // namespace hpsearch::searchers
