// SPDX-License-Identifier: BSD-3-Clause

// When operations in flight over a modelled network will be complete, keyed by the call that
// completes them. Thread-safe.
#pragma once

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "base/link_model.h"

namespace nearcache {

template <class Key, class Hash = std::hash<Key>>
class Deadlines {
 public:
  void add(const Key& key, double complete) {
    const std::lock_guard lock(mutex_);
    double& deadline = latest_[key];
    deadline = std::max(deadline, complete);
  }

  // Waits until all operations whose key satisfies `chosen` would be complete, and removes them.
  template <class Chosen>
  void wait_for(Chosen chosen) {
    double until = 0;
    {
      const std::lock_guard lock(mutex_);
      std::erase_if(latest_, [&](const auto& entry) {
        if (!chosen(entry.first)) return false;
        until = std::max(until, entry.second);
        return true;
      });
    }
    LinkModel::wait_until(until);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<Key, double, Hash> latest_;
};

}  // namespace nearcache
