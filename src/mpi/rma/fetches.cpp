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
int Fetches::complete(const std::vector<Fetch*>& arrived) {
  int wrong = MPI_SUCCESS;
  for (Fetch* fetch : arrived) {
    if (fetch->code != MPI_SUCCESS) wrong = fetch->of->report(fetch->code);
    next.Grequest_complete(fetch->request);
    delete fetch;
  }
  return wrong;
}

int Fetches::settle(int count, const MPI_Request* requests) {
  std::vector<Fetch*> taken;
  {
    const rma::Agent::Lock lock(&station_->agent());
    station_->agent().send(lock);
    station_->agent().poll(lock);
    taken = take_arrived(count, requests);
  }
  return complete(taken);
}

// The host keeps the request until it is complete.
int Fetches::let_go(const MPI_Request* request) {
  if (request == nullptr) return MPI_SUCCESS;
  {
    const rma::Agent::Lock agent(&station_->agent());
    const std::lock_guard lock(mutex_);
    if (const auto found = by_handle_.find(handle_bits(*request)); found != by_handle_.end()) {
      let_go_.push_back(found->second);
      by_handle_.erase(found);
    }
  }
  return settle(0, nullptr);
}

int Fetches::wait(int count, const MPI_Request* requests) {
  if (!has(count, requests)) return MPI_SUCCESS;
  std::vector<Fetch*> taken;
  {
    const rma::Agent::Lock lock(&station_->agent());
    // Looked up again each time: another thread may have taken one.
    station_->agent().wait(lock, [&] {
      return std::ranges::all_of(find(count, requests), [](Fetch* each) { return arrived(*each); });
    });
    taken = take_arrived(count, requests);
  }
  return complete(taken);
}

int Fetches::wait_for_one(int count, const MPI_Request* requests) {
  const size_t ours = find(count, requests).size();
  const auto none = std::count(requests, requests + count, MPI_REQUEST_NULL);
  if (static_cast<std::ptrdiff_t>(ours) + none != count) {
    const int wrong = settle(count, requests);
    sched_yield();
    return wrong;
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
  return complete(taken);
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

}  // namespace nearcache::mpi
