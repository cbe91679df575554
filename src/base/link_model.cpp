#include "base/link_model.h"

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/text.h"

namespace nearcache {

std::string LinkModel::set(const std::string& text) {
  const size_t comma = text.find(',');
  if (comma == std::string::npos || !parse_ratio(text.substr(0, comma), &latency_) || !parse_ratio(text.substr(comma + 1), &per_byte_))
    return "model: '" + text + "' is not allowed; allowed: L,G in ns and ns/byte, such as 1900,0.17";
  return {};
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
