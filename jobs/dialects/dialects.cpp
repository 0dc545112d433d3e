#include "dialects/dialects.hpp"

#include "dialects/determined/determined_dialect.hpp"
#include "dialects/pai/pai_dialect.hpp"
#include "dialects/searchers/other_searcher_names.hpp"

namespace hpsearch::jobs {

Dialects make_dialects() {
  Dialects all;
  all.push_back(make_pai_dialect());
  all.push_back(make_determined_dialect());
  all.push_back(make_searcher_names_dialect());
  return all;
}

}  // namespace hpsearch::jobs
