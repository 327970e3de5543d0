# A model of the time of a step over ranks; the lines are `key value...`:
#   network RANKS CALL BYTES SECONDS   what ranks_bench prints, to which the network is fitted:
#                                      seconds = latency + bytes / rate
#   elements N                         of the flat block; 4 bytes each are moved twice
#   batch SECONDS, update SECONDS      of one rank: forward and backward of a batch; Adam over all
#   measured RANKS BATCHES SECONDS     a step, printed beside what the model says of it
#   machine NAME|ELEMENTS|RANKS|BATCHES|BATCH|UPDATE|STEPS|NEAR|NEAR_RATE|FAR_RATE|LATENCY|PER_RANK
#       a machine that is not here: seconds of BATCH and UPDATE, STEPS of the training, NEAR ranks of
#       a machine joined at NEAR_RATE bytes a second, the others at FAR_RATE, and LATENCY seconds of a
#       call with PER_RANK more for each rank
# A step over R ranks: the most batches that a rank has, Adam over its part of the block, and in each
# round of pieces of 1 MiB a rank an exchange of partial sums and a gathering of weights. Nothing is
# hidden behind the backward pass; `hidden` says how much of the communication could be at most: the
# exchange behind the two thirds of the last batch that are backward.
function fit(call, n, i, sx, sy, sxx, sxy, w) {
  # Relative errors count, so small and large calls weigh alike.
  for (i = 1; i <= points; i++) {
    if (what[i] != call) continue
    w = 1 / (time[i] * time[i])
    n += w; sx += w * bytes[i]; sy += w * time[i]; sxx += w * bytes[i] ^ 2; sxy += w * bytes[i] * time[i]
  }
  slope[call] = (n * sxy - sx * sy) / (n * sxx - sx * sx)
  start[call] = (sy - slope[call] * sx) / n
}
function most(batches, ranks) { return int((batches + ranks - 1) / ranks) }
function least(a, b) { return a < b ? a : b }
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
  step = most($3, ranks) * batch + update / ranks + talk
  printf "| %d | %d | %.4g | %.4g | %.2f | %.0f %% |\n", ranks, $3, $4, step, step / $4, 100 * talk / step
}
$1 == "machine" {
  line = $0
  sub(/^machine /, "", line)
  split(line, m, "|")
  if (!headed++) {
    print "| machine | ranks | batches a step | step, ms | communication | of it hidden at most | steps | hours |"
    print "|---|---|---|---|---|---|---|---|"
  }
  ranks = m[3]
  far = ranks > m[8] ? (ranks - m[8]) / ranks : 0
  near = (least(ranks, m[8]) - 1) / ranks
  rounds = int(m[2] / (ranks * 262144)) + 1
  once = ranks > 1 ? rounds * (m[11] + ranks * m[12]) + 4 * m[2] * (near / m[9] + far / m[10]) : 0
  compute = most(m[4], ranks) * m[5] + m[6] / ranks
  step = compute + 2 * once
  printf "| %s | %d | %d | %.1f | %.1f %% | %.1f %% | %d | %.2f |\n", m[1], ranks, m[4],
    1e3 * step, 200 * once / step, 100 * least(once, 2 / 3 * m[5]) / step, m[7], m[7] * step / 3600
}
