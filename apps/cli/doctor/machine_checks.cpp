#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/doctor/checks.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/engine/base/digits.hpp"

namespace hpsearch::cli {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
constexpr std::int64_t begin_of_2020 = 1'577'836'800;

Finding clock_synchronized(const Facts& facts) {
  const auto& synchronized = facts.machine.clock_is_synchronized;
  if (!synchronized) {
    return skipped("the kernel does not say whether its clock is synchronized");
  }
  return *synchronized ? good("the clock is synchronized")
                       : warning("the clock is not synchronized",
                                 "start a time service, such as systemd-timesyncd or chrony");
}

Finding clock_year(const Facts& facts) {
  return facts.machine.now >= begin_of_2020
             ? good("the clock is after 2020")
             : error("the clock is before 2020",
                     "set it: certificates, tokens and invites count as not valid yet");
}

Finding host_name(const Facts& facts) {
  const MachineFacts& machine = facts.machine;
  if (machine.addresses.empty()) {
    return warning("this machine's name, " + machine.host + ", has no address",
                   "add it to DNS or /etc/hosts, or give addresses with --advertise and --address");
  }
  return good(machine.host + " has the address " + machine.addresses.front());
}

Finding host_of_address(const Facts& facts) {
  const MachineFacts& machine = facts.machine;
  if (machine.addresses.empty()) {
    return skipped("this machine's name has no address");
  }
  const std::string& address = machine.addresses.front();
  if (!machine.name_of_address) {
    return warning("the address " + address + " has no name",
                   "add it to DNS or /etc/hosts: logs and certificates name machines");
  }
  const std::string& name = *machine.name_of_address;
  const bool is_same = name.substr(0, name.find('.')) == machine.host.substr(0, machine.host.find('.'));
  return is_same || name == "localhost"
             ? good(address + " is " + name)
             : warning(address + ", the address of " + machine.host + ", has the name " + name,
                       "correct DNS or /etc/hosts, so that the name and the address agree");
}

Finding proxies(const Facts& facts) {
  std::vector<std::string> names;
  for (const auto& [name, leaves_out_this_machine] : facts.machine.proxies) {
    if (!leaves_out_this_machine) {
      names.push_back(name);
    }
  }
  return names.empty() ? good("no proxy stands between programs and this machine")
                       : warning(some_of(names) + " sends requests to this machine through a proxy",
                                 "set no_proxy=localhost,127.0.0.1,::1 and the names of your machines");
}

Finding memory(const Facts& facts) {
  const std::uint64_t available = facts.machine.memory_available;
  const std::string finding = bytes_text(available) + " of memory are available";
  if (available < 128 * mebibyte) {
    return error(finding, "end other programs, or add memory: the kernel may kill the daemon or trials");
  }
  return available < 512 * mebibyte ? warning(finding, "end other programs, or add memory") : good(finding);
}

Finding open_files(const Facts& facts) {
  const std::uint64_t limit = facts.machine.open_files;
  const std::string finding = "a process may have " + std::to_string(limit) + " open files";
  const char* remedy = "raise the limit: LimitNOFILE= of the unit, or nofile in /etc/security/limits.conf";
  if (limit < 1'024) {
    return error(finding, remedy);
  }
  return limit < 4'096 ? warning(finding, remedy) : good(finding);
}

/// 1 and 60 for "v1.60.1-DEV".
std::pair<unsigned, unsigned> version_numbers(const std::string& text) {
  const std::size_t begin = text.find_first_of("0123456789");
  if (begin == std::string::npos) {
    return {0, 0};
  }
  const std::size_t dot = text.find('.', begin);
  const std::size_t end = text.find_first_not_of("0123456789", dot == std::string::npos ? begin : dot + 1);
  const auto major = engine::number_in<unsigned>(text.substr(begin, dot - begin));
  const auto minor = dot == std::string::npos
                         ? std::optional<unsigned>(0)
                         : engine::number_in<unsigned>(text.substr(dot + 1, end - dot - 1));
  return {major.value_or(0), minor.value_or(0)};
}

Finding rclone(const Facts& facts) {
  const std::string& version = facts.machine.rclone;
  if (version.empty()) {
    return good("rclone is not installed; only checkpoint_storage in object stores needs it");
  }
  return version_numbers(version) >= std::pair(1U, 53U)
             ? good("rclone " + version)
             : warning("rclone " + version + " is older than 1.53",
                       "install a newer one: checkpoints in object stores need it");
}

Finding python_client(const Facts& facts) {
  const MachineFacts& machine = facts.machine;
  if (!machine.python_client) {
    return good("python3 has no package hpsearch");
  }
  return version_numbers(*machine.python_client) == version_numbers(machine.version)
             ? good("the Python package is " + *machine.python_client)
             : warning(
                   "the Python package is " + *machine.python_client + ", and hpsearch is " + machine.version,
                   "install the Python package of the same release");
}

Finding unit_percent(const Facts& facts) {
  const std::vector<std::string>& units = facts.machine.units_with_percent;
  return units.empty() ? good("no unit of systemd has a key with a %")
                       : error(some_of(units) + ": a key has a %, which systemd replaces",
                               "use --server-key-file FILE in the unit, or write %% for each %");
}

constexpr Check checks[] = {
    {"clock-synchronized", Part::machine, "A time service keeps the clock right.", clock_synchronized},
    {"clock-year", Part::machine, "The clock is after 2020.", clock_year},
    {"host-name", Part::machine, "The machine's name has an address.", host_name},
    {"host-of-address", Part::machine, "That address has the machine's name.", host_of_address},
    {"proxies", Part::machine, "`http_proxy` and its like leave out this machine (`no_proxy`).", proxies},
    {"memory", Part::machine, "At least 512 MiB of memory are available.", memory},
    {"open-files", Part::machine, "A process may have 4096 open files.", open_files},
    {"rclone", Part::machine, "rclone, if it is installed, is 1.53 or newer.", rclone},
    {"python-client", Part::machine, "The package of `python3` is of the same release.", python_client},
    {"unit-percent", Part::machine, "No systemd unit of hpsearch has a key with a `%`.", unit_percent},
};

}  // namespace

std::span<const Check> machine_checks() {
  return checks;
}

}  // namespace hpsearch::cli
