#include "hpsearch/jobs/yaml/read_text.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <utility>
#include <variant>

#include "hpsearch/jobs/yaml/plain_scalar.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"
#include "yaml/shortened.hpp"
#include "yaml/usual_mistake.hpp"

namespace hpsearch::yaml {
namespace {

using engine::Value;

/// Reading stops after this many problems, which are enough for one message.
constexpr std::size_t most_problems = 100;

/// Length of a key, a tag or a name in a message.
constexpr std::size_t most_shown = 60;

/// Ends the reading; its problem has been recorded before.
struct Stop {};

/// Builds the tree and its lines from yaml-cpp's events. No YAML::Node is made: nodes share and copy, which
/// hostile texts can exploit; events cost only what the text costs.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const FileLimits& limits, std::string_view text, ReadText& out)
      : limits_(limits), text_(text), out_(out) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      stop(line_of(mark), "", "a second document begins here", "one document per file");
    }
  }
  void OnDocumentEnd() override {}

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const std::size_t line = line_of(mark);
    if (needs_key()) {
      stop(line, path(), "has an alias as a key", "a word");
    }
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) {
      stop(line, path(), "is an alias of a value that it is part of", "an alias of a value that ends before");
    }
    const Anchored& value = found->second;
    if (open_.size() + value.depth > limits_.depth) {
      stop(line, path(), "is nested more than " + std::to_string(limits_.depth) + " deep", "less");
    }
    count_nodes(value.nodes, line);
    count_bytes(value.bytes, line);
    take_value(value.value, line, value.lines, value.depth);
  }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    count_nodes(1, line_of(mark));
    if (needs_key()) {
      add_problem(line_of(mark), path(), "has an empty key", "a word, quoted if it is null");
      take_key("null", line_of(mark));
      return;
    }
    take_scalar(Value(), line_of(mark), anchor, 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    const std::size_t line = line_of(mark);
    count_nodes(1, line);
    count_bytes(text.size(), line);
    check_tag(line, tag);
    if (text.size() > limits_.scalar_bytes) {
      stop(line, path(), "is a text of " + std::to_string(text.size()) + " bytes",
           "at most " + std::to_string(limits_.scalar_bytes));
    }
    const bool plain = tag == "?";
    if (!plain && !is_closed(mark)) {
      stop(line, path(), "starts with a quote that is never closed", "");
    }
    if (needs_key()) {
      take_key(text, line);
      open_.back().entries.back().merges = plain && text == "<<";
      keep_scalar(Value(text), line, anchor, text.size());
      return;
    }
    if (!plain) {
      take_scalar(Value(text), line, anchor, text.size());
      return;
    }
    std::variant<Value, Refusal> resolved = resolve_plain(text);
    if (const auto* refusal = std::get_if<Refusal>(&resolved)) {
      add_problem(line, path(), refusal->what, refusal->allowed);
      take_scalar(Value(text), line, anchor, text.size());
    } else {
      take_scalar(std::get<Value>(std::move(resolved)), line, anchor, text.size());
    }
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(line_of(mark), tag, anchor, /*is_map=*/false);
  }
  void OnSequenceEnd() override {
    Frame done = close();
    Value list(std::move(done.items));
    take_collection(std::move(list), std::move(done));
  }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(line_of(mark), tag, anchor, /*is_map=*/true);
  }
  void OnMapEnd() override {
    const std::string where = path_of_open();
    Frame done = close();
    merge(done.entries, where);
    std::stable_sort(done.entries.begin(), done.entries.end(),
                     [](const Entry& a, const Entry& b) { return a.key < b.key; });
    // Sorted first, because inserting at the end of Members is fast.
    Value::Map map;
    const Entry* before = nullptr;
    for (Entry& entry : done.entries) {
      if (before != nullptr && before->key == entry.key) {
        add_problem(entry.line, joined(where, entry.key), "stands twice",
                    "once; it stands on line " + std::to_string(before->line) + " already");
        continue;
      }
      map[entry.key] = std::move(entry.value);
      done.lines.add_member(entry.key, std::move(entry.lines));
      before = &entry;
    }
    take_collection(Value(std::move(map)), std::move(done));
  }

  [[nodiscard]] bool has_root() const noexcept { return root_.has_value(); }
  [[nodiscard]] std::size_t documents() const noexcept { return documents_; }
  void finish() {
    out_.tree = root_ ? std::move(*root_) : Value();
    out_.lines = std::move(root_lines_);
  }

 private:
  struct Entry {
    std::string key;
    std::size_t line = 0;
    Value value;
    LineMap lines;
    bool merges = false;  // The key is the merge key.
  };
  /// The value of an anchor, which aliases copy.
  struct Anchored {
    Value value;
    LineMap lines;
    std::size_t depth = 0;
    std::size_t nodes = 0;
    std::size_t bytes = 0;
  };
  struct Frame {
    bool is_map = false;
    YAML::anchor_t anchor = YAML::NullAnchor;
    std::size_t depth = 0;  // Depth of the value, itself included.
    std::size_t nodes = 0;  // Nodes read before it …
    std::size_t bytes = 0;  // … and their texts.
    Value::List items;
    std::vector<Entry> entries;
    bool has_key = false;  // The last entry waits for its value.
    LineMap lines;
  };

  static std::size_t line_of(const YAML::Mark& mark) {
    return mark.line < 0 ? 1 : static_cast<std::size_t>(mark.line) + 1;
  }

  /// Whether the quoted scalar at `mark` ends with its quote. yaml-cpp accepts the end of the text instead.
  [[nodiscard]] bool is_closed(const YAML::Mark& mark) const {
    std::size_t at = mark.pos < 0 ? text_.size() : static_cast<std::size_t>(mark.pos);
    const char quote = at < text_.size() ? text_[at] : '\0';
    if (quote != '"' && quote != '\'') {
      return true;  // A block scalar ends with its indentation.
    }
    for (++at; at < text_.size(); ++at) {
      const bool doubled =
          quote == '\'' && text_[at] == quote && at + 1 < text_.size() && text_[at + 1] == quote;
      if (doubled || (quote == '"' && text_[at] == '\\')) {
        ++at;
      } else if (text_[at] == quote) {
        return true;
      }
    }
    return false;
  }

  static std::string joined(const std::string& parent, const std::string& key) {
    return parent.empty() ? shortened(key, most_shown) : parent + "." + shortened(key, most_shown);
  }

  [[nodiscard]] bool needs_key() const noexcept {
    return !open_.empty() && open_.back().is_map && !open_.back().has_key;
  }

  /// The path of the innermost open list or map. Only called for problems, because it costs O(depth).
  [[nodiscard]] std::string path_of_open() const {
    std::string out;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      const Frame& frame = open_[i];
      out = frame.is_map ? joined(out, frame.entries.back().key)
                         : out + "[" + std::to_string(frame.items.size()) + "]";
    }
    return out;
  }

  /// The path of the value that is being read.
  [[nodiscard]] std::string path() const {
    std::string out = path_of_open();
    if (open_.empty()) {
      return out;
    }
    const Frame& frame = open_.back();
    if (!frame.is_map) {
      return out + "[" + std::to_string(frame.items.size()) + "]";
    }
    return frame.has_key ? joined(out, frame.entries.back().key) : out;
  }

  void add_problem(std::size_t line, std::string where, std::string what, std::string allowed) {
    out_.problems.push_back(FileProblem{line, {std::move(where), std::move(what), std::move(allowed)}});
    if (out_.problems.size() >= most_problems) {
      throw Stop{};
    }
  }

  [[noreturn]] void stop(std::size_t line, std::string where, std::string what, std::string allowed) {
    add_problem(line, std::move(where), std::move(what), std::move(allowed));
    throw Stop{};
  }

  void count_nodes(std::size_t more, std::size_t line) {
    nodes_ += more;
    if (nodes_ > limits_.nodes) {
      stop(line, "",
           "the file has more than " + std::to_string(limits_.nodes) + " values, aliases written out",
           "fewer");
    }
  }

  void count_bytes(std::size_t more, std::size_t line) {
    bytes_ += more;
    if (bytes_ > limits_.text_bytes) {
      stop(line, "",
           "the values of the file have more than " + std::to_string(limits_.text_bytes) +
               " bytes, aliases written out",
           "fewer");
    }
  }

  /// Keeps a copy for aliases. It counts for the limits, or nested anchors would cost a copy for each level.
  void keep(YAML::anchor_t anchor, Anchored value, std::size_t line) {
    kept_nodes_ += value.nodes;
    if (kept_nodes_ > limits_.nodes) {
      stop(line, "", "the anchors of the file mark more than " + std::to_string(limits_.nodes) + " values",
           "fewer");
    }
    anchored_.insert_or_assign(anchor, std::move(value));
  }

  void keep_scalar(const Value& value, std::size_t line, YAML::anchor_t anchor, std::size_t bytes) {
    if (anchor != YAML::NullAnchor) {
      keep(anchor, {value, LineMap(), 0, 1, bytes}, line);
    }
  }

  /// Replaces the merge key by the members of the merged maps that this map lacks.
  void merge(std::vector<Entry>& entries, const std::string& where) {
    const auto found = std::find_if(entries.begin(), entries.end(), [](const Entry& e) { return e.merges; });
    if (found == entries.end()) {
      return;
    }
    const Entry merging = std::move(*found);
    entries.erase(found);
    std::set<std::string, std::less<>> taken;
    for (const Entry& entry : entries) {
      taken.insert(entry.key);
      if (entry.merges) {
        add_problem(
            entry.line, joined(where, entry.key), "stands twice",
            "once, with a list of maps; it stands on line " + std::to_string(merging.line) + " already");
      }
    }
    const Value::List* list = merging.value.as_list();
    for (std::size_t i = 0; i < (list != nullptr ? list->size() : 1); ++i) {
      const Value& from = list != nullptr ? (*list)[i] : merging.value;
      const Value::Map* map = from.as_map();
      if (map == nullptr) {
        add_problem(merging.line, joined(where, "<<"), "merges what is no map", "a map, or a list of maps");
        continue;
      }
      const LineMap lines = list != nullptr ? merging.lines.item(i) : merging.lines;
      for (const auto& [key, value] : *map) {
        if (taken.insert(key).second) {
          LineMap there = lines.member(key);
          const std::size_t line = there.line();
          entries.push_back(Entry{key, line, value, std::move(there)});
        }
      }
    }
  }

  void check_tag(std::size_t line, const std::string& tag) {
    if (tag != "?" && tag != "!" && !tag.empty()) {
      add_problem(line, path(), "has the tag " + shortened(tag, most_shown),
                  "no tags; quotes make a text, none a number");
    }
  }

  void open(std::size_t line, const std::string& tag, YAML::anchor_t anchor, bool is_map) {
    const std::size_t before = nodes_;
    count_nodes(1, line);
    if (needs_key()) {
      stop(line, path(), is_map ? "has a map as a key" : "has a list as a key", "a word");
    }
    check_tag(line, tag);
    if (open_.size() >= limits_.depth) {
      stop(line, path(), "is nested more than " + std::to_string(limits_.depth) + " deep", "less");
    }
    Frame frame;
    frame.is_map = is_map;
    frame.anchor = anchor;
    frame.depth = 1;
    frame.nodes = before;
    frame.bytes = bytes_;
    frame.lines.set_line(line);
    open_.push_back(std::move(frame));
  }

  Frame close() {
    Frame done = std::move(open_.back());
    open_.pop_back();
    return done;
  }

  void take_key(const std::string& key, std::size_t line) {
    Frame& frame = open_.back();
    frame.entries.push_back(Entry{key, line, Value(), LineMap()});
    frame.has_key = true;
  }

  void take_scalar(Value value, std::size_t line, YAML::anchor_t anchor, std::size_t bytes) {
    keep_scalar(value, line, anchor, bytes);
    take_value(std::move(value), line, {}, 0);
  }

  void take_collection(Value value, Frame done) {
    const std::size_t line = done.lines.line();
    if (done.anchor != YAML::NullAnchor) {
      keep(done.anchor, {value, done.lines, done.depth, nodes_ - done.nodes, bytes_ - done.bytes}, line);
    }
    take_value(std::move(value), line, std::move(done.lines), done.depth);
  }

  void take_value(Value value, std::size_t line, LineMap lines, std::size_t depth) {
    lines.set_line(line);
    if (open_.empty()) {
      root_ = std::move(value);
      root_lines_ = std::move(lines);
      return;
    }
    Frame& frame = open_.back();
    frame.depth = std::max(frame.depth, depth + 1);
    if (frame.is_map) {
      Entry& entry = frame.entries.back();
      lines.set_line(entry.line);  // A member has the line of its key.
      entry.value = std::move(value);
      entry.lines = std::move(lines);
      frame.has_key = false;
    } else {
      frame.items.push_back(std::move(value));
      frame.lines.add_item(std::move(lines));
    }
  }

  const FileLimits& limits_;
  std::string_view text_;
  ReadText& out_;
  std::vector<Frame> open_;
  std::optional<Value> root_;
  LineMap root_lines_;
  std::map<YAML::anchor_t, Anchored> anchored_;
  std::size_t nodes_ = 0;
  std::size_t bytes_ = 0;       // Bytes of their texts.
  std::size_t kept_nodes_ = 0;  // In anchored_.
  std::size_t documents_ = 0;
};

