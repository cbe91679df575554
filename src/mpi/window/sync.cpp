// Synchronisation of a window: which gets it completes, and what is done with their data.
#include "mpi/window/sample_clock.h"
#include "mpi/window/window.h"

namespace nearcache::mpi {

// Records of gets stay in their lists until MPI has returned, since another thread's synchronisation may be the first to.
Window::Completion Window::begin_sync(Targets targets, bool local) {
  Completion completion{epochs_.begin(targets, local, cache_ == nullptr ? Epochs::no_mark : cache_->writes().now()), serials_};
  ++counters_.syncs_passed;
  if (sample_.target >= 0) {
    if (targets.cover(static_cast<uint32_t>(sample_.target))) {
      completion.started = sample_ticks();
    } else {
      sample_ = Sample();
    }
  }
  return completion;
}

void Window::end_sync(const Completion& completion, bool succeeded) {
  epochs_.end(completion.sync, succeeded);
  if (!succeeded) {
    sample_ = Sample();
    return;
  }
  if (completion.started != 0 && sample_.target >= 0) end_sample(completion);
  const Targets targets = completion.sync.targets;
  if (targets.is_none()) return;
  const auto& list = targets.is_all() ? pending_of_all_ : pending_of_target_[targets.rank()];
  for (uint32_t at = list.first; at != no_record && pending_[at].serial <= completion.up_to; at = list.first) complete(at, true);
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
  pending_.remove(&pending_of_target_[get.target], &PendingGet::of_target, record);
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

void Window::request_completed(uint32_t record, uint64_t serial, bool succeeded) {
  if (record >= pending_.size() || pending_[record].serial != serial) return;
  if (observed_) observe_sync(TraceSync::request, Targets::one(pending_[record].target));
  complete(record, succeeded);
}

void Window::write_begins(int target, MPI_Aint displacement, MPI_Count count, MPI_Datatype type) {
  if (!valid_target(target)) return;
  const auto rank = static_cast<uint32_t>(target);
  if (sample_.target == target) sample_ = Sample();  // its synchronisation would be measured with the write's
  int64_t from = 0, to = 0;
  if (!range_of(displacement, count, type, &from, &to)) from = INT64_MIN, to = INT64_MAX;
  epochs_.write_begins(rank, cache_ == nullptr ? Epochs::no_mark : cache_->writes().now());
  if (from != to) write_range(rank, from, to);
}

bool Window::range_of(MPI_Aint displacement, MPI_Count count, MPI_Datatype type, int64_t* from, int64_t* to) const {
  const Layout* layout = count >= 0 ? layout_of(type) : nullptr;
  int64_t start = 0;
  if (layout == nullptr || identity_.unit == 0 ||
      __builtin_mul_overflow(static_cast<int64_t>(displacement), identity_.unit, &start))
    return false;
  const Elements elements{layout, static_cast<uint64_t>(count)};
  *from = *to = start;
  if (layout->size == 0 || count == 0) return true;
  return !__builtin_add_overflow(start, elements.lowest(), from) && !__builtin_add_overflow(start, elements.highest(), to);
}

void Window::write_range(uint32_t target, int64_t from, int64_t to) {
  if (cache_ == nullptr) return;
  const uint32_t before = cache_->writes().now();
  cache_->record_write(target, from, to);
  if (cache_->writes().now() < before) epochs_.forget_marks();  // the numbers began anew
}

}  // namespace nearcache::mpi
