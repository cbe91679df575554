// SPDX-License-Identifier: BSD-3-Clause

// Determines whether we see everything that a program does to a window.
//
// Interposition can be bypassed: a tool in front of us calls PMPI_X, a language binding ends in
// PMPI_X, and MPI libraries create windows for themselves. A window must not be cached if its
// synchronisation, writes or acquires may escape us.
#pragma once

#include <string>

namespace nearcache::mpi {

// Returns true if a window created by the code at `caller` (a return address) may be cached. If
// not, `*why` gives the reason, naming the object and the call. Thread-safe; results are kept until
// objects are loaded or unloaded.
bool creation_is_visible(const void* caller, std::string* why);

// Like creation_is_visible(), but also requires that no release escapes us: sends, non-blocking
// calls, and everything else of kind `publish` in entry_points.txt.
bool releases_are_visible(const void* caller, std::string* why);

// Returns true if no call on windows or requests escapes us, whoever creates windows: of the RMA
// engine's, the host MPI knows a handle only.
bool calls_on_windows_are_visible(std::string* why);

}  // namespace nearcache::mpi
