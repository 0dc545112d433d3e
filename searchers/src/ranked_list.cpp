#include "hpsearch/searchers/ranked_list.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "hpsearch/engine/base/check.hpp"

namespace hpsearch::searchers {

namespace {

constexpr std::size_t most_in_block = 512;

std::ptrdiff_t offset(std::size_t n) noexcept {
  return static_cast<std::ptrdiff_t>(n);
}

}  // namespace

std::size_t RankedList::block_for(Place place) const noexcept {
  const auto behind = std::upper_bound(firsts_.begin(), firsts_.end(), place);
  return behind == firsts_.begin() ? 0 : static_cast<std::size_t>(behind - firsts_.begin()) - 1;
}

std::uint64_t RankedList::before_block(std::size_t block) const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = block; i > 0; i &= i - 1) {
    sum += counts_[i - 1];
  }
  return sum;
}

void RankedList::add_to_count(std::size_t block, std::uint64_t difference) noexcept {
  for (std::size_t i = block + 1; i <= counts_.size(); i += i & (~i + 1)) {
    counts_[i - 1] += difference;
  }
}

void RankedList::recount() {
  counts_.assign(blocks_.size(), 0);
  for (std::size_t block = 0; block < blocks_.size(); ++block) {
    counts_[block] += blocks_[block].size();
    const std::size_t parent = block + ((block + 1) & (~block));
    if (parent < counts_.size()) {
      counts_[parent] += counts_[block];
    }
  }
}

void RankedList::insert(Place place) {
  ++size_;
  if (blocks_.empty()) {
    blocks_.push_back({place});
    firsts_.push_back(place);
    recount();
    return;
  }
  std::size_t index = block_for(place);
  if (blocks_[index].size() == most_in_block) {
    const bool at_the_very_end = index + 1 == blocks_.size() && blocks_[index].back() < place;
    if (at_the_very_end) {  // Equal scores arrive in order: leave full blocks behind, not half-full ones.
      blocks_.push_back({place});
      firsts_.push_back(place);
      recount();
      return;
    }
    split(index);
    if (firsts_[index + 1] < place) {
      ++index;
    }
  }
  Block& block = blocks_[index];
  block.insert(std::lower_bound(block.begin(), block.end(), place), place);
  firsts_[index] = block.front();
  add_to_count(index, 1);
}

void RankedList::split(std::size_t index) {
  Block& block = blocks_[index];
  const auto middle = block.begin() + offset(block.size() / 2);
  Block upper(middle, block.end());
  block.erase(middle, block.end());
  firsts_.insert(firsts_.begin() + offset(index + 1), upper.front());
  blocks_.insert(blocks_.begin() + offset(index + 1), std::move(upper));
  recount();
}

void RankedList::erase(Place place) {
  HPSEARCH_CHECK(!blocks_.empty(), "only what is in the list is taken out of it");
  const std::size_t index = block_for(place);
  Block& block = blocks_[index];
  const auto found = std::lower_bound(block.begin(), block.end(), place);
  HPSEARCH_CHECK(found != block.end() && *found == place, "only what is in the list is taken out of it");
  block.erase(found);
  --size_;
  if (block.empty()) {
    blocks_.erase(blocks_.begin() + offset(index));
    firsts_.erase(firsts_.begin() + offset(index));
    recount();
    return;
  }
  firsts_[index] = block.front();
  add_to_count(index, ~std::uint64_t{0});  // minus one
}

std::uint64_t RankedList::rank_of(Place place) const noexcept {
  if (blocks_.empty()) {
    return 0;
  }
  const std::size_t index = block_for(place);
  const Block& block = blocks_[index];
  const auto found = std::lower_bound(block.begin(), block.end(), place);
  return before_block(index) + static_cast<std::uint64_t>(found - block.begin());
}

Place RankedList::nth(std::uint64_t rank) const noexcept {
  HPSEARCH_CHECK(rank < size_, "a rank is below the size");
  std::size_t index = 0;
  for (std::size_t step = std::bit_floor(counts_.size()); step > 0; step /= 2) {
    if (index + step <= counts_.size() && counts_[index + step - 1] <= rank) {
      index += step;
      rank -= counts_[index - 1];
    }
  }
  return blocks_[index][rank];
}

}  // namespace hpsearch::searchers
