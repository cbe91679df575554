// SPDX-License-Identifier: BSD-3-Clause
#include "shmem/thread_end.h"

#include "shmem/context.h"

namespace nearcache::shmem {
namespace {

class ThreadEnd {
 public:
  void note_writes() { writes_ = true; }
  void note_reads() { reads_ = true; }
  ~ThreadEnd() {
    if (!enabled || inside != 0 || !context.home.here()) return;
    if (reads_) count_hits();
    if (writes_) write_back();
  }

 private:
  static void count_hits() {
    const ChannelLock lock(&context.default_channel);
    if (context.default_channel.is_shared())
      context.default_channel.ready_cache()->count(page_reader);
  }
  static void write_back() {
    context.each_usable_channel([](Channel& channel) {
      channel.owned() ? channel.complete() : channel.start_write_back();
    });
  }

  bool writes_ = false, reads_ = false;
};

thread_local ThreadEnd thread_end;

}  // namespace

void note_thread_writes() { thread_end.note_writes(); }
void note_thread_reads() { thread_end.note_reads(); }

}  // namespace nearcache::shmem
