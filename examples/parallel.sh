#!/bin/sh
# Pipes a text of any length through a command that writes one line per line, over many processes
# and machines, and keeps the order of the lines:
#   sh examples/parallel.sh [OPTION]... TEXT OUT COMMAND [WORD]...
#   sh examples/parallel.sh big.en big.de tx-decode -q -m model
# The text is split into blocks of lines, and the output of a block is complete or missing. After a
# kill, a reboot or a full disk, the same command computes the missing blocks: no line is lost or
# duplicated. When all blocks are complete, they are joined as OUT, and OUT.blocks can be removed.
#   -j N         processes per machine (1: tx-decode uses all processors)
#   -l N         lines per block (10,000)
#   --sshloginfile FILE  machines, one per line, in the syntax of GNU parallel: user@host, 4/host
#                for four processes there, : for this machine. A machine needs COMMAND, its files, and
#                a login without a password. COMMAND runs in the directory of this name, if it exists.
#   --part N/M   only every M-th block, from block N on: for M calls on machines with a shared file
#                system, each with its own N. The last one joins the blocks.
# The variable SSH ("ssh -o BatchMode=yes") is the command that logs in. A machine that fails is not
# used again while others work. Line numbers in COMMAND's messages count from the beginning of a block.
set -eu
usage() {
  echo "usage: sh parallel.sh [-j N] [-l N] [--sshloginfile FILE] [--part N/M] TEXT OUT \
COMMAND [WORD]..." >&2
  exit 2
}
die() {
  echo "parallel: $*" >&2
  exit 1
}
number() { case $1 in '' | *[!0-9]* | 0*) usage ;; esac; }

jobs=1 lines=10000 machines='' part=1 parts=1
while :; do
  case ${1-} in -j | -l | --sshloginfile | --part) [ $# -gt 1 ] || usage ;; esac
  case ${1-} in
    -j) number "$2" && jobs=$2 ;;
    -l) number "$2" && lines=$2 ;;
    --sshloginfile) machines=$2 ;;
    --part) part=${2%/*} parts=${2#*/} && number "$part" && number "$parts" ;;
    -*) usage ;;
    *) break ;;
  esac
  shift 2
