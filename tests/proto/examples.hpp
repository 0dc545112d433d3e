#pragma once

#include <string>
#include <vector>

#include "hpsearch/engine/experiment/events.hpp"
#include "hpsearch/proto/wire/wire.hpp"

namespace hpsearch::test {

/// One of each, with something in every field; where a field has several shapes, one for each shape. `name`
/// is unique and names its golden file.
template <class T>
struct Example {
  std::string name;
  T value;
  bool whole = true;  ///< Else as it was before it got more fields: golden bytes that are read for ever.
};

/// The envelope around the messages.
proto::Envelope example_envelope();

const std::vector<Example<proto::FromWorker>>& examples_from_worker();
const std::vector<Example<proto::FromDaemon>>& examples_from_daemon();
/// A kind of event without an example of its own has one made from its list of fields (filled.hpp).
const std::vector<Example<engine::EventBody>>& example_events();

}  // namespace hpsearch::test
