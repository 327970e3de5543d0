# The tables of table1.sh, with solve.awk. Input lines, separated by tabs:
#   all|window D N MICROSECONDS KIB    of one layer: time per token, memory of all `tokens`
# The time of a sentence is fitted by A n^2 d + B n d^2 + C n d, or with a window of r tokens by
# A n r d + B n d^2 + C n, by least squares of the relative errors.
function term(kind, which, n, d) {
  if (which == 2) return n * d * d
  if (which == 3) return kind == "all" ? n * d : n
  return kind == "all" ? n * n * d : n * (n < window ? n : window) * d
}
function fitted(kind, n, d,    j, sum) {
  for (j = 1; j <= 3; ++j) sum += coefficient[kind, j] * term(kind, j, n, d)
  return sum
}
function fit(kind,    i, j, k, m, x, u, squares) {
  for (i = 1; i <= rows; ++i) {
    if (kinds[i] != kind) continue
    # Each row is divided by its time; terms are in millions to keep the sums small.
    for (j = 1; j <= 3; ++j) u[j] = term(kind, j, ns[i], ds[i]) / 1e6 / times[i]
    u[4] = 1
    for (j = 1; j <= 3; ++j) for (k = 1; k <= 4; ++k) m[j, k] += u[j] * u[k]
    ++m[4]
  }
  if (!solve(m, x)) return 0
  for (j = 1; j <= 3; ++j) coefficient[kind, j] = x[j] / 1e6
  for (i = 1; i <= rows; ++i)
    if (kinds[i] == kind) squares += (fitted(kind, ns[i], ds[i]) / times[i] - 1) ^ 2
  error[kind] = sqrt(squares / m[4])
  return 1
}
function print_fit(kind, name, first, last) {
  if (!fit(kind)) { print "\n" name ": too few measurements to fit"; return }
  printf "\n%s, ns per sentence: %.3g %s + %.3g n d^2 + %.3g %s, to %.0f %% (root mean square)\n",
    name, 1e3 * coefficient[kind, 1], first, 1e3 * coefficient[kind, 2],
    1e3 * coefficient[kind, 3], last, 100 * error[kind]
}

BEGIN { FS = "\t" }
{
  ++rows
  kinds[rows] = $1; ds[rows] = $2; ns[rows] = $3
  times[rows] = $4 * $3 # per sentence
  time_of[$1, $2, $3] = $4 * $3
  memory_of[$1, $2, $3] = $5
}
END {
  printf "| d | n | ms per sentence | with a window of %d | MiB for %d tokens | with the window |\n",
    window, tokens
  print "|---|---|---|---|---|---|"
  for (i = 1; i <= rows; ++i) {
    if (kinds[i] != "all") continue
    d = ds[i]; n = ns[i]
    printf "| %d | %d | %.3f | %.3f | %.1f | %.1f |\n", d, n, time_of["all", d, n] / 1e3,
      time_of["window", d, n] / 1e3,
      memory_of["all", d, n] / 1024, memory_of["window", d, n] / 1024
  }
  print_fit("all", "Self-attention", "n^2 d", "n d")
  print_fit("window", "Restricted to r = " window, "n r d", "n")
  if (coefficient["all", 1] > 0)
    printf "\nn^2 d costs as much as n d^2 at n = %.2f d; by FLOPs, at n = 2 d.\n",
      coefficient["all", 2] / coefficient["all", 1]
}
