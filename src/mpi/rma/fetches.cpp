// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/rma/fetches.h"

#include <sched.h>

#include <algorithm>

#include "front/handle_bits.h"
#include "mpi/process/next.h"
#include "mpi/rma/engine_window.h"

namespace nearcache::mpi {

// Errors are reported before the host learns of the completion.
int Fetches::query(void*, MPI_Status*) { return MPI_SUCCESS; }

// Not the end of the fetch: of a request that the program frees, MPICH 4.0 calls this at once.
int Fetches::release(void*) { return MPI_SUCCESS; }

// Requests of one-sided operations cannot be cancelled; an error here would end the program.
int Fetches::cancel(void*, int) { return MPI_SUCCESS; }

int Fetches::begin(const EngineWindow& of, rma::Window* window, int rank, rma::Mark mark,
                   MPI_Request* request) {
  auto fetch = std::make_unique<Fetch>(Fetch{&of, window, rank, mark});
  if (const int rc = next.Grequest_start(query, release, cancel, fetch.get(), request);
      rc != MPI_SUCCESS)
    return rc;
  fetch->request = *request;
  const rma::Agent::Lock agent(&station_->agent());
  last_ = {window, rank, mark};
  const std::lock_guard lock(mutex_);
  failed_.erase(handle_bits(*request));
  by_handle_.emplace(handle_bits(*request), fetch.release());
  count_under_way();
  return MPI_SUCCESS;
}

std::vector<Fetches::Fetch*> Fetches::find(int count, const MPI_Request* requests) {
  std::vector<Fetch*> found;
  if (requests == nullptr) return found;
  const std::lock_guard lock(mutex_);
  for (int i = 0; i < count; ++i) {
    const auto at = by_handle_.find(handle_bits(requests[i]));
    if (at != by_handle_.end()) found.push_back(at->second);
  }
  return found;
}

// A fetch that was taken belongs to its taker until the host knows that it is complete. Nobody else
// may touch it, because the program may free it in another thread.
std::vector<Fetches::Fetch*> Fetches::take_arrived(int count, const MPI_Request* requests) {
  std::vector<Fetch*> taken = find(count, requests);
  std::erase_if(taken, [](const Fetch* each) { return !arrived(*each); });
  const std::lock_guard lock(mutex_);
  for (Fetch* fetch : taken) {
    by_handle_.erase(handle_bits(fetch->request));
    fetch->code = fetch->of->settled(fetch->window->take_error(fetch->rank));
    if (fetch->code != MPI_SUCCESS) failed_[handle_bits(fetch->request)] = fetch->code;
  }
  std::erase_if(let_go_, [&](Fetch* each) {
    if (!arrived(*each)) return false;
    taken.push_back(each);
    return true;
  });
  count_under_way();
  return taken;
}

// Frees them.
void Fetches::complete(const std::vector<Fetch*>& arrived) {
  for (Fetch* fetch : arrived) {
    if (fetch->code != MPI_SUCCESS) fetch->of->report(fetch->code);
    next.Grequest_complete(fetch->request);
    delete fetch;
  }
}

void Fetches::settle(int count, const MPI_Request* requests) {
  std::vector<Fetch*> taken;
  {
    const rma::Agent::Lock lock(&station_->agent());
    station_->agent().send(lock);
    station_->agent().poll(lock);
    taken = take_arrived(count, requests);
  }
  complete(taken);
}

// The host keeps the request until it is complete.
void Fetches::let_go(const MPI_Request* request) {
  if (request == nullptr) return;
  {
    const rma::Agent::Lock agent(&station_->agent());
    const std::lock_guard lock(mutex_);
    failed_.erase(handle_bits(*request));
    if (const auto found = by_handle_.find(handle_bits(*request)); found != by_handle_.end()) {
      let_go_.push_back(found->second);
      by_handle_.erase(found);
    }
  }
  settle(0, nullptr);
}

void Fetches::wait(int count, const MPI_Request* requests) {
  if (!has(count, requests)) return;
  std::vector<Fetch*> taken;
  {
    const rma::Agent::Lock lock(&station_->agent());
    // Looked up again each time: another thread may have taken one.
    station_->agent().wait(lock, [&] {
      return std::ranges::all_of(find(count, requests), [](Fetch* each) { return arrived(*each); });
    });
    taken = take_arrived(count, requests);
  }
  complete(taken);
}

void Fetches::wait_for_one(int count, const MPI_Request* requests) {
  const size_t ours = find(count, requests).size();
  const auto none = std::count(requests, requests + count, MPI_REQUEST_NULL);
  if (static_cast<std::ptrdiff_t>(ours) + none != count) {
    settle(count, requests);
    sched_yield();
    return;
  }
  std::vector<Fetch*> taken;
  {
    const rma::Agent::Lock lock(&station_->agent());
    station_->agent().wait(lock, [&] {
      const std::vector<Fetch*> left = find(count, requests);
      return left.size() < ours ||
             std::ranges::any_of(left, [](Fetch* each) { return arrived(*each); });
    });
    taken = take_arrived(count, requests);
  }
  complete(taken);
}

void Fetches::end(const rma::Window* window) {
  std::vector<MPI_Request> its;
  bool any_let_go = false;
  {
    const rma::Agent::Lock agent(&station_->agent());
    if (last_.window == window) last_ = {};
    const std::lock_guard lock(mutex_);
    any_let_go = !let_go_.empty();
    for (const auto& [handle, fetch] : by_handle_) {
      if (fetch->window == window) its.push_back(fetch->request);
    }
  }
  wait(static_cast<int>(its.size()), its.data());
  if (!any_let_go) return;
  std::vector<Fetch*> taken;
  {
    const rma::Agent::Lock agent(&station_->agent());
    const auto is_under_way = [&](const Fetch* each) {
      return each->window == window && !arrived(*each);
    };
    station_->agent().wait(agent, [&] {
      const std::lock_guard lock(mutex_);
      return std::ranges::none_of(let_go_, is_under_way);
    });
    taken = take_arrived(0, nullptr);
  }
  complete(taken);
}

FailedFetches::FailedFetches(Fetches* fetches, int count, const MPI_Request* requests)
    : fetches_(*fetches), count_(count), requests_(requests) {
  const std::lock_guard lock(fetches_.mutex_);
  if (fetches_.failed_.empty() || requests == nullptr) return;
  for (int i = 0; i < count; ++i) {
    const uint64_t handle = handle_bits(requests[i]);
    if (const auto found = fetches_.failed_.find(handle); found != fetches_.failed_.end())
      failed_.push_back({i, handle, found->second});
  }
}

std::vector<FailedFetches::Failed> FailedFetches::take_freed() const {
  std::vector<Failed> freed;
  if (failed_.empty()) return freed;
  const std::lock_guard lock(fetches_.mutex_);
  for (const Failed& each : failed_) {
    if (requests_[each.index] != MPI_REQUEST_NULL) continue;
    fetches_.failed_.erase(each.handle);
    freed.push_back(each);
  }
  fetches_.count_under_way();
  return freed;
}

int FailedFetches::of_one(int rc) const {
  const std::vector<Failed> freed = take_freed();
  return rc != MPI_SUCCESS || freed.empty() ? rc : freed.front().code;
}

int FailedFetches::of_all(int rc, MPI_Status* statuses) const {
  const std::vector<Failed> freed = take_freed();
  if (freed.empty() || (rc != MPI_SUCCESS && rc != MPI_ERR_IN_STATUS)) return rc;
  if (statuses == MPI_STATUSES_IGNORE) return MPI_ERR_IN_STATUS;
  for (int i = 0; i < count_ && rc == MPI_SUCCESS; ++i) statuses[i].MPI_ERROR = MPI_SUCCESS;
  for (const Failed& each : freed) statuses[each.index].MPI_ERROR = each.code;
  return MPI_ERR_IN_STATUS;
}

int FailedFetches::of_some(int rc, const int* found, const int* indices,
                           MPI_Status* statuses) const {
  const std::vector<Failed> freed = take_freed();
  if (freed.empty() || (rc != MPI_SUCCESS && rc != MPI_ERR_IN_STATUS)) return rc;
  if (statuses == MPI_STATUSES_IGNORE) return MPI_ERR_IN_STATUS;
  for (int i = 0; i < *found; ++i) {
    if (rc == MPI_SUCCESS) statuses[i].MPI_ERROR = MPI_SUCCESS;
    const auto its = std::ranges::find(freed, indices[i], &Failed::index);
    if (its != freed.end()) statuses[i].MPI_ERROR = its->code;
  }
  return MPI_ERR_IN_STATUS;
}

}  // namespace nearcache::mpi
