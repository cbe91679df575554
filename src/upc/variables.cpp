// SPDX-License-Identifier: BSD-3-Clause

// Variables that programs see as constants. Only this file does not include the header that
// declares them const, because it sets them.
extern "C" {

int ncupc_threads = 1;
int ncupc_mythread = 0;
unsigned long ncupc_threads_inverse = ~0UL;

int ncupc_forall_depth = 0;
}

namespace nearcache::upc {

__attribute__((visibility("hidden"))) void set_threads(int threads, int me) {
  ncupc_threads = threads;
  ncupc_mythread = me;
  ncupc_threads_inverse = ~0UL / static_cast<unsigned long>(threads);
}

}  // namespace nearcache::upc
