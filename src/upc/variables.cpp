// What programs see as constants. This file alone does not include the header that declares them const, as it sets them.
extern "C" {

int ncupc_threads = 1;
int ncupc_mythread = 0;
int ncupc_threads_shift = 0;

int ncupc_forall_depth = 0;

}

namespace nearcache::upc {

__attribute__((visibility("hidden"))) void set_threads(int threads, int me) {
  ncupc_threads = threads;
  ncupc_mythread = me;
  ncupc_threads_shift = -1;
  for (int shift = 0; shift < 31; ++shift) {
    if (threads == 1 << shift) ncupc_threads_shift = shift;
  }
}

}  // namespace nearcache::upc
