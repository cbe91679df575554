// SPDX-License-Identifier: BSD-3-Clause

// What happens when a thread ends.
#pragma once

namespace nearcache::shmem {

// The calling thread writes through a cache. When it ends, write-back is started in every context
// that it may use, and its writes through its own private contexts are completed, as no other
// thread may do that. Only under SHMEM_THREAD_MULTIPLE.
void note_thread_writes();

// The calling thread reads through the default context's cache: its hits are counted when it ends.
void note_thread_reads();

}  // namespace nearcache::shmem