done
if [ $# -lt 3 ] || [ "$part" -gt "$parts" ]; then usage; fi
text=$1 out=$2 dir=$2.blocks
shift 2
mine=$(uname -n).$$ # unique among calls
if [ ! -f "$text" ] || [ ! -r "$text" ]; then die "cannot read $text: must be a regular file"; fi
LC_ALL=C # for the order of names

quoted() { printf '%s\n' "$1" | sed "s/'/'\\\\''/g; 1s/^/'/; \$s/\$/'/"; } # for a shell
command='exec'
for word; do command="$command $(quoted "$word")"; done

# Of several calls, the first that links its file as `call` provides the blocks for all.
mkdir -p "$dir/out"
identity="$(cksum < "$text") $command"
if [ ! -e "$dir/call" ]; then
  mkdir "$dir/in.$mine"
  split -a 5 -l "$lines" "$text" "$dir/in.$mine/"
  printf '%s\n' "in.$mine" "$identity" > "$dir/call.$mine"
  ln "$dir/call.$mine" "$dir/call" 2> /dev/null || rm -r "$dir/in.$mine"
  rm "$dir/call.$mine"
fi
[ "$(tail -n +2 "$dir/call")" = "$identity" ] ||
  die "$dir belongs to another text or command; to start over, remove it: rm -r '$dir'"
in=$dir/$(head -n 1 "$dir/call")
blocks=$(ls "$in")
ours=$(echo "$blocks" | awk -v n="$part" -v m="$parts" 'NF && NR % m == n % m')
missing() { for block in $1; do [ -e "$dir/out/$block" ] || echo "$block"; done; }
amount() { echo "$1" | awk 'NF { n++ } END { print n + 0 }'; }

# A worker runs one block after another on its machine.
claim() { # prints the name of a free block
  for block in $ours; do
    if [ -e "$dir/out/$block" ] || [ -e "$claims/$block" ]; then continue; fi
    if mkdir "$claims/$block" 2> /dev/null; then
      echo "$block"
      return 0
    fi
  done
  return 1
}
one() { # HOST BLOCK TEMPORARY
  if [ "$1" = : ]; then
    sh -c "$command" < "$in/$2" > "$3" &
  else
    ${SSH-ssh -o BatchMode=yes} "$1" "cd $(quoted "$PWD") 2> /dev/null; $command" \
      < "$in/$2" > "$3" &
  fi
  child=$!
  wait "$child" || return
  wanted=$(awk 'END { print NR }' "$in/$2") written=$(awk 'END { print NR }' "$3")
  [ "$written" -ne "$wanted" ] || return 0
  echo "the command wrote $written lines for $wanted" >&2
  return 1
}
work() { # NUMBER HOST
  child='' failed=0 messages=$claims/messages.$1
  trap 'kill $child 2> /dev/null; exit 1' TERM
  # $$ is the process of the call, not of the worker: workers end with the call.
  while kill -0 $$ 2> /dev/null && block=$(claim); do
    status=0
    one "$2" "$block" "$dir/out/.$block.$mine" 2> "$messages" || status=$?
    if [ $status -eq 0 ]; then
      cat "$messages" >&2
      mv "$dir/out/.$block.$mine" "$dir/out/$block"
      : > "$claims/worked.$1"
      failed=0
      echo "parallel: $((all - $(amount "$(missing "$ours")"))) of $all blocks" >&2
      continue
    fi
    echo "parallel: block $block: $2: status $status: $(tail -n 1 "$messages")" >&2
    rm -f "$dir/out/.$block.$mine"
    if [ $status -eq 255 ]; then # status of ssh itself: cannot connect
      rmdir "$claims/$block"
      return
    fi
    failed=$((failed + 1))
    [ $failed -lt 2 ] || return 0
  done
}

hosts=$(if [ -n "$machines" ]; then cat "$machines"; else echo :; fi | awk -v jobs="$jobs" '
  /^[ \t]*(#|$)/ { next }
  { n = jobs; host = $1 }
  host ~ /^[0-9]+\// { n = host + 0; sub(/^[0-9]+\//, "", host) }
  { while (n-- > 0) print host }')
[ -n "$hosts" ] || die "no machine in $machines"
all=$(amount "$ours") left=$(missing "$ours") claims=$dir/claims.$mine pids='' able=''
trap 'rm -rf "$claims"' EXIT
trap 'kill $pids 2> /dev/null; exit 130' INT TERM HUP
# Retry failed blocks as long as others succeed, with the workers that completed some.
while [ -n "$left" ]; do
  rm -rf "$claims"
  mkdir "$claims"
  worker=0 pids=''
  for host in $hosts; do
    worker=$((worker + 1))
    case " ${able:-worked.$worker} " in *" worked.$worker "*) ;; *) continue ;; esac
    work $worker "$host" &
    pids="$pids $!"
  done
  # shellcheck disable=SC2086  # several words
  wait $pids || :
  before=$left left=$(missing "$ours")
  [ "$left" != "$before" ] || die "missing blocks: $(amount "$left"); run it again to resume"
  able=$(for file in "$claims"/worked.*; do echo "${file##*/}"; done | paste -s -d ' ' -)
done

others=$(missing "$blocks")
if [ -n "$others" ]; then
  echo "parallel: part $part of $parts is done; missing blocks of others: $(amount "$others")" >&2
  exit 0
fi
for block in $blocks; do cat "$dir/out/$block"; done > "$dir/joined.$mine"
mv "$dir/joined.$mine" "$out"
rm -f "$dir"/out/.[!.]* # incomplete blocks of killed calls
