#include "daemon/store/read_ahead.hpp"

#include <utility>

namespace hpsearch::daemon {
namespace {

using engine::Error;
using engine::Status;

// Enough that neither side waits for the other's next lock, and few enough to stay in the caches: 1 MiB in
// all.
constexpr std::size_t batches = 8;

}  // namespace

void RecordBatch::add(const EventGroup& group) {
  groups_.push_back({group.first, group.count, group.epoch, {}});
  sizes_.push_back(group.bytes.size());
  bytes_.insert(bytes_.end(), group.bytes.begin(), group.bytes.end());
  records_ += group.count;
}

void RecordBatch::decode(proto::EventDecoder& decoder, const std::string& log) {
  if (events_.size() < records_) {
    events_.resize(records_);
  }
  std::span<const std::byte> rest = bytes_;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    EventGroup group = groups_[i];
    group.bytes = rest.first(sizes_[i]);
    rest = rest.subspan(sizes_[i]);
    GroupReader reader(group);
    while (const std::optional<RecordView> record = reader.next()) {
      if (const Status read = decode_record(*record, decoder, events_[decoded_]); !read) {
        end_ = Error{read.error().code, log + ": " + read.error().message};
        return;
      }
      ++decoded_;
    }
  }
}

void RecordBatch::clear() noexcept {
  groups_.clear();
  sizes_.clear();
  bytes_.clear();
  records_ = 0;
  decoded_ = 0;
  end_.reset();
}

ReadAhead::ReadAhead(std::string log, Fill fill) : log_(std::move(log)), fill_(std::move(fill)) {
  for (std::size_t i = 0; i < batches; ++i) {
    free_.push_back(std::make_unique<Slot>());
  }
  reader_ = std::thread([this] {
    try {
      read();
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_all();
    }
  });
}

ReadAhead::~ReadAhead() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  reader_.join();
}

Status ReadAhead::hand_out(const EventStore::Visit& visit) {
  proto::EventDecoder decoder;
  for (;;) {
    RecordBatch& batch = front_decoded(decoder).batch;
    for (engine::Event& event : batch.events()) {
      if (Status visited = visit(std::move(event)); !visited) {
        return visited;
      }
    }
    if (batch.end()) {
      return *batch.end();
    }
    free_front();
  }
}

void ReadAhead::read() {
  proto::EventDecoder decoder;
  for (bool more = true; more;) {
    std::unique_lock lock(mutex_);
    while (free_.empty() && !stopping_) {
      if (Slot* slot = first_raw()) {
        decode(*slot, decoder, lock);
      } else {
        changed_.wait(lock);
      }
    }
    if (stopping_) {
      return;
    }
    std::unique_ptr<Slot> slot = std::move(free_.back());
    free_.pop_back();
    lock.unlock();
    slot->state = Slot::State::raw;
    slot->batch.clear();
    fill_(slot->batch);
    more = !slot->batch.end();
    lock.lock();
    filled_.push_back(std::move(slot));
    changed_.notify_all();
  }
}

/// Called with the lock, which is released while it decodes.
void ReadAhead::decode(Slot& slot, proto::EventDecoder& decoder, std::unique_lock<std::mutex>& lock) {
  slot.state = Slot::State::decoding;
  lock.unlock();
  slot.batch.decode(decoder, log_);
  lock.lock();
  slot.state = Slot::State::decoded;
  changed_.notify_all();
}

ReadAhead::Slot* ReadAhead::first_raw() noexcept {
  for (const auto& slot : filled_) {
    if (slot->state == Slot::State::raw) {
      return slot.get();
    }
  }
  return nullptr;
}

ReadAhead::Slot& ReadAhead::front_decoded(proto::EventDecoder& decoder) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (failure_ != nullptr) {
      std::rethrow_exception(failure_);
    }
    if (!filled_.empty() && filled_.front()->state == Slot::State::decoded) {
      return *filled_.front();
    }
    if (Slot* slot = first_raw()) {
      decode(*slot, decoder, lock);
    } else {
      changed_.wait(lock);
    }
  }
}

void ReadAhead::free_front() {
  const std::scoped_lock lock(mutex_);
  free_.push_back(std::move(filled_.front()));
  filled_.pop_front();
  changed_.notify_all();
}

}  // namespace hpsearch::daemon
