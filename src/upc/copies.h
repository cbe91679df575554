// Copies that do not block, as upc_nb.h and Berkeley's functions number them.
#pragma once

#include "nearcache/upc_runtime.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

struct Copies {
  upc_handle_t started = 0;    // the number of the last copy
  upc_handle_t completed = 0;  // all up to here are complete
  bool in_region = false;      // of Berkeley's functions; what was started before it
  upc_handle_t before_region = 0;
};

// The handle of the last copy that was started; all with smaller ones came before it.
upc_handle_t last_copy();
bool copy_is_complete(upc_handle_t handle);
// An error of `call` if this thread never got the handle.
void complete_copy(upc_handle_t handle, const char* call);

}  // namespace nearcache::upc
#pragma GCC visibility pop
