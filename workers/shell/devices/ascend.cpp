#include "hpsearch/workers/shell/devices/ascend.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "hpsearch/engine/base/digits.hpp"
#include "hpsearch/workers/shell/devices/device_sources.hpp"
#include "hpsearch/workers/shell/devices/tool.hpp"

namespace hpsearch::workers {

namespace {

using engine::number_in;
using Cells = std::vector<std::string_view>;

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r"), text.size()));
  return text.substr(0, text.find_last_not_of(" \t\r") + 1);
}

Cells lines_of(std::string_view text) {
  Cells lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    lines.push_back(line);
  }
  return lines;
}

/// The parts between `separators`, without empty ones.
Cells words_of(std::string_view text, std::string_view separators) {
  Cells words;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(separators), text.size()));
    if (text.empty()) {
      return words;
    }
    const std::string_view word = text.substr(0, text.find_first_of(separators));
    text.remove_prefix(word.size());
    words.push_back(word);
  }
}

/// The columns of a line in which tabs or several spaces stand between columns, and one space within a name.
Cells columns_of(std::string_view line) {
  Cells columns;
  for (std::string_view left = trimmed(line); !left.empty();) {
    const std::size_t end = std::min({left.find("  "), left.find('\t'), left.size()});
    columns.push_back(trimmed(left.substr(0, end)));
    left = trimmed(left.substr(end));
  }
  return columns;
}

/// The cells of a line "| a | b |"; empty for other lines.
Cells cells_of(std::string_view line) {
  line = trimmed(line);
  Cells cells;
  if (line.size() < 2 || line.front() != '|' || line.back() != '|') {
    return cells;
  }
  for (line.remove_prefix(1); !line.empty();) {
    const std::string_view cell = line.substr(0, line.find('|'));
    line.remove_prefix(cell.size() + 1);
    cells.push_back(trimmed(cell));
  }
  return cells;
}

std::optional<std::uint64_t> number_at(const Cells& words, std::size_t place) {
  return place < words.size() ? number_in<std::uint64_t>(words[place]) : std::nullopt;
}

/// A card and a chip on it.
using Place = std::pair<std::uint64_t, std::uint64_t>;

struct MapColumns {
  std::optional<std::size_t> npu;
  std::optional<std::size_t> chip;  ///< Newer NPUs have one chip each and no such column.
  std::optional<std::size_t> logic;
  std::optional<std::size_t> name;

  void take(const Cells& header) {
    for (std::size_t i = 0; i < header.size(); ++i) {
      const std::pair<std::string_view, std::optional<std::size_t>*> known[] = {
          {"NPU ID", &npu}, {"Chip ID", &chip}, {"Chip Logic ID", &logic}, {"Chip Name", &name}};
      for (const auto& [title, column] : known) {
        if (header[i] == title) {
          *column = i;
        }
      }
    }
  }
  [[nodiscard]] bool complete() const { return npu && logic && name; }
};

/// The chips that compute, by their places. Others have no logic id.
std::map<Place, Device> chips_in(std::string_view mapping) {
  std::map<Place, Device> chips;
  MapColumns columns;
  for (const std::string_view line : lines_of(mapping)) {
    const Cells cells = columns_of(line);
    if (!columns.complete()) {
      columns.take(cells);
      continue;
    }
    const auto npu = number_at(cells, *columns.npu);
    const auto chip = columns.chip ? number_at(cells, *columns.chip) : std::optional<std::uint64_t>(0);
    const auto logic = number_at(cells, *columns.logic);
    if (!npu || !chip || !logic || *columns.name >= cells.size()) {
      continue;
    }
    Device device;
    device.uuid = "NPU-" + std::to_string(*npu) + "-" + std::to_string(*chip);
    device.name = cells[*columns.name];
    device.selector = std::to_string(*logic);
    device.index = *logic;
    chips.emplace(Place{*npu, *chip}, std::move(device));
  }
  return chips;
}

constexpr unsigned mebibyte_bits = 20;

/// The last column of a chip: "0  0 / 0  3445 / 65536" is its load, and of each kind of memory what is used.
void read_use(std::string_view text, Device& device) {
  const Cells words = words_of(text, " /");
  if (const auto load = number_at(words, 0)) {
    device.utilization = static_cast<std::int64_t>(*load);
  }
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
    const auto used = number_at(words, i);
    const auto total = number_at(words, i + 1);
    if (used && total && *total > 0) {  // Training cards have no memory but the last kind, HBM.
      device.memory_bytes = *total << mebibyte_bits;
      device.free_bytes = (*total - std::min(*total, *used)) << mebibyte_bits;
    }
  }
}

