# Fits and tables of scaling.sh, with solve.awk. Input lines, separated by tabs:
#   cost WIDTH N FLOPS              parameters without embeddings; product FLOPs per token
#   point WIDTH N TOKENS LOSS       a point of a run on the whole text; loss in nats per token
#   data WIDTH PAIRS LOSS           the best loss of a run on a part of the text
#   predict WIDTH N TOKENS          a point to predict
#   tested WIDTH LOSS               its measured loss
# The law is loss = E + A / N^a + B / TOKENS^b. For given a and b, E, A and B are a linear
# least-squares problem; a and b are found on successively finer grids. Standard errors are by the
# jackknife over widths.

# The squared error with these exponents, without the width `left_out`. Sets law[1..3] to E, A, B,
# which must not be negative.
function error_of(a, b, left_out,    i, j, k, u, m, sum) {
  for (j = 1; j <= 3; ++j) for (k = 1; k <= 4; ++k) m[j, k] = 0
  for (i = 1; i <= points; ++i) {
    if (width[i] == left_out) continue
    # Powers of ratios, so that the sums have similar magnitudes.
    u[1] = 1; u[4] = loss[i]
    u[2] = exp(-a * log(n[i] / n[1])); u[3] = exp(-b * log(tokens[i] / tokens[1]))
    for (j = 1; j <= 3; ++j) for (k = 1; k <= 4; ++k) m[j, k] += u[j] * u[k]
  }
  if (!solve(m, law) || law[1] < 0 || law[2] < 0 || law[3] < 0) return 1e30
  for (i = 1; i <= points; ++i) {
    if (width[i] == left_out) continue
    sum += (value_at(n[i], tokens[i], a, b) - loss[i]) ^ 2
  }
  return sum
}
function value_at(size_n, count, a, b) {
  return law[1] + law[2] * exp(-a * log(size_n / n[1])) + law[3] * exp(-b * log(count / tokens[1]))
}
# fit: sets best_a, best_b and `law`; returns the squared error.
function fit(left_out,    step, steps, a, b, low_a, low_b, min_error, here, next_a, next_b, i, j) {
  low_a = low_b = 0.02; step = 0.04; steps = 45; min_error = 1e30
  for (; step > 0.0002; step /= 8) {
    for (i = 0; i <= steps; ++i) for (j = 0; j <= steps; ++j) {
      a = low_a + i * step; b = low_b + j * step
      if (a <= 0 || b <= 0) continue
      here = error_of(a, b, left_out)
      if (here < min_error) { min_error = here; next_a = a; next_b = b }
    }
    best_a = next_a; best_b = next_b
    low_a = best_a - step; low_b = best_b - step; steps = 16
  }
  return error_of(best_a, best_b, left_out)
}
function fail(message) { print "scaling: " message > "/dev/stderr"; exit 1 }
function flops_of(size_n) { return per_n * size_n + per_root * sqrt(size_n) }

BEGIN { FS = "\t" }
$1 == "cost" { flops[$2] = $4; cost_n[$2] = $3; widths[++costs] = $2 }
$1 == "point" { width[++points] = $2; n[points] = $3; tokens[points] = $4; loss[points] = $5 }
$1 == "data" { part_width[++parts] = $2; pairs[parts] = $3; part_loss[parts] = $4 }
$1 == "predict" { target_width = $2; target_n = $3; target_tokens = $4 }
$1 == "tested" { tested = $3 }

