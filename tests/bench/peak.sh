# A word for the scripts beside this file: . "$(dirname "$0")/peak.sh"

# peak_memory PID [SECONDS]: the most memory that the process has held when it ends, in KiB, looked at
# every tenth of a second or so.
peak_memory() {
  peak=0
  while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$1/status" 2> /dev/null) && [ "$now" ]; do
    peak=$now
    sleep "${2:-0.1}"
  done
  echo "$peak"
}
