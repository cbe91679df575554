int called_from_c(int x);

double weighted_sum(const double* values, int count, double (*weight)(int)) {
  double sum = 0;
  for (int i = 0; i < count; i++) sum += values[i] * weight(i) * called_from_c(1);
  return sum;
}
