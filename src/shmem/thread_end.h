// What happens when a thread ends.
#pragma once

namespace nearcache::shmem {

// The calling thread writes through a cache: when it ends, write-back is started in every context
// that it may use, and what it wrote through private contexts of its own is completed, as no other
// thread may do that. Under SHMEM_THREAD_MULTIPLE only.
void note_thread_writes();

// It reads through the default context's cache: its hits are counted when it ends.
void note_thread_reads();

}  // namespace nearcache::shmem
