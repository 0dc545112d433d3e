#pragma once

#include <string>
#include <vector>

#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/proto/wire/wire.hpp"

namespace hpsearch::test {

/// One example of each kind, with all fields set; one for each shape of a field. `name`
/// is unique and names its golden file.
template <class T>
struct Example {
  std::string name;
  T value;
  bool whole = true;  ///< False for older examples with fewer fields: golden bytes that stay readable.
};

/// The envelope around the messages.
proto::Envelope example_envelope();

const std::vector<Example<proto::FromWorker>>& examples_from_worker();
const std::vector<Example<proto::FromDaemon>>& examples_from_daemon();
/// A kind of event without its own example gets one from its list of fields (filled.hpp).
const std::vector<Example<engine::EventBody>>& example_events();

}  // namespace hpsearch::test
