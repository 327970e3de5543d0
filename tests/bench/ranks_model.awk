# A model of the time of a step over ranks. Input lines are `key value...`:
#   network RANKS CALL BYTES SECONDS   output of ranks_bench; latency + bytes / rate is fitted to it
#   elements N                         parameters; 4 bytes of each are sent twice
#   batch SECONDS, update SECONDS      a batch, forward and backward, on one rank; Adam on all parameters
#   measured RANKS BATCHES SECONDS     a measured step, printed next to the model's
#   machine NAME|ELEMENTS|RANKS|BATCHES|BATCH|UPDATE|STEPS|NEAR|NEAR_RATE|FAR_RATE|LATENCY|PER_RANK
#       another machine: seconds of BATCH and UPDATE, STEPS of the training, NEAR ranks per machine
#       with NEAR_RATE bytes/s between them, FAR_RATE between machines, LATENCY seconds per call plus
#       PER_RANK for each rank
# A step over R ranks takes the batches of the busiest rank, Adam on its shard, and for each round
# of 1 MiB per rank an exchange of partial sums and an all-gather of weights. Nothing overlaps
# with the backward pass; `overlap` is the largest possible one: the exchange during the backward
# pass of the last batch, which is two thirds of its time.
function fit(call, n, i, sx, sy, sxx, sxy, w) {
  # Relative errors, so that small and large calls have the same weight.
  for (i = 1; i <= points; i++) {
    if (what[i] != call) continue
    w = 1 / (time[i] * time[i])
    n += w; sx += w * bytes[i]; sy += w * time[i]; sxx += w * bytes[i] ^ 2; sxy += w * bytes[i] * time[i]
  }
  slope[call] = (n * sxy - sx * sy) / (n * sxx - sx * sx)
  start[call] = (sy - slope[call] * sx) / n
}
function per_rank(batches, ranks) { return int((batches + ranks - 1) / ranks) }
function min(a, b) { return a < b ? a : b }
$1 == "network" { what[++points] = $3; bytes[points] = $4; time[points] = $5 }
$1 == "elements" { elements = $2 }
$1 == "batch" { batch = $2 }
$1 == "update" { update = $2 }
$1 == "measured" {
  if (!fitted++) {
    fit("exchange"); fit("gather")
    for (call in slope)
      printf "%s: %.0f us + bytes / (%.2f GB/s)\n", call, start[call] * 1e6, 1e-9 / slope[call]
    printf "%d elements; batch %.4g s, update %.4g s\n", elements, batch, update
    print "| ranks | batches | step measured, s | model, s | model / measured | communication |"
    print "|---|---|---|---|---|---|"
  }
  ranks = $2
  moved = 4 * elements * (ranks - 1) / ranks
  rounds = int(elements / (ranks * 262144)) + 1
  talk = ranks > 1 ? rounds * (start["exchange"] + start["gather"]) + moved * (slope["exchange"] + slope["gather"]) : 0
  step = per_rank($3, ranks) * batch + update / ranks + talk
  printf "| %d | %d | %.4g | %.4g | %.2f | %.0f %% |\n", ranks, $3, $4, step, step / $4, 100 * talk / step
}
$1 == "machine" {
  line = $0
  sub(/^machine /, "", line)
  split(line, m, "|")
  if (!headed++) {
    print "| machine | ranks | batches per step | step, ms | communication | max overlap | steps | hours |"
    print "|---|---|---|---|---|---|---|---|"
  }
  ranks = m[3]
  far = ranks > m[8] ? (ranks - m[8]) / ranks : 0
  near = (min(ranks, m[8]) - 1) / ranks
  rounds = int(m[2] / (ranks * 262144)) + 1
  once = ranks > 1 ? rounds * (m[11] + ranks * m[12]) + 4 * m[2] * (near / m[9] + far / m[10]) : 0
  compute = per_rank(m[4], ranks) * m[5] + m[6] / ranks
  step = compute + 2 * once
  printf "| %s | %d | %d | %.1f | %.1f %% | %.1f %% | %d | %.2f |\n", m[1], ranks, m[4],
    1e3 * step, 200 * once / step, 100 * min(once, 2 / 3 * m[5]) / step, m[7], m[7] * step / 3600
}
