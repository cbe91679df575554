// Whether we would see everything that a program does to a window.
//
// Interposition can be bypassed: a tool in front of us calls PMPI_X, a language binding ends in
// PMPI_X, and MPI libraries make windows for themselves. A window whose synchronisation, writes or
// acquires may escape us must not be cached.
#pragma once

#include <string>

namespace nearcache::mpi {

// True if a window made by the code at `caller` (a return address) may be cached. If not, `*why`
// says why not, naming the object and the call. Any thread; what was found is kept until objects
// are loaded or unloaded.
bool creation_is_visible(const void* caller, std::string* why);

// The same, and that no release passes us by either: sends, calls that do not block, and all else
// that is of kind `publish` in entry_points.txt.
bool releases_are_visible(const void* caller, std::string* why);

}  // namespace nearcache::mpi
