# Linear equations for the fits of scaling.awk and table1.awk.

# solve: solves the 3 x 3 system m[row, 1..4] for x[1..3]; returns 0 if it is singular.
function solve(m, x,    i, j, k, factor, best) {
  for (i = 1; i <= 3; ++i) {
    best = i
    for (j = i + 1; j <= 3; ++j) if (size(m[j, i]) > size(m[best, i])) best = j
    if (m[best, i] == 0) return 0
    for (k = 1; k <= 4; ++k) { factor = m[i, k]; m[i, k] = m[best, k]; m[best, k] = factor }
    for (j = 1; j <= 3; ++j) {
      if (j == i) continue
      factor = m[j, i] / m[i, i]
      for (k = i; k <= 4; ++k) m[j, k] -= factor * m[i, k]
    }
  }
  for (i = 1; i <= 3; ++i) x[i] = m[i, 4] / m[i, i]
  return 1
}
function size(value) { return value < 0 ? -value : value }