END {
  for (i = 1; i <= points; ++i) if (!known[width[i]]++) names[++count] = width[i]
  # Each standard error leaves out a width, and E + A / N^a needs three.
  if (count < 4) fail("a fit needs at least 4 WIDTHS")
  squares = fit("")
  # Parts of the loss of the first point.
  if (squares >= 1e30 || law[2] < loss[1] / 1e4 || law[3] < loss[1] / 1e4)
    fail("the losses do not fall with parameters and tokens as a power law; " \
      "give more STEPS or other WIDTHS")
  a = best_a; b = best_b
  for (i = 1; i <= 3; ++i) kept[i] = law[i]
  if (predict_only) { printf "%.4f\n", value_at(target_n, target_tokens, a, b); exit }

  # Jackknife.
  for (i = 1; i <= count; ++i) {
    if (fit(names[i]) >= 1e30) fail("without width " names[i] " no power law fits the losses")
    ja[i] = best_a; jb[i] = best_b; je[i] = law[1]
    sa += best_a; sb += best_b; se += law[1]
    if (target_n) { jt[i] = value_at(target_n, target_tokens, best_a, best_b); st += jt[i] }
  }
  for (i = 1; i <= count; ++i) {
    va += (ja[i] - sa / count) ^ 2; vb += (jb[i] - sb / count) ^ 2
    ve += (je[i] - se / count) ^ 2; vt += (jt[i] - st / count) ^ 2
  }
  share = (count - 1) / count
  for (i = 1; i <= 3; ++i) law[i] = kept[i]

  print "N: parameters without embeddings. Tokens: source and target.\n"
  print "| width | N | tokens | loss | fitted |\n|---|---|---|---|---|"
  for (i = 1; i <= points; ++i)
    printf "| %s | %d | %.3g | %.4f | %.4f |\n", width[i], n[i], tokens[i], loss[i],
      value_at(n[i], tokens[i], a, b)
  printf "\nloss = E + A / N^a + B / tokens^b: "
  printf "E = %.3f ± %.3f, a = %.3f ± %.3f, b = %.3f ± %.3f,\n",
    law[1], sqrt(share * ve), a, sqrt(share * va), b, sqrt(share * vb)
  printf "A = %.4g, B = %.4g; %d points of %d runs, root mean square of the residuals %.4f\n",
    law[2] * exp(a * log(n[1])), law[3] * exp(b * log(tokens[1])), points, count,
    sqrt(squares / points)

  # FLOPs of a token: products with the weights, and with the output's, which is as wide as a
  # layer.
  for (i = 1; i <= costs; ++i) {
    x = cost_n[widths[i]]; y = flops[widths[i]]
    sxx += x * x; sxr += x * sqrt(x); srr += x; sxy += x * y; sry += sqrt(x) * y
  }
  per_n = (sxy * srr - sry * sxr) / (sxx * srr - sxr * sxr)
  per_root = (sry - per_n * sxr) / srr
  for (i = 1; i <= points; ++i) {
    budget = flops[width[i]] * tokens[i]
    if (i == 1 || budget < min_budget) min_budget = budget
    if (budget > max_budget) max_budget = budget
  }
  print "\n| FLOPs | best N | tokens | tokens per parameter | loss |\n|---|---|---|---|---|"
  rows = 0
  for (budget = min_budget; budget <= max_budget * 10.01; budget *= 10 ^ 0.5) {
    best = 1e30
    for (size_n = n[1] / 30; size_n < n[1] * 3e4; size_n *= 1.02) {
      here = value_at(size_n, budget / flops_of(size_n), a, b)
      if (here < best) { best = here; best_n = size_n }
    }
    best_tokens = budget / flops_of(best_n)
    printf "| %.2g | %.3g | %.3g | %.1f | %.3f |\n", budget, best_n, best_tokens,
      best_tokens / best_n, best
    ++rows; lx = log(budget); ly = log(best_n)
    cx += lx; cy += ly; cxx += lx * lx; cxy += lx * ly
  }
  printf "\nCompute-optimal size: N grows as FLOPs^%.2f\n",
    (rows * cxy - cx * cy) / (rows * cxx - cx * cx)

  if (parts) print "\n| width | pairs of text | best loss |\n|---|---|---|"
  for (i = 1; i <= parts; ++i) {
    printf "| %s | %d | %.4f |\n", part_width[i], pairs[i], part_loss[i]
    w = part_width[i]; lx = log(pairs[i]); ly = log(part_loss[i])
    if (!(w in pn)) order[++groups] = w
    ++pn[w]; px[w] += lx; py[w] += ly; pxx[w] += lx * lx; pxy[w] += lx * ly; pyy[w] += ly * ly
  }
  for (i = 1; i <= groups; ++i) {
    w = order[i]
    if (pn[w] < 3) continue
    d = pn[w] * pxx[w] - px[w] ^ 2
    slope = (pn[w] * pxy[w] - px[w] * py[w]) / d
    rest = pyy[w] - py[w] ^ 2 / pn[w] - slope ^ 2 * d / pn[w]
    if (rest < 0) rest = 0
    printf "\nWidth %s: loss falls as pairs^%.3f ± %.3f\n", w, slope,
      sqrt(rest / (pn[w] - 2) * pn[w] / d)
  }
  if (tested != "") {
    print "\n| width | N | tokens | predicted | measured | error |"
    print "|---|---|---|---|---|---|"
    printf "| %s | %d | %.3g | %.3f ± %.3f | %.3f | %.1f %% |\n", target_width, target_n,
      target_tokens, predicted, sqrt(share * vt), tested, 100 * (tested / predicted - 1)
  }
}
