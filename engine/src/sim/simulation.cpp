#include "hpsearch/engine/sim/simulation.hpp"

#include "sim/simulator.hpp"

namespace hpsearch::engine::sim {

std::string_view name_of(Decided::What what) noexcept {
  switch (what) {
    case Decided::What::create:
      return "create";
    case Decided::What::promote:
      return "promote";
    case Decided::What::promote_in_place:
      return "promote_in_place";
    case Decided::What::pause:
      return "pause";
    case Decided::What::exit_early:
      return "exit_early";
    case Decided::What::end:
      return "end";
  }
  return "";
}

Result<Simulated> simulate(const Value& config, SearcherRegistry registry, Curves& curves,
                           const Options& options) {
  if (options.workers == 0) {
    return Error{Errc::bad_request, "workers is 0; a simulation needs at least one"};
  }
  if (options.report_every && count(*options.report_every) == 0) {
    return Error{Errc::bad_request, "report_every is 0; a report needs at least one unit of training"};
  }
  if (!(options.failure_rate >= 0 && options.failure_rate <= 1)) {
    return Error{Errc::bad_request, "the failure rate is a probability, from 0 to 1"};
  }
  if (options.duration == DurationModel::curve && !curves.has_times()) {
    return Error{Errc::bad_request,
                 "these curves do not say how long training takes: let it take a second per unit "
                 "of length or per piece of work"};
  }
  return Simulator(registry, curves, options).run(config);
}

}  // namespace hpsearch::engine::sim
