#pragma once

#include "hpsearch/engine/base/id.hpp"
#include "hpsearch/engine/base/instant.hpp"
#include "hpsearch/engine/base/problem.hpp"
#include "hpsearch/engine/base/result.hpp"
#include "hpsearch/engine/base/units.hpp"
#include "hpsearch/engine/base/value.hpp"
#include "hpsearch/engine/space/bool_style.hpp"
#include "hpsearch/engine/space/space.hpp"

namespace hpsearch::jobs {

// Types of the engine that describe programs.
using engine::BoolStyle;
using engine::Error;
using engine::Problem;
using engine::Problems;
using engine::Result;
using engine::Space;
using engine::Status;
using engine::Value;

}  // namespace hpsearch::jobs
