#include "recorded.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "hpsearch/engine/sim/curve_table.hpp"

namespace hpsearch::quality {
namespace {

using engine::Errc;
using engine::Error;
using engine::Result;
using engine::Value;
using engine::sim::CurveTable;

constexpr std::string_view prefix = "hparams.";

std::optional<double> number_in(const std::string& cell) {
  double number = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  return error == std::errc() && end == cell.data() + cell.size() ? std::optional(number) : std::nullopt;
}

/// The tables have no quoted cells.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) {
    cells.push_back(cell);
  }
  return cells;
}

Value list_of(const std::set<std::string>& texts) {
  std::vector<double> numbers;
  for (const std::string& text : texts) {
    if (const auto number = number_in(text)) {
      numbers.push_back(*number);
    }
  }
  Value::List values(texts.begin(), texts.end());
  if (numbers.size() == texts.size()) {
    std::sort(numbers.begin(), numbers.end());
    values.assign(numbers.begin(), numbers.end());
  }
  return Value::Map{{"type", "categorical"}, {"vals", std::move(values)}};
}

Result<Task> task_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const auto text = std::make_shared<const std::string>(std::istreambuf_iterator<char>(in),
                                                        std::istreambuf_iterator<char>());
  const auto parsed = CurveTable::parse(*text, CurveTable::Missing::refuse);
  if (!parsed) {
    return Error{Errc::bad_request, path.string() + ": " + parsed.error().message};
  }
  std::istringstream lines(*text);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> header = cells_of(line);
  std::map<std::string, std::set<std::string>> values;
  std::map<std::uint64_t, std::vector<double>> metrics;  // By length.
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = cells_of(line);
    std::uint64_t length = 0;
    double metric = 0;
    for (std::size_t i = 0; i < header.size(); ++i) {
      if (header[i].starts_with(prefix)) {
        values[header[i].substr(prefix.size())].insert(cells[i]);
      } else if (header[i] == "length") {
        length = std::stoull(cells[i]);
      } else if (header[i] == "metric") {
        metric = number_in(cells[i]).value_or(std::nan(""));
      }
    }
    metrics[length].push_back(std::isnan(metric) ? -HUGE_VAL : metric);
  }
  Task task;
  task.name = path.stem().string();
  Value::Map space;
  for (const auto& [name, texts] : values) {
    space[name] = list_of(texts);
  }
  task.space = std::move(space);
  task.max_length = metrics.rbegin()->first;
  task.full_training_seconds = static_cast<double>(task.max_length);
  task.best = -HUGE_VAL;
  for (const auto& [length, all] : metrics) {
    task.best = std::max(task.best, *std::max_element(all.begin(), all.end()));
  }
  std::vector<double>& full = metrics.rbegin()->second;
  const auto middle = full.begin() + static_cast<std::ptrdiff_t>(full.size() / 2);
  std::nth_element(full.begin(), middle, full.end());
  task.median = *middle;
  task.curves = [text](std::uint64_t) -> std::unique_ptr<engine::sim::Curves> {
    return std::move(*CurveTable::parse(*text, CurveTable::Missing::refuse));
  };
  return task;
}

}  // namespace

Result<std::vector<Task>> recorded_tasks(const std::string& directory) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".csv") {
      paths.push_back(entry.path());
    }
  }
  if (paths.empty()) {
    return Error{Errc::not_found,
                 directory + " has no tables; bench/quality/record_curves.py " + directory + " makes them"};
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Task> tasks;
  for (const std::filesystem::path& path : paths) {
    Result<Task> task = task_of(path);
    if (!task) {
      return task.error();
    }
    tasks.push_back(std::move(*task));
  }
  return tasks;
}

}  // namespace hpsearch::quality
