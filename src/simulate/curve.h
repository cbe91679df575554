// SPDX-License-Identifier: BSD-3-Clause

// How much storage pays off: what the library would save, as a function of the storage, from little
// to all distinct bytes. Long traces are sampled by key (sample.h), so that the whole curve takes
// seconds.
#pragma once

#include <string>
#include <vector>

#include "simulate/study.h"

namespace nearcache::simulate {

struct CurvePoint {
  uint64_t storage_bytes = 0;  // per rank
  double cost_saved = 0, hit_ratio = 0, byte_hit_ratio = 0;
};

struct WindowCurve {
  WindowContent content;
  double sample_rate = 1;  // the smallest rate of any rank
  std::vector<CurvePoint> points;
  CurvePoint infinite;
};

struct Curves {
  Traces traces;
  std::vector<WindowCurve> windows;
};

std::string run_curves(const StudyOptions& options, unsigned points, Curves* curves);
std::string curves_json(const StudyOptions& options, const Curves& curves);

}  // namespace nearcache::simulate
