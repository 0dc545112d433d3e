#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/proto/encoding/spell.hpp"
#include "hpsearch/workers/core/effects.hpp"

namespace hpsearch::workers {

/// A slot of the machine that a worker has.
struct SlotClaim {
  std::string slot;    ///< "cpu-3" or a device's UUID: the same for all workers of the machine.
  std::string worker;  ///< Its uid.
  std::string who;     ///< "search lr (process 12)"
  bool busy = false;   ///< An attempt has it.
};

void spell(auto& fields, proto::Is<SlotClaim> auto& claim) {
  fields("slot", claim.slot);
  fields("worker", claim.worker);
  fields("who", claim.who);
  fields("busy", claim.busy);
}

/// A place in the line for slots of the machine.
struct SlotTicket {
  std::string worker;
  std::string who;
  std::uint64_t number = 0;          ///< The order of arrival.
  std::uint64_t lacks = 0;           ///< It waits for so many more slots, which it takes all together …
  std::vector<std::string> slots{};  ///< … of these.
};

void spell(auto& fields, proto::Is<SlotTicket> auto& ticket) {
  fields("worker", ticket.worker);
  fields("who", ticket.who);
  fields("number", ticket.number);
  fields("lacks", ticket.lacks);
  fields("slots", ticket.slots);
}

/// Who has which slots of the machine, and who waits for some.
struct SlotsOfMachine {
  std::vector<SlotClaim> claims;
  std::vector<SlotTicket> tickets;
};

/// A slot of the worker that asks.
struct OwnSlot {
  std::string name;
  bool busy = false;       ///< An attempt of this worker has it.
  std::string left_out{};  ///< Why its device is not used now, or "".
};

struct SharingWorker {
  std::string uid;
  std::vector<OwnSlot> slots;
  std::uint64_t wanted = 0;  ///< The slots of its first trial that waits; 0 = none waits.
};

/// What a worker that shares its slots does next.
struct SharingStep {
  std::vector<engine::SlotIndex> take;  ///< Free slots that it takes now.
  std::vector<engine::SlotIndex> give;  ///< Idle slots that it gives up when its daemon leases them no more.
  std::vector<UnusableSlot> taken;      ///< Its daemon must not lease these, with the reasons.
  std::uint64_t lacks = 0;              ///< Its first trial waits for so many slots more.
};

/// Decides by what all workers of the machine see. Tickets are served in order of arrival, those of workers
/// without a busy slot first; a worker without a ticket comes last. It keeps and takes what it wants when it
/// is its turn, and gives idle slots beyond that to the others. While a ticket that is served before its own
/// lacks slots, the worker leases none of its own again. So a worker that needs several slots gets each that
/// becomes free, and no two wait for each other. It takes free slots for which no worker waits.
[[nodiscard]] SharingStep share_slots(const SharingWorker& worker, const SlotsOfMachine& machine);

/// The number of a new ticket.
[[nodiscard]] std::uint64_t next_ticket(const SlotsOfMachine& machine) noexcept;

}  // namespace hpsearch::workers
