/* SPDX-License-Identifier: BSD-3-Clause */
#include "element.h"

// Corners of the six faces, counterclockwise when seen from outside.
static const int FACE[6][4] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                               {2, 3, 7, 6}, {0, 4, 7, 3}, {1, 2, 6, 5}};

// out += scale * (a x b)
static void add_cross(double out[3], const double a[3], const double b[3], double scale) {
  out[0] += scale * (a[1] * b[2] - a[2] * b[1]);
  out[1] += scale * (a[2] * b[0] - a[0] * b[2]);
  out[2] += scale * (a[0] * b[1] - a[1] * b[0]);
}

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// A face need not be flat, so it is split into four triangles around its centre. Each triangle adds
// the volume of its tetrahedron with the origin, a.(b x m)/6, and the gradient of that volume.
static double add_face(const int face[4], double x[8][3], double gradient[8][3]) {
  double centre[3] = {0}, of_centre[3] = {0}, volume = 0;
  for (int k = 0; k < 4; k++)
    for (int d = 0; d < 3; d++) centre[d] += 0.25 * x[face[k]][d];
  for (int k = 0; k < 4; k++) {
    const int a = face[k], b = face[(k + 1) % 4];
    double b_cross_m[3] = {0};
    add_cross(b_cross_m, x[b], centre, 1.0 / 6);
    volume += dot(x[a], b_cross_m);
    for (int d = 0; d < 3; d++) gradient[a][d] += b_cross_m[d];
    add_cross(gradient[b], centre, x[a], 1.0 / 6);
    add_cross(of_centre, x[a], x[b], 1.0 / 6);
  }
  for (int k = 0; k < 4; k++)
    for (int d = 0; d < 3; d++) gradient[face[k]][d] += 0.25 * of_centre[d];
  return volume;
}

double element_forces(double x[8][3], double energy, double force[8][3]) {
  double gradient[8][3] = {{0}}, volume = 0;
  for (int f = 0; f < 6; f++) volume += add_face(FACE[f], x, gradient);
  double pressure = (GAMMA - 1) * energy / volume;
  for (int c = 0; c < 8; c++)
    for (int d = 0; d < 3; d++) force[c][d] = pressure * gradient[c][d];
  return volume;
}

double element_work(double force[8][3], double mean_velocity[8][3], double dt) {
  double work = 0;
  for (int c = 0; c < 8; c++) work += dt * dot(force[c], mean_velocity[c]);
  return work;
}

void node_step(double x[3], double v[3], double mean_velocity[3], const double force[3],
               double mass, double dt) {
  for (int d = 0; d < 3; d++) {
    double after = x[d] == 0 ? 0 : v[d] + dt * force[d] / mass;
    mean_velocity[d] = 0.5 * (v[d] + after);
    v[d] = after;
    x[d] += dt * after;
  }
}
