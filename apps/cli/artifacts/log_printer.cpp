#include "cli/artifacts/log_printer.hpp"

#include <algorithm>
#include <string_view>

#include "cli/client/interrupts.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/engine/base/text.hpp"
#include "hpsearch/proto/encoding/utf8.hpp"

namespace hpsearch::cli {

using engine::Value;

namespace {

// How long to wait for a daemon that does not answer, or for a worker that has the log of a trial that has
// ended.
constexpr std::chrono::seconds patience_with_silence{120};
// How long to wait for a worker that has the log of an attempt after which another one began.
constexpr std::chrono::seconds patience_with_the_past{10};
constexpr std::uint64_t most_lines_at_the_end = 1'000'000;

}  // namespace

std::string LogLines::only_wanted(std::string lines) const {
  if (!wanted_) {
    return lines;
  }
  std::string found;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at) + 1;
    const std::string_view line = std::string_view(lines).substr(at, end - at);
    if (is_wanted(line.substr(0, line.size() - 1))) {
      found += line;
    }
    at = end;
  }
  return found;
}

int LogPrinter::print_all() {
  const Interrupts interrupts;
  const Outcome<LogSource::Course> course = source_.course();
  if (!course) {
    return output_.fail(course.failure());
  }
  if (course->attempts == 0 && !shown_.follow) {
    return output_.fail(
        not_found_failure("there is no log: the search has no such trial, or the trial has not run yet"));
  }
  attempt_ = shown_.attempt.value_or(course->attempts);
  if (shown_.tail && attempt_ > 0) {
    const Outcome<engine::Done> begun = print_end();
    if (!begun && !(shown_.follow && will_be_there(*course, begun.failure()))) {
      return output_.fail(begun.failure());
    }
  }
  while (interrupts.count() == 0) {
    // Reads the course first: output before the end is then certainly read after it.
    const Outcome<LogSource::Course> seen = source_.course();
    const Outcome<engine::Done> drained =
        seen && attempt_ > 0 ? drain() : Outcome<engine::Done>(engine::Done{});
    if (seen && drained) {
      silent_since_.reset();
      if (!shown_.attempt && attempt_ < seen->attempts) {
        begin_next(*seen);
        continue;
      }
      if (!shown_.follow || seen->over || (shown_.attempt && attempt_ < seen->attempts)) {
        return finish();
      }
      draw_unfinished();
    } else if (const Failure& failure = !seen ? seen.failure() : drained.failure();
               seen && is_not_to_be_had(*seen, failure)) {
      output_.message("of attempt " + std::to_string(attempt_) + " no more can be read: " + failure.message);
      begin_next(*seen);
      continue;
    } else if (!shown_.follow || !(is_passing(failure) || (seen && will_be_there(*seen, failure)))) {
      return output_.fail(failure);
    }
    nap(pause_);
  }
  return static_cast<int>(Exit::interrupted);
}

std::chrono::steady_clock::duration LogPrinter::silence() {
  const auto now = std::chrono::steady_clock::now();
  silent_since_ = silent_since_.value_or(now);
  return now - *silent_since_;
}

bool LogPrinter::is_not_to_be_had(const LogSource::Course& seen, const Failure& failure) {
  if (!shown_.follow || shown_.attempt || attempt_ >= seen.attempts) {
    return false;
  }
  return failure.code == engine::Errc::not_found ||
         (failure.code == engine::Errc::unavailable && silence() > patience_with_the_past);
}

bool LogPrinter::will_be_there(const LogSource::Course& seen, const Failure& failure) const {
  if (seen.over || attempt_ > seen.attempts || shown_.stream.rank != 0) {
    return false;
  }
  return failure.code == engine::Errc::not_found || failure.code == engine::Errc::unavailable;
}

bool LogPrinter::is_passing(const Failure& failure) {
  const bool may_pass = failure.exit == Exit::unreachable || failure.code == engine::Errc::unavailable ||
                        (failure.code == engine::Errc::not_found && shown_.stream.rank != 0);
  return may_pass && silence() <= patience_with_silence;
}

void LogPrinter::begin_next(const LogSource::Course& seen) {
  emit(lines_.finish());
  attempt_ = attempt_ == 0 ? seen.attempts : attempt_ + 1;
  offset_ = 0;
  silent_since_.reset();
}

Outcome<engine::Done> LogPrinter::print_end() {
  const auto lines = static_cast<std::size_t>(std::min(*shown_.tail, most_lines_at_the_end));
  std::string text;
  if (shown_.wanted) {
    if (Outcome<engine::Done> read = drain(&text); !read) {
      return read;
    }
    text += shown_.follow ? std::string() : lines_.finish();
  } else {
    const Outcome<LogPart> end = source_.read(attempt_, 0, true);
    if (!end) {
      return end.failure();
    }
    text = lines_.take(end->text);
    text += shown_.follow ? std::string() : lines_.finish();
    offset_ = end->end();
  }
  const std::string last = last_lines(text, lines);
  emit(last.empty() ? last : last + "\n");
  return engine::Done{};
}

Outcome<engine::Done> LogPrinter::drain(std::string* kept) {
  while (true) {
    const Outcome<LogPart> part = source_.read(attempt_, offset_, false);
    if (!part) {
      return part.failure();
    }
    if (part->offset > offset_ && kept == nullptr) {
      print_left_out(part->offset - offset_);
    }
    const std::string lines = lines_.take(part->text);
    if (kept != nullptr) {
      *kept += lines;
      *kept = last_lines(*kept, static_cast<std::size_t>(std::min(*shown_.tail, most_lines_at_the_end)));
      *kept += kept->empty() ? "" : "\n";
    } else {
      emit(lines);
    }
    offset_ = std::max(offset_, part->end());
    if (part->text.empty() || offset_ >= part->size) {
      return engine::Done{};
    }
  }
}

void LogPrinter::print_left_out(std::uint64_t bytes) {
  const std::string text = "… " + bytes_text(bytes) + " left out here …";
  if (output_.json() || shown_.raw || shown_.wanted) {
    output_.message(text);  // The message is not a part of the requested output.
  } else {
    emit(lines_.finish() + text + "\n");
  }
}

void LogPrinter::emit(const std::string& text) {
  if (text.empty()) {
    return;
  }
  if (!output_.json()) {
    output_.print(drawn_.empty() ? text : "\r\x1b[K" + text);
    drawn_.clear();
  } else if (shown_.follow) {
    output_.line(
        Value::Map{{"attempt", static_cast<std::int64_t>(attempt_)}, {"text", proto::to_utf8(text)}});
  } else {
    collected_ += text;
  }
}

void LogPrinter::draw_unfinished() {
  const std::string line = lines_.unfinished();
  if (output_.json() || !output_.live() || line == drawn_) {
    return;
  }
  output_.print("\r\x1b[K" + cut_to_width(line, output_.width() - 1));
  drawn_ = line;
}

int LogPrinter::finish() {
  emit(lines_.finish());
  if (output_.json() && !shown_.follow) {
    output_.data(Value::Map{{"attempt", static_cast<std::int64_t>(attempt_)},
                            {"rank", static_cast<std::int64_t>(shown_.stream.rank)},
                            {"stream", shown_.stream.name},
                            {"text", proto::to_utf8(collected_)}});
  }
  return 0;
}

}  // namespace hpsearch::cli
