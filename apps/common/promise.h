// Whether the programs promise a caching layer anything of their windows, by an info key or a call:
// with --no-promise they are programs that know of none.
#pragma once

namespace apps {

inline bool promise = true;

}  // namespace apps
