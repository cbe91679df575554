// SPDX-License-Identifier: BSD-3-Clause

// The result of the whole run, reduced over the ranks.
#pragma once

#include <mpi.h>

#include "simulation.h"
#include "summary_text.h"

namespace barnes_hut {

/// Collective. The caller fills in the energies, the errors and the total time.
Summary summarize(MPI_Comm comm, const Simulation& simulation);

}  // namespace barnes_hut
