# A word for the scripts beside this file: . "$(dirname "$0")/peak.sh"

# peak_memory PID: the most memory that the process has held when it ends, in KiB, seen ten times a
# second.
peak_memory() {
  peak=0
  while now=$(awk '/^VmHWM/ { print $2 }' "/proc/$1/status" 2> /dev/null) && [ "$now" ]; do
    peak=$now
    sleep 0.1
  done
  echo "$peak"
}
