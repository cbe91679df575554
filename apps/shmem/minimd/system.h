// SPDX-License-Identifier: BSD-3-Clause

// The physical system: Lennard-Jones atoms in reduced units (as in miniMD's default input) in a
// periodic box.
#pragma once

#define CUTOFF 2.5
// neighbour lists contain atoms up to CUTOFF + SKIN away, so that they stay valid for several steps
#define SKIN 0.3
#define TIME_STEP 0.005

// Initially, atoms are on a face-centred cubic lattice of size^3 cells with 4 atoms each.
typedef struct {
  long size, atoms;
  double box;  // edge length
} lattice;

lattice lattice_of(long size, double density);
void initial_position(const lattice* l, long atom, double x[3]);
void initial_velocity(long atom, double v[3]);

// Computes the vector from the nearest periodic image of y to x and returns its squared length.
double nearest(const double x[3], const double y[3], double box, double difference[3]);

// Wraps x into [0, box).
double wrapped(double x, double box);

// Adds to `force` the force that another atom exerts, where `difference` is the vector from that
// atom. Returns half of the pair's potential energy.
double pair(const double difference[3], double squared, double force[3]);

// kick() advances the velocity by half a time step, drift() the position by a whole one.
void kick(double v[3], const double force[3]);
void drift(double x[3], const double v[3]);
