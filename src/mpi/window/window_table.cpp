// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/window/window_table.h"

#include <algorithm>

#include "mpi/window/window.h"

namespace nearcache::mpi {

WindowTable::All::All(const WindowTable& table) : table_(table) {
  {
    const std::lock_guard lock(table_.mutex_);
    moment_ = ++table_.moment_;
    table_.looks_.insert(moment_);
  }
  windows_ = table_.table_.all();
}

WindowTable::All::~All() {
  std::unique_lock lock(table_.mutex_);
  table_.looks_.erase(moment_);
  table_.delete_unseen(std::move(lock));
}

void WindowTable::bury(Window* window) {
  std::unique_lock lock(mutex_);
  buried_.emplace_back(++moment_, window);
  delete_unseen(std::move(lock));
}

void WindowTable::delete_unseen(std::unique_lock<std::mutex> lock) const {
  const uint64_t oldest = looks_.empty() ? UINT64_MAX : *looks_.begin();
  const auto unseen = std::stable_partition(
      buried_.begin(), buried_.end(), [oldest](const auto& one) { return one.first > oldest; });
  const std::vector<std::pair<uint64_t, Window*>> gone(unseen, buried_.end());
  buried_.erase(unseen, buried_.end());
  lock.unlock();
  for (const auto& [moment, window] : gone) delete window;
}

}  // namespace nearcache::mpi
