#include "hpsearch/workers/shell/slots/slot_keeper.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <set>
#include <utility>

#include "hpsearch/io/net/log.hpp"
#include "hpsearch/workers/shell/processes/process_table.hpp"

namespace hpsearch::workers {

using engine::AttemptKey;
using engine::Done;
using engine::Errc;
using engine::Error;
using engine::SlotIndex;
using engine::Status;
using namespace std::chrono_literals;

namespace {

// A change of the table often comes with others.
constexpr std::chrono::milliseconds look_after_change = 20ms;
constexpr std::chrono::seconds look_every = 1s;
constexpr std::chrono::milliseconds patience_with_others = 500ms;
// A driver returns memory some time after a program has ended.
constexpr std::chrono::seconds next_device_look = 2s;
constexpr std::uint64_t mebibyte = 1024UL * 1024;
constexpr std::size_t most_processes_named = 3;

std::vector<pid_t> with_ancestors(pid_t pid) {
  std::vector<pid_t> line;
  while (pid > 1 && line.size() < 64) {
    line.push_back(pid);
    const std::optional<ProcessInfo> info = process_info(pid);
    pid = info ? info->parent : 0;
  }
  return line;
}

}  // namespace

SlotKeeper::SlotKeeper(net::Loop& loop, SlotTable table, SlotSharing sharing, std::string uid,
                       std::vector<engine::SlotDevice> devices, std::string noun, DeviceReport seen)
    : loop_(loop),
      table_(std::move(table)),
      sharing_(std::move(sharing)),
      uid_(std::move(uid)),
      devices_(std::move(devices)),
      noun_(std::move(noun)),
      seen_(std::move(seen)),
      unseen_(sharing_.slots.size()),
      own_processes_(with_ancestors(::getpid())) {
}

/// What is left behind counts no more, but it shouldn't stay in the directory. Slots of programs that run on
/// are their shims'.
SlotKeeper::~SlotKeeper() {
  if (const auto turn = table_.turn(patience_with_others)) {
    table_.remove_ticket(uid_);
    for (std::size_t slot = 0; slot < sharing_.slots.size(); ++slot) {
      if (!is_busy(slot)) {
        table_.remove(claim_of(slot));
      }
    }
  }
}

/// The worker may have fewer slots now.
void SlotKeeper::adopt(const AttemptKey& key, const std::vector<SlotIndex>& slots) {
  std::copy_if(slots.begin(), slots.end(), std::back_inserter(attempts_[key]),
               [this](const SlotIndex slot) { return slot.number() < sharing_.slots.size(); });
}

std::optional<SlotsTaken> SlotKeeper::start(Handlers handlers) {
  for (std::size_t slot = 0; slot < sharing_.slots.size(); ++slot) {
    if (const auto turn = is_busy(slot) ? table_.turn(patience_with_others) : std::nullopt; turn) {
      complain(table_.put(claim_of(slot)));
    }
  }
  if (!sharing_.exact) {
    watch();
    update();
  }
  handlers_ = std::move(handlers);
  reported_ = taken_.number;
  return sharing_.exact ? std::nullopt : std::optional(taken_);
}

void SlotKeeper::watch() {
  changes_ = Descriptor(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  constexpr std::uint32_t what = IN_CREATE | IN_DELETE | IN_MODIFY | IN_CLOSE_WRITE;
  if (changes_ && ::inotify_add_watch(changes_.get(), table_.directory().c_str(), what) >= 0) {
    change_ = loop_.when_readable(changes_.get(), [this] {
      std::array<char, 4096> events;  // Filled by read().
      while (::read(changes_.get(), events.data(), events.size()) > 0) {
      }
      update_soon();
    });
  }
  every_ = loop_.every(look_every, [this] { update_soon(); });
}

void SlotKeeper::update_soon() {
  if (!soon_) {
    soon_ = loop_.after(look_after_change, [this] {
      soon_ = net::Watch();
      update();
    });
  }
}

/// Another process may have its turn: it is short, unless the process was stopped.
void SlotKeeper::update() {
  if (const auto turn = table_.turn()) {
    work(table_.read());
  } else {
    update_soon();
  }
  tell();
}

/// After the turn: those who hear of it may begin attempts.
void SlotKeeper::tell() {
  if (handlers_.on_taken && std::exchange(reported_, taken_.number) != taken_.number) {
    handlers_.on_taken(taken_);
  }
  if (handlers_.look && std::exchange(looks_, false)) {
    look_again_ = loop_.after(next_device_look, [this] {
      look_again_ = net::Watch();
      update_soon();
    });
    handlers_.look();
  }
}

void SlotKeeper::work(const SlotsOfMachine& machine) {
  SharingWorker worker{.uid = uid_, .slots = {}, .wanted = wanted_};
  std::set<std::string> of_others;
  for (const SlotClaim& claim : machine.claims) {
    if (claim.worker != uid_) {
      of_others.insert(claim.slot);
    }
  }
  bool is_left_out = false;
  for (std::size_t slot = 0; slot < sharing_.slots.size(); ++slot) {
    const bool is_of_others = of_others.contains(sharing_.slots[slot]);
    unseen_[slot] = unseen_[slot] || (is_of_others && !devices_.empty());
    const bool busy = is_busy(slot);
    worker.slots.push_back({sharing_.slots[slot], busy, busy || is_of_others ? "" : why_left_out(slot)});
    is_left_out = is_left_out || !worker.slots.back().left_out.empty();
  }
  const SharingStep step = share_slots(worker, machine);
  for (const SlotIndex slot : step.take) {
    complain(table_.put(claim_of(slot.number())));
  }
  report(step.taken);
  for (const SlotIndex slot : step.give) {
    if (taken_since_.at(slot) <= confirmed_) {
      table_.remove(claim_of(slot.number()));
    }
  }
  write_ticket(step.lacks, machine);
  looks_ = is_left_out && !look_again_;
}

void SlotKeeper::report(std::vector<UnusableSlot> taken) {
  const auto since = std::exchange(taken_since_, {});
  const bool changed = taken != taken_.taken;
  const std::uint64_t number = taken_.number + (changed ? 1 : 0);
  for (const UnusableSlot& slot : taken) {
    const auto known = since.find(slot.slot);
    taken_since_[slot.slot] = known == since.end() ? number : known->second;
  }
  if (!changed) {
    return;
  }
  for (const UnusableSlot& slot : taken) {
    if (!since.contains(slot.slot)) {
      net::log(devices_.empty() ? net::Level::debug : net::Level::info,
               "slot " + std::to_string(slot.slot.number()) + " is not used now: " + slot.why);
    }
  }
  taken_ = {number, std::move(taken)};
}

void SlotKeeper::write_ticket(std::uint64_t lacks, const SlotsOfMachine& machine) {
  const auto own = std::find_if(machine.tickets.begin(), machine.tickets.end(),
                                [this](const SlotTicket& ticket) { return ticket.worker == uid_; });
  if (wanted_ == 0) {
    table_.remove_ticket(uid_);
    return;
  }
  if (lacks == 0 && own == machine.tickets.end()) {
    return;  // Its daemon leases them soon. Until then it keeps a ticket that it has, and so its slots.
  }
  SlotTicket ticket{.worker = uid_,
                    .who = sharing_.who,
                    .number = own == machine.tickets.end() ? next_ticket(machine) : own->number,
                    .lacks = lacks};
  for (std::size_t slot = 0; slot < sharing_.slots.size(); ++slot) {
    if (is_busy(slot) || why_left_out(slot).empty() || unseen_[slot]) {
      ticket.slots.push_back(sharing_.slots[slot]);
    }
  }
  complain(table_.put(ticket));
}

Status SlotKeeper::begin(const AttemptKey& key, const std::vector<SlotIndex>& slots) {
  if (slots.empty()) {
    return Done{};
  }
  const auto turn = table_.turn(patience_with_others);
  if (!turn) {
    return Error{Errc::unavailable, "the slot table " + table_.directory().string() +
                                        " is locked by another process; end what is stopped (SIGSTOP)"};
  }
  if (!sharing_.exact) {
    for (const SlotClaim& claim : table_.read().claims) {
      const bool named = std::any_of(slots.begin(), slots.end(), [&](const SlotIndex slot) {
        return sharing_.slots[slot.number()] == claim.slot;
      });
      if (named && claim.worker != uid_) {
        return Error{Errc::unavailable, "its slot is in use by " + claim.who};
      }
    }
  }
  attempts_[key] = slots;
  wanted_ = 0;  // The daemon's next answer says what waits now.
  for (const SlotIndex slot : slots) {
    if (const Status done = table_.put(claim_of(slot.number())); !done) {
      attempts_.erase(key);
      return done;
    }
  }
  return Done{};
}

void SlotKeeper::end(const AttemptKey& key) {
  const auto ended = attempts_.extract(key);
  if (ended.empty() || ended.mapped().empty()) {
    return;
  }
  if (const auto turn = table_.turn(patience_with_others)) {
    for (const SlotIndex slot : ended.mapped()) {
      if (is_busy(slot.number())) {
        continue;  // Another attempt shares its device.
      }
      if (sharing_.exact) {
        table_.remove(claim_of(slot.number()));
      } else {
        complain(table_.put(claim_of(slot.number())));
      }
    }
    if (!sharing_.exact) {
      work(table_.read());
    }
  } else {
    update_soon();
  }
  tell();
}

void SlotKeeper::take(const SlotsWanted& wanted) {
  if (sharing_.exact || (wanted_ == wanted.slots && confirmed_ == wanted.number)) {
    return;
  }
  wanted_ = wanted.slots;
  confirmed_ = std::max(confirmed_, wanted.number);
  update();
}

void SlotKeeper::take(const DeviceReport& report) {
  if (sharing_.exact) {
    return;
  }
  seen_ = report;
  unseen_.assign(unseen_.size(), false);
  update_soon();
}

bool SlotKeeper::is_busy(std::size_t slot) const {
  return std::any_of(attempts_.begin(), attempts_.end(), [&](const auto& attempt) {
    return std::any_of(attempt.second.begin(), attempt.second.end(), [&](const SlotIndex one) {
      return sharing_.slots[one.number()] == sharing_.slots[slot];
    });
  });
}

SlotClaim SlotKeeper::claim_of(std::size_t slot) const {
  return {sharing_.slots[slot], uid_, sharing_.who, is_busy(slot)};
}

/// Asked about slots without an attempt: whatever is on the device is not this worker's, except for the
/// program that has started it.
std::string SlotKeeper::why_left_out(std::size_t slot) const {
  if (slot >= devices_.size()) {
    return "";
  }
  const std::string which = noun_ + " " + std::to_string(devices_[slot].index);
  if (unseen_[slot]) {
    return which + " is looked at, because another search had it";
  }
  const auto device = std::find_if(seen_.devices.begin(), seen_.devices.end(),
                                   [&](const Device& one) { return one.uuid == devices_[slot].uuid; });
  if (device == seen_.devices.end()) {
    return "";  // It is out of use.
  }
  std::string processes;
  std::size_t others = 0;
  for (const DeviceProcess& process : device->processes) {
    const auto pid = static_cast<pid_t>(process.pid);
    if (std::find(own_processes_.begin(), own_processes_.end(), pid) == own_processes_.end() &&
        ++others <= most_processes_named) {
      processes += (processes.empty() ? "process " : ", process ") + std::to_string(pid);
    }
  }
  const std::string remedy = "; --slots (slots= in Python) uses it nevertheless";
  if (others > 0) {
    return which + " is left out: " + processes + (others > most_processes_named ? " and others" : "") +
           " of another program " + (others == 1 ? "uses" : "use") + " it" + remedy;
  }
  const bool is_full =
      device->free_bytes && device->memory_bytes > 0 &&
      *device->free_bytes / mebibyte * 100 < device->memory_bytes / mebibyte * sharing_.gpu_free;
  return is_full ? which + " is left out: " + std::to_string(*device->free_bytes / mebibyte) + " of " +
                       std::to_string(device->memory_bytes / mebibyte) + " MiB are free, less than " +
                       std::to_string(sharing_.gpu_free) + " % (--gpu-free)" + remedy
                 : "";
}

/// The search goes on without the table.
void SlotKeeper::complain(const Status& done) {
  if (!done && std::exchange(complained_, done.error().message) != done.error().message) {
    net::log(net::Level::warning, "the slot table cannot be written: " + done.error().message);
  }
}

}  // namespace hpsearch::workers
