// SPDX-License-Identifier: BSD-3-Clause
#include "base/link_model.h"

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/text.h"

namespace nearcache {

bool parse_link(std::string_view text, double* latency_ns, double* ns_per_byte) {
  const size_t comma = text.find(',');
  return comma != std::string_view::npos && parse_ratio(text.substr(0, comma), latency_ns) &&
         parse_ratio(text.substr(comma + 1), ns_per_byte) && *latency_ns <= 1e9 &&
         *ns_per_byte <= 1e6;
}

std::string LinkModel::set(const std::string& text) {
  if (parse_link(text, &latency_, &per_byte_)) return {};
  return "model: '" + text + "' is not allowed; allowed: " + parse_link_allowed;
}

double LinkModel::start(double bytes) {
  const std::lock_guard lock(mutex_);
  link_free_ = std::max(link_free_, static_cast<double>(system_ns())) + bytes * per_byte_;
  return link_free_ + latency_;
}

void LinkModel::wait_until(double ns) {
  while (static_cast<double>(system_ns()) < ns) {
  }
}

std::string LinkModel::label() const {
  char text[96];
  snprintf(text, sizeof text, "L=%g ns, G=%g ns/B", latency_, per_byte_);
  return text;
}

}  // namespace nearcache
