// Synchronisation of a window: which gets it completes, and what is done with their data.
#include "mpi/window/sample_clock.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {

// Takes what MPI is about to complete off the books: what other threads issue from now on is not among it. Records of
// gets stay in their lists until MPI has returned, since another thread's synchronisation may be the first to.
Window::Completion Window::begin_sync(int target, bool local) {
  Completion completion{target, serials_};
  clear_outstanding(target, local);
  ++syncs_under_way_;
  quiet_ = false;
  ++counters_.syncs_passed;
  if (sample_.target >= 0) {
    if (target == all_targets || target == sample_.target) {
      completion.started = sample_ticks();
    } else {
      sample_ = Sample();
    }
  }
  return completion;
}

void Window::clear_outstanding(int target, bool local) {
  const uint8_t completed = static_cast<uint8_t>(local ? target_gets : target_gets | target_writes);
  for (size_t i = 0; i < touched_.size();) {
    uint8_t& flags = targets_[touched_[i]].flags;
    if (target == all_targets || touched_[i] == static_cast<uint32_t>(target)) flags = static_cast<uint8_t>(flags & ~completed);
    if ((flags & (target_gets | target_writes)) != 0) {
      ++i;
      continue;
    }
    flags = static_cast<uint8_t>(flags & ~target_listed);
    touched_[i] = touched_.back();
    touched_.pop_back();
  }
}

void Window::end_sync(Completion completion, bool succeeded) {
  --syncs_under_way_;
  update_quiet();
  if (completion.started != 0 && sample_.target >= 0) end_sample(completion);
  if (completion.target == all_targets) {
    for (uint32_t at = pending_of_all_.first; at != no_record && pending_[at].serial <= completion.up_to; at = pending_of_all_.first)
      complete(at, succeeded);
  } else if (valid_target(completion.target)) {
    const auto& list = target(completion.target).pending;
    for (uint32_t at = list.first; at != no_record && pending_[at].serial <= completion.up_to; at = list.first)
      complete(at, succeeded);
  }
}

void Window::call_for_progress() {
  context.progress.call();
  const WindowLock lock(mutex_);
  ++counters_.progress_calls;
}

// The data of a get has arrived where the program wanted it: stores it, and copies it to whoever waited for it.
void Window::complete(uint32_t record, bool succeeded) {
  PendingGet get = pending_[record];
  const std::byte* packed = nullptr;
  if (get.elements.contiguous() || get.start > 0) {
    packed = static_cast<const std::byte*>(get.origin) + get.elements.first_offset();
  } else if (succeeded && get.waiters != no_record) {
    scratch_.resize(get.bytes);
    pack(get.origin, get.elements, get.bytes, scratch_.data());
    packed = scratch_.data();
  }
  if (get.entry != no_entry && cache_ != nullptr) {
    update_generation();
    if (succeeded && cache_->keeps(get.entry)) {
      std::byte* storage = cache_->data(get.entry) + get.start;
      if (packed != nullptr) {
        cache_->store(storage, packed, get.bytes);
      } else {
        pack(get.origin, get.elements, get.bytes, storage);
      }
      cache_->complete(get.entry, get.start + get.bytes, get.write_seq);
    } else {
      cache_->abandon(get.entry, get.write_seq);
    }
  }
  serve_waiters(&get, packed, succeeded);
  release(record);
}

void Window::release(uint32_t record) {
  PendingGet& get = pending_[record];
  pending_.remove(&target(static_cast<int>(get.target)).pending, &PendingGet::of_target, record);
  pending_.remove(&pending_of_all_, &PendingGet::of_window, record);
  layout_drop(get.elements.layout);
  get.serial = 0;
  get.entry = no_entry;
  pending_.give_back(record);
}

void Window::serve_waiters(PendingGet* get, const std::byte* packed, bool succeeded) {
  for (uint32_t at = get->waiters; at != no_record;) {
    const Waiter waiter = waiters_[at];
    if (succeeded) unpack(packed, waiter.bytes, waiter.origin, waiter.elements);
    layout_drop(waiter.elements.layout);
    waiters_.give_back(at);
    at = waiter.after;
  }
}

void Window::request_completed(uint32_t record, uint64_t serial) {
  if (record >= pending_.size() || pending_[record].serial != serial) return;
  if (observed_) observe_sync(TraceSync::request, static_cast<int>(pending_[record].target));
  complete(record, true);
}

void Window::write(int target, MPI_Aint displacement, MPI_Count count, MPI_Datatype type) {
  if (!valid_target(target)) return;
  int64_t from = 0, to = 0;
  if (!range_of(displacement, count, type, &from, &to)) {
    write_unknown(target);
  } else if (from == to) {
    outstanding(target, target_writes);
  } else {
    write_range(target, from, to);
  }
}

bool Window::range_of(MPI_Aint displacement, MPI_Count count, MPI_Datatype type, int64_t* from, int64_t* to) const {
  const Layout* layout = count >= 0 ? layout_of(type) : nullptr;
  int64_t start = 0;
  if (layout == nullptr || identity_.unit == 0 ||
      __builtin_mul_overflow(static_cast<int64_t>(displacement), identity_.unit, &start))
    return false;
  const Elements elements{layout, static_cast<uint64_t>(count)};
  *from = *to = start;
  if (elements.bytes() == 0) return true;
  *from = start + elements.lowest();
  *to = start + elements.highest();
  return true;
}

void Window::write_unknown(int target) {
  if (valid_target(target)) write_range(target, INT64_MIN, INT64_MAX);
}

void Window::write_range(int target, int64_t from, int64_t to) {
  Target& at = this->target(target);
  if ((at.flags & target_writes) == 0) at.writes_since = cache_ == nullptr ? writes_unknown : cache_->writes().now();
  outstanding(target, target_writes);
  if (sample_.target == target) sample_ = Sample();  // its synchronisation would be measured with the write's
  if (cache_ == nullptr) return;
  cache_->record_write(static_cast<uint32_t>(target), from, to);
}

}  // namespace nearcache::mpi
