#include "shmem/thread_end.h"

#include "shmem/context.h"

namespace nearcache::shmem {
namespace {

class ThreadEnd {
 public:
  void note() { writes_ = true; }
  ~ThreadEnd() {
    if (!writes_ || !enabled || inside != 0 || !context.home.here()) return;
    context.each_channel([](Channel& channel) {
      if (channel.foreign()) return;
      const ChannelLock lock(&channel);
      channel.owned() ? channel.complete() : channel.start_write_back();
    });
  }

 private:
  bool writes_ = false;
};

thread_local ThreadEnd thread_end;

}  // namespace

void note_thread_writes() { thread_end.note(); }

}  // namespace nearcache::shmem