/// Finds what YAML forbids in a text and yaml-cpp accepts or misreads: bytes that aren't UTF-8, and
/// control characters (it reads 0x04 as the end of the file).
std::optional<FileProblem> find_bad_bytes(std::string_view text) {
  std::size_t line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if ((byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t') || byte == 0x7f) {
      return FileProblem{line, {"", "has the control character " + std::to_string(byte), "printable text"}};
    }
    const std::size_t length = proto::utf8_length(text.substr(at, 4));
    if (length == 0) {
      return FileProblem{line, {"", "is not UTF-8 here", "text in UTF-8"}};
    }
    line += byte == '\n' ? 1 : 0;
    at += length;
  }
  return std::nullopt;
}

/// JSON writes characters beyond 16 bits as two \u escapes, YAML as one \U. Only for texts that are JSON: in
/// YAML's plain and single-quoted scalars a backslash is a backslash.
std::string with_joined_surrogates(std::string_view json) {
  const auto unit_at = [json](std::size_t at) -> std::optional<std::uint32_t> {
    std::uint32_t unit = 0;
    if (at + 6 > json.size() || json[at] != '\\' || json[at + 1] != 'u') {
      return std::nullopt;
    }
    const auto [end, error] = std::from_chars(json.data() + at + 2, json.data() + at + 6, unit, 16);
    return error == std::errc() && end == json.data() + at + 6 ? std::optional(unit) : std::nullopt;
  };
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size();) {
    const auto high = unit_at(i);
    const auto low = high && *high >= 0xd800 && *high < 0xdc00 ? unit_at(i + 6) : std::nullopt;
    if (low && *low >= 0xdc00 && *low < 0xe000) {
      const std::uint32_t point = 0x10000 + ((*high - 0xd800) << 10U) + (*low - 0xdc00);
      char digits[9] = "00000000";
      for (std::size_t k = 0; k < 8; ++k) {
        digits[7 - k] = "0123456789abcdef"[(point >> (4 * k)) & 0xfU];
      }
      out.append("\\U").append(digits, 8);
      i += 12;
    } else if (json[i] == '\\' && i + 1 < json.size()) {
      out.append(json.substr(i, 2));
      i += 2;
    } else {
      out += json[i++];
    }
  }
  return out;
}

