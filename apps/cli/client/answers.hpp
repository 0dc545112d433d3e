#pragma once

#include <algorithm>
#include <cstdint>
#include <future>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "cli/client/client.hpp"
#include "cli/render/output.hpp"
#include "cli/render/text.hpp"
#include "hpsearch/proto/encoding/record.hpp"

// Reads the daemon's answers as the structs of proto/api. Commands use these; --output json prints the
// unchanged answer.

namespace hpsearch::cli {

/// The failure when an answer lacks a field, or a field has another type.
[[nodiscard]] Failure unexpected_answer(const engine::Error& error);

template <class T>
[[nodiscard]] Outcome<T> read_as(const engine::Value& answer) {
  auto read = proto::decode_value<T>(answer);
  return read ? Outcome<T>(*std::move(read)) : Outcome<T>(unexpected_answer(read.error()));
}
template <class T>
[[nodiscard]] Outcome<T> read_as(const Outcome<engine::Value>& answer) {
  return answer ? read_as<T>(*answer) : Outcome<T>(answer.failure());
}

/// Prints an answer as it came with --output json; else calls show() with it as a T. Returns the exit status.
template <class T, class Show>
[[nodiscard]] int show_answer(const Outcome<engine::Value>& answer, const Output& output, Show show) {
  if (!answer) {
    return output.fail(answer.failure());
  }
  if (output.json()) {
    output.data(*answer);
    return 0;
  }
  const Outcome<T> read = read_as<T>(*answer);
  if (!read) {
    return output.fail(read.failure());
  }
  show(*read);
  return 0;
}

/// All entries of a list in numbered pages: every_entry(client, target, &api::WorkerPage::workers). The
/// daemon makes the next page while this one is read.
template <class Page, class Entry>
[[nodiscard]] Outcome<std::vector<Entry>> every_entry(const Client& client, const std::string& target,
                                                      std::vector<Entry> Page::*list) {
  std::vector<Entry> all;
  Outcome<engine::Value> answer = client.get(target);
  for (std::uint64_t after = 0;;) {
    const std::uint64_t next = answer ? count_at(*answer, "next") : 0;  // null on the last page.
    std::future<Outcome<engine::Value>> following;
    if (next > after) {
      following = std::async(std::launch::async,
                             [&, next] { return client.get(target + "?after=" + std::to_string(next)); });
    }
    Outcome<Page> page = read_as<Page>(answer);
    if (!page) {
      return page.failure();
    }
    std::move(((*page).*list).begin(), ((*page).*list).end(), std::back_inserter(all));
    if (!following.valid()) {
      return all;
    }
    after = next;
    answer = following.get();
  }
}

}  // namespace hpsearch::cli
