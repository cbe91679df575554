// SPDX-License-Identifier: BSD-3-Clause

// The physics of one element and one node: an ideal gas, compressed and accelerated by its own
// pressure.
#pragma once

#define GAMMA 1.4

// Computes the force on each corner, pressure times the gradient of the volume, from the corner
// positions and the element's internal energy. Returns the volume.
double element_forces(double x[8][3], double energy, double force[8][3]);

// Returns the internal energy that the corners' motion takes out of the element in one time step:
// the work of the forces.
double element_work(double force[8][3], double mean_velocity[8][3], double dt);

// Advances a node by one time step under `force`. Velocities normal to the planes x, y, z = 0 on
// which it lies stay 0.
void node_step(double x[3], double v[3], double mean_velocity[3], const double force[3],
               double mass, double dt);
