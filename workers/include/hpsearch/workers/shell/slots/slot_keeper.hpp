#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/slot_device.hpp"
#include "hpsearch/engine/experiment/attempt.hpp"
#include "hpsearch/io/net/loop.hpp"
#include "hpsearch/workers/core/devices.hpp"
#include "hpsearch/workers/core/effects.hpp"
#include "hpsearch/workers/core/slot_sharing.hpp"
#include "hpsearch/workers/shell/slots/slot_table.hpp"

namespace hpsearch::workers {

/// How a private worker takes part in the slot table of its user on this machine.
struct SlotSharing {
  std::string who;              ///< The name of its search for others: "search lr (process 12)".
  bool exact = false;           ///< Its user has chosen the slots: its trials never wait, and only mark them.
  std::uint64_t gpu_free = 90;  ///< A device with less free memory, in percent, is left out.
  std::vector<std::string> slots{};  ///< The name of each slot in the table.
};

/// A worker's part in the slot table: takes slots and gives them up, waits in line, and marks the slots of
/// attempts. Looks when the table changes, and once a second.
///
/// Threads: the loop's, which outlives it.
class SlotKeeper {
 public:
  struct Handlers {
    std::function<void(SlotsTaken taken)> on_taken;  ///< All slots that the daemon must not lease, anew.
    std::function<void()> look;                      ///< A report of the devices is needed now.
  };

  /// `devices`: one per slot, or none. `noun`: the word for one of them. `seen`: the last report of them.
  SlotKeeper(net::Loop& loop, SlotTable table, SlotSharing sharing, std::string uid,
             std::vector<engine::SlotDevice> devices, std::string noun, DeviceReport seen);

  ~SlotKeeper();
  SlotKeeper(const SlotKeeper&) = delete;
  SlotKeeper& operator=(const SlotKeeper&) = delete;

  /// The slots of an attempt that an earlier start of this worker has begun; before start().
  void adopt(const engine::AttemptKey& key, const std::vector<engine::SlotIndex>& slots);
  /// Takes the slots that are free now; `handlers` hear of later changes. Returns those of others; nothing if
  /// the worker shares none.
  std::optional<SlotsTaken> start(Handlers handlers);

  /// An attempt gets these slots. unavailable: another search has one, or the table can't be used.
  [[nodiscard]] engine::Status begin(const engine::AttemptKey& key,
                                     const std::vector<engine::SlotIndex>& slots);
  /// It has ended, or was not started; again is fine.
  void end(const engine::AttemptKey& key);

  void take(const SlotsWanted& wanted);
  void take(const DeviceReport& report);

 private:
  void watch();
  void update_soon();
  void update();
  void tell();
  void work(const SlotsOfMachine& machine);
  void report(std::vector<UnusableSlot> taken);
  void write_ticket(std::uint64_t lacks, const SlotsOfMachine& machine);
  [[nodiscard]] bool is_busy(std::size_t slot) const;
  [[nodiscard]] SlotClaim claim_of(std::size_t slot) const;
  [[nodiscard]] std::string why_left_out(std::size_t slot) const;
  void complain(const engine::Status& done);

  net::Loop& loop_;
  SlotTable table_;
  SlotSharing sharing_;
  std::string uid_;
  std::vector<engine::SlotDevice> devices_;
  std::string noun_;
  DeviceReport seen_;
  Handlers handlers_;
  std::map<engine::AttemptKey, std::vector<engine::SlotIndex>> attempts_;
  std::vector<bool> unseen_;          ///< By slot: another search had it, and the driver was not asked since.
  std::vector<pid_t> own_processes_;  ///< This process and those above it.
  std::uint64_t wanted_ = 0;
  std::uint64_t confirmed_ = 0;  ///< The daemon leases none of the slots that this SlotsTaken named.
  SlotsTaken taken_;
  std::uint64_t reported_ = 0;  ///< The last number that the handlers heard of.
  bool looks_ = false;          ///< A device is left out, and it's time to look at it again.
  std::map<engine::SlotIndex, std::uint64_t> taken_since_;  ///< The first SlotsTaken in a row that named it.
  std::string complained_;
  Descriptor changes_;  ///< Reads inotify.
  net::Watch change_;
  net::Watch soon_;
  net::Watch every_;
  net::Watch look_again_;
};

}  // namespace hpsearch::workers
