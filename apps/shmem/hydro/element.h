// The physics of one element and of one node: an ideal gas, compressed and accelerated by its own
// pressure.
#pragma once

#define GAMMA 1.4

// From the positions of its corners and the internal energy in it: the force on each of them,
// pressure times the gradient of the volume. Returns the volume.
double element_forces(double x[8][3], double energy, double force[8][3]);

// The internal energy that the corners' motion takes out of the element in a time step: what the
// forces do to them.
double element_work(double force[8][3], double mean_velocity[8][3], double dt);

// One time step of a node under `force`. Velocities normal to the planes x, y, z = 0 that it lies
// on stay 0.
void node_step(double x[3], double v[3], double mean_velocity[3], const double force[3],
               double mass, double dt);
