#include "hpsearch/searchers/sampler.hpp"

#include <algorithm>
#include <array>

#include "hpsearch/engine/base/check.hpp"
#include "hpsearch/engine/learnt.hpp"
#include "hpsearch/searchers/anneal.hpp"
#include "hpsearch/searchers/model.hpp"
#include "hpsearch/searchers/tpe.hpp"

namespace hpsearch::searchers {

namespace {

struct Entry {
  engine::SamplerName name;
  std::unique_ptr<Sampler> (*make)(const engine::ExperimentConfig& config);
};

// One entry for each sampler; its name and fields are declared in the engine's table of fields.
constexpr std::array<Entry, 3> samplers = {{
    {engine::SamplerName::anneal, make_anneal_sampler},
    {engine::SamplerName::model, make_model_sampler},
    {engine::SamplerName::tpe, make_tpe_sampler},
}};

}  // namespace

std::optional<engine::Learnt> Sampler::learnt() const {
  return std::nullopt;
}

std::unique_ptr<Sampler> make_sampler(const engine::ExperimentConfig& config) {
  if (config.searcher.sampler == engine::SamplerName::random) {
    return nullptr;
  }
  const auto* found = std::find_if(samplers.begin(), samplers.end(), [&config](const Entry& entry) {
    return entry.name == config.searcher.sampler;
  });
  HPSEARCH_CHECK(found != samplers.end(), "every sampler that a config can name is listed");
  return found->make(config);
}

}  // namespace hpsearch::searchers
