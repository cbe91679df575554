// The physical system: Lennard-Jones atoms in reduced units (as miniMD's default input) in a
// periodic box.
#pragma once

#define CUTOFF 2.5
// atoms up to CUTOFF + SKIN are in the neighbour lists, so that the lists stay good for some steps
#define SKIN 0.3
#define TIME_STEP 0.005

// Atoms are on a face-centred cubic lattice at first, 4 in each of `size` cubed cells of it.
typedef struct {
  long size, atoms;
  double box;  // its edge
} lattice;

lattice lattice_of(long size, double density);
void initial_position(const lattice* l, long atom, double x[3]);
void initial_velocity(long atom, double v[3]);

// x[i] - y[i] to the nearest image of y; its squared length.
double nearest(const double x[3], const double y[3], double box, double difference[3]);

// Into [0, box).
double wrapped(double x, double box);

// Adds to `force` what an atom at `difference` from it does to an atom, and returns half of the
// pair's potential energy.
double pair(const double difference[3], double squared, double force[3]);

// Half a time step of velocity, and with it a whole one of position.
void kick(double v[3], const double force[3]);
void drift(double x[3], const double v[3]);
