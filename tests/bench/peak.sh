# For the other scripts: . "$(dirname "$0")/peak.sh"

# peak_memory PID [SECONDS]: waits for the process and prints its peak memory in KiB; polls every
# 0.1 SECONDS.
peak_memory() {
  peak=0
  while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$1/status" 2> /dev/null) && [ "$now" ]; do
    peak=$now
    sleep "${2:-0.1}"
  done
  echo "$peak"
}
