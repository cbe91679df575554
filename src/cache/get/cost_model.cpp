// SPDX-License-Identifier: BSD-3-Clause
#include "cache/get/cost_model.h"

#include <algorithm>

namespace nearcache {

void CostModel::sample(uint64_t bytes, double ns) {
  Class& c = classes_[class_of(bytes)];
  // A preempted process would count for thousands of gets, so a sample counts for at most four
  // times the mean. The first sample may itself have been such a get, or have found the network
  // cold.
  if (c.samples >= 8) ns = std::min(ns, 4.0 * c.mean_ns);
  if (c.samples < 8) c.mean_ns = std::min(c.mean_ns, 4 * static_cast<float>(ns));
  const float weight = c.samples < 16 ? 1.0f / static_cast<float>(c.samples + 1) : 1.0f / 16;
  c.mean_ns += weight * (static_cast<float>(ns) - c.mean_ns);
  c.least_ns =
      c.samples == 0 ? static_cast<float>(ns) : std::min(c.least_ns, static_cast<float>(ns));
  c.mean_bytes += weight * (static_cast<float>(bytes) - c.mean_bytes);
  if (c.samples < UINT32_MAX) ++c.samples;
  ++samples_;
  if (samples_ < 64 || samples_ % 64 == 0)
    fit_ = fit([](const Class& each) { return each.mean_ns; });
}

// Least squares over the means of the size classes, weighted by 1/cost^2 so that relative errors
// count equally.
template <class CostOf>
CostModel::Fit CostModel::fit(CostOf cost_of) const {
  double w = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const Class& c : classes_) {
    const double ns = cost_of(c);
    if (c.samples == 0 || ns <= 0) continue;
    const double weight = std::min<uint32_t>(c.samples, 16) / (ns * ns);
    w += weight;
    x += weight * c.mean_bytes;
    y += weight * ns;
    xx += weight * c.mean_bytes * c.mean_bytes;
    xy += weight * double{c.mean_bytes} * ns;
  }
  const double spread = w * xx - x * x;
  if (w <= 0) return {};
  const double per_byte = spread > 1e-9 * w * xx ? std::max(0.0, (w * xy - x * y) / spread) : 0.0;
  return {std::max(0.0, (y - per_byte * x) / w), per_byte};
}

CostModel::Fit CostModel::careful() const {
  return fit([](const Class& c) {
    return c.samples < few ? c.least_ns : std::min(c.mean_ns, most_of_least * c.least_ns);
  });
}

}  // namespace nearcache
