#include "hpsearch/workers/core/slot_sharing.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace hpsearch::workers {

using engine::SlotIndex;

namespace {

bool names(const SlotTicket& ticket, const std::string& slot) {
  return std::find(ticket.slots.begin(), ticket.slots.end(), slot) != ticket.slots.end();
}

/// All tickets in the order in which they are served.
std::vector<SlotTicket> in_line(const SlotsOfMachine& machine) {
  std::set<std::string> busy;
  for (const SlotClaim& claim : machine.claims) {
    if (claim.busy) {
      busy.insert(claim.worker);
    }
  }
  const auto place = [&busy](const SlotTicket& ticket) {
    return std::tuple(busy.contains(ticket.worker), ticket.number, ticket.worker);
  };
  std::vector<SlotTicket> line = machine.tickets;
  std::sort(line.begin(), line.end(),
            [&place](const SlotTicket& a, const SlotTicket& b) { return place(a) < place(b); });
  return line;
}

/// One worker's look at the table.
class Look {
 public:
  Look(const SharingWorker& worker, const SlotsOfMachine& machine) : worker_(worker) {
    for (const SlotClaim& claim : machine.claims) {
      claimed_.insert(claim.slot);
      if (claim.worker == worker.uid) {
        mine_.insert(claim.slot);
      } else {
        others_.emplace(claim.slot, claim.who);
      }
    }
  }

  /// What becomes free goes to the ticket first. `busy`: the worker's own slots, too, as soon as they are.
  void serve(const SlotTicket& ticket, bool busy) {
    std::uint64_t lacks = ticket.lacks;
    for (const std::string& slot : ticket.slots) {
      lacks -= lacks > 0 && is_free(slot) && promise(slot, ticket) ? 1U : 0U;
    }
    for (auto slot = worker_.slots.rbegin(); slot != worker_.slots.rend(); ++slot) {
      if (lacks > 0 && is_idle(*slot) && !kept_.contains(slot->name) && names(ticket, slot->name) &&
          promise(slot->name, ticket)) {
        given_.insert(slot->name);
        --lacks;
      }
    }
    for (const OwnSlot& slot : worker_.slots) {
      if (lacks > 0 && busy && slot.busy && mine_.contains(slot.name) && names(ticket, slot.name)) {
        static_cast<void>(promise(slot.name, ticket));  // Any of them may be the next that becomes free.
      }
    }
  }

  /// The worker's turn: it keeps and takes as many slots as it wants. False: it still lacks some.
  bool serve_itself() {
    for (const OwnSlot& slot : worker_.slots) {
      if (kept_.size() < worker_.wanted && is_idle(slot) && !promised_.contains(slot.name)) {
        kept_.insert(slot.name);
      }
    }
    for (const OwnSlot& slot : worker_.slots) {
      if (kept_.size() < worker_.wanted && slot.left_out.empty() && is_free(slot.name) &&
          !promised_.contains(slot.name)) {
        kept_.insert(slot.name);
      }
    }
    return kept_.size() >= worker_.wanted;
  }

  [[nodiscard]] SharingStep step() const {
    SharingStep step;
    std::uint64_t idle = 0;
    for (std::size_t i = 0; i < worker_.slots.size(); ++i) {
      const OwnSlot& slot = worker_.slots[i];
      const SlotIndex index(i);
      const auto other = others_.find(slot.name);
      const auto promised = promised_.find(slot.name);
      const bool is_mine = mine_.contains(slot.name);
      if (is_mine && !slot.busy &&
          (given_.contains(slot.name) || !slot.left_out.empty() || other != others_.end())) {
        step.give.push_back(index);
      }
      if (other != others_.end()) {
        step.taken.push_back({index, "in use by " + other->second});
      } else if (!slot.left_out.empty()) {
        step.taken.push_back({index, slot.left_out});
      } else if (promised != promised_.end()) {
        step.taken.push_back({index, promised->second});
      } else if (!slot.busy) {
        ++idle;
        if (!is_mine) {
          step.take.push_back(index);
        }
      }
    }
    step.lacks = worker_.wanted > idle ? worker_.wanted - idle : 0;
    return step;
  }

 private:
  [[nodiscard]] bool is_free(const std::string& slot) const {
    return !claimed_.contains(slot) && !kept_.contains(slot);
  }
  [[nodiscard]] bool is_idle(const OwnSlot& slot) const {
    return !slot.busy && slot.left_out.empty() && mine_.contains(slot.name) && !others_.contains(slot.name);
  }
  bool promise(const std::string& slot, const SlotTicket& ticket) {
    return promised_.emplace(slot, "promised to " + ticket.who + ", which waits").second;
  }

  const SharingWorker& worker_;
  std::set<std::string> claimed_;
  std::set<std::string> mine_;
  std::map<std::string, std::string> others_;    ///< By slot: who has it.
  std::map<std::string, std::string> promised_;  ///< By slot: the reason.
  std::set<std::string> given_;
  std::set<std::string> kept_;  ///< For its first trial that waits.
};

}  // namespace

SharingStep share_slots(const SharingWorker& worker, const SlotsOfMachine& machine) {
  Look look(worker, machine);
  bool lacks_some = false;  // Then its own slots are the first that it gets back.
  bool was_served = false;
  for (const SlotTicket& ticket : in_line(machine)) {
    if (ticket.worker == worker.uid) {
      lacks_some = !look.serve_itself();
      was_served = true;
    } else {
      look.serve(ticket, !lacks_some);
    }
  }
  if (!was_served) {
    static_cast<void>(look.serve_itself());
  }
  return look.step();
}

std::uint64_t next_ticket(const SlotsOfMachine& machine) noexcept {
  std::uint64_t last = 0;
  for (const SlotTicket& ticket : machine.tickets) {
    last = std::max(last, ticket.number);
  }
  return last + 1;
}

}  // namespace hpsearch::workers
