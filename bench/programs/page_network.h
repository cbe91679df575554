// SPDX-License-Identifier: BSD-3-Clause

// A network for the page cache that only models costs: transfers move no data but take virtual
// time.
//
// A call takes processor time of its own; transfers pass over a link one after another and arrive
// one latency later (LogGP). The number of transfers in flight is limited: a further one waits for
// the oldest.
#ifndef NEARCACHE_BENCH_PAGE_NETWORK_H
#define NEARCACHE_BENCH_PAGE_NETWORK_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "cache/page/page_transport.h"

namespace bench {

struct Link {
  const char* name;
  double latency_ns, ns_per_byte, call_ns;
  std::size_t outstanding;
  // a quiet makes a round trip of its own if anything was issued since the last quiet
  bool quiet_asks;
};

class PageNetwork final : public nearcache::PageTransport {
 public:
  // The memory of each PE is [0, bytes).
  PageNetwork(const Link& link, std::uint64_t bytes) : link_(link), bytes_(bytes) {}

  void compute(double ns) { now_ += ns; }
  // An atomic operation that bypasses the cache and returns a value.
  void atomic() { wait(transfer(8)); }

  void get(void*, std::uint64_t, std::size_t bytes, int) override { wait(transfer(bytes)); }
  void get_nbi(void*, std::uint64_t, std::size_t bytes, int) override { transfer(bytes); }
  void put(std::uint64_t, const void*, std::size_t bytes, int) override { transfer(bytes); }
  void fence() override { now_ += link_.call_ns; }
  void quiet() override {
    now_ += link_.call_ns;
    if (!issued_) return;
    wait(last_);
    if (link_.quiet_asks) now_ += link_.latency_ns;
    issued_ = false;
  }
  nearcache::Extent extent(std::uint64_t, std::size_t, int) override { return {0, bytes_}; }
  double now_ns() override { return now_; }

 private:
  // Issues a transfer and returns the time at which it is complete.
  double transfer(std::size_t bytes) {
    now_ += link_.call_ns;
    while (!under_way_.empty() && under_way_.front() <= now_) under_way_.pop_front();
    if (under_way_.size() >= link_.outstanding) {
      wait(under_way_.front());
      under_way_.pop_front();
    }
    link_free_ = std::max(link_free_, now_) + link_.ns_per_byte * static_cast<double>(bytes);
    last_ = link_free_ + link_.latency_ns;
    under_way_.push_back(last_);
    issued_ = true;
    return last_;
  }
  void wait(double until) { now_ = std::max(now_, until); }

  const Link link_;
  const std::uint64_t bytes_;
  double now_ = 1, link_free_ = 0, last_ = 0;
  std::deque<double> under_way_;
  bool issued_ = false;
};

}  // namespace bench
#endif
