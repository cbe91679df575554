// The result of the whole program, reduced over the ranks.
#pragma once

#include <mpi.h>

#include "simulation.h"
#include "summary_text.h"

namespace barnes_hut {

/// Collective. Energies, errors and the total time are for the caller to fill in.
Summary summarize(MPI_Comm comm, const Simulation& simulation);

}  // namespace barnes_hut