void read_health(std::string_view health, Device& device) {
  if (health == "Alarm" || health == "Critical") {
    device.trouble = "has the health state " + std::string(health);
  } else if (health != "OK") {
    device.remark = "has the health state " + std::string(health);
  }
}

/// Reads the table of cards, chips and processes.
class Table {
 public:
  explicit Table(std::map<Place, Device>& chips) : chips_(chips) {}

  void read(std::string_view line) {
    const Cells cells = cells_of(line);
    const Cells first = cells.empty() ? Cells{} : words_of(cells.front(), " ");
    const auto number = number_at(first, 0);
    if (!number) {
      return;
    }
    constexpr std::size_t columns_of_devices = 3;
    constexpr std::size_t columns_of_processes = 4;
    if (cells.size() == columns_of_processes) {
      read_process({*number, number_at(first, 1).value_or(0)}, cells);
    } else if (cells.size() == columns_of_devices && !is_place_on_bus(cells[1])) {
      card_ = *number;
      health_ = cells[1];
      const Cells values = words_of(cells[2], " ");  // Power, temperature, …
      temperature_ = number_at(values, 1);
    } else if (cells.size() == columns_of_devices && card_) {
      read_chip({*card_, *number}, cells);
    }
  }

 private:
  /// The second column of a chip: "0000:C1:00.0", or "NA" without such a bus. That of a card is its health.
  static bool is_place_on_bus(std::string_view text) {
    return text == "NA" || text.find(':') != std::string_view::npos;
  }

  void read_chip(const Place& place, const Cells& cells) {
    const auto chip = chips_.find(place);
    if (chip == chips_.end()) {
      return;
    }
    read_health(health_, chip->second);
    if (temperature_) {
      chip->second.temperature = static_cast<std::int64_t>(*temperature_);
    }
    read_use(cells[2], chip->second);
  }

  void read_process(const Place& place, const Cells& cells) {
    const auto chip = chips_.find(place);
    const auto pid = number_in<std::int64_t>(cells[1]);
    if (chip != chips_.end() && pid) {
      chip->second.processes.push_back(
          {*pid, number_in<std::uint64_t>(cells[3]).value_or(0) << mebibyte_bits});
    }
  }

  std::map<Place, Device>& chips_;
  std::optional<std::uint64_t> card_;
  std::string health_;
  std::optional<std::uint64_t> temperature_;
};

/// The version in the first line of the table: "| npu-smi 25.5.1   Version: 25.5.1 |".
std::string version_in(std::string_view table) {
  constexpr std::string_view before = "Version: ";
  const std::size_t at = table.find(before);
  const std::string_view rest = at == std::string_view::npos ? "" : table.substr(at + before.size());
  return std::string(rest.substr(0, rest.find_first_of(" |\n")));
}

}  // namespace

std::string npu_smi() {
  const char* named = std::getenv("HPSEARCH_NPU_SMI");
  return named != nullptr && *named != '\0' ? named : "npu-smi";
}

DeviceReport ask_npu_smi(const std::string& program) {
  DeviceReport report;
  if (!has_device_files("ascend")) {
    report.problem = "there is no device file like /dev/davinci0";
    return report;
  }
  const auto mapping = tool_output({program, "info", "-m"});
  if (!mapping) {
    report.problem = mapping.error().message;
    return report;
  }
  const auto table = tool_output({program, "info"});
  if (!table) {
    report.problem = table.error().message;
    return report;
  }
  return npus_in(*mapping, *table);
}

DeviceReport npus_in(std::string_view mapping, std::string_view table) {
  DeviceReport report;
  std::map<Place, Device> chips = chips_in(mapping);
  if (chips.empty()) {
    report.problem = "npu-smi info -m lists no NPU in a form that hpsearch can read";
    return report;
  }
  report.driver = version_in(table);
  Table reader(chips);
  for (const std::string_view line : lines_of(table)) {
    reader.read(line);
  }
  for (auto& [place, device] : chips) {
    report.devices.push_back(std::move(device));
  }
  std::sort(report.devices.begin(), report.devices.end(),
            [](const Device& a, const Device& b) { return a.index < b.index; });
  return report;
}

}  // namespace hpsearch::workers