/// A parser's message, or a better one if the mistake is a usual one.
FileProblem no_yaml(std::string_view text, const YAML::Exception& error) {
  const std::size_t line = error.mark.is_null() ? 0 : static_cast<std::size_t>(error.mark.line) + 1;
  if (auto mistake = usual_mistake(text, line)) {
    return {mistake->line, {"", "is not YAML: " + std::move(mistake->what), std::move(mistake->cure)}};
  }
  return {line, {"", "is not YAML: " + error.msg, ""}};
}

}  // namespace

ReadText read_experiment_text(std::string_view text, const FileLimits& limits) {
  ReadText out;
  if (text.size() > limits.bytes) {
    out.problems.push_back(
        {0, {"", "is larger than " + std::to_string(limits.bytes) + " bytes", "a smaller file"}});
    return out;
  }
  if (text.starts_with("\xef\xbb\xbf")) {
    text.remove_prefix(3);
  }
  if (const auto bad = find_bad_bytes(text)) {
    out.problems.push_back(*bad);
    return out;
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json =
      first != std::string_view::npos && text[first] == '{' && text.find("\\u") != std::string_view::npos;
  const std::string shown = json ? with_joined_surrogates(text) : std::string(text);
  TreeBuilder builder(limits, shown, out);
  try {
    std::istringstream stream(shown);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    builder.finish();
  } catch (const Stop&) {
    // The list has the problem that stopped it.
  } catch (const YAML::Exception& error) {
    out.problems.push_back(no_yaml(shown, error));
  } catch (const std::exception& error) {
    out.problems.push_back({0, {"", std::string("cannot be read as YAML: ") + error.what(), ""}});
  }
  return out;
}

std::string to_text(const std::string& path, const FileProblem& problem) {
  std::string out = problem.file.empty() ? path : problem.file;
  if (problem.line != 0) {
    out += ":" + std::to_string(problem.line);
  }
  out += ": ";
  if (!problem.problem.path.empty()) {
    out += problem.problem.path + ": ";
  }
  out += problem.problem.what;
  if (!problem.problem.allowed.empty()) {
    out += " (" + problem.problem.allowed + ")";
  }
  return out;
}

std::string all_problems(const std::string& path, const ReadText& text, const engine::Problems& found) {
  std::vector<FileProblem> problems = text.problems;
  for (const engine::Problem& problem : found) {
    problems.push_back({text.lines.line_of(problem.path), problem});
  }
  std::string lines;
  for (const FileProblem& problem : problems) {
    lines += (lines.empty() ? "" : "\n") + to_text(path, problem);
  }
  return lines;
}

}  // namespace hpsearch::yaml
