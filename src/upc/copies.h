// SPDX-License-Identifier: BSD-3-Clause

// Non-blocking copies, numbered as handles of upc_nb.h and of Berkeley's functions.
#pragma once

#include "nearcache/upc_runtime.h"

#pragma GCC visibility push(hidden)
namespace nearcache::upc {

struct Copies {
  upc_handle_t started = 0;    // the number of the last copy
  upc_handle_t completed = 0;  // all copies up to this one are complete
  bool in_region = false;      // in an access region of Berkeley's; the last copy started before it
  upc_handle_t before_region = 0;
};

// The handle of the copy started last; copies with smaller handles were started before it.
upc_handle_t last_copy();
bool copy_is_complete(upc_handle_t handle);
// Reports an error of `call` if this thread was never given the handle.
void complete_copy(upc_handle_t handle, const char* call);

}  // namespace nearcache::upc
#pragma GCC visibility pop
