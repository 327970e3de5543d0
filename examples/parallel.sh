#!/bin/sh
# Puts a text of any length through a command that writes one line per line, on many processes and
# machines, and keeps the order of the text:
#   sh examples/parallel.sh [OPTION]... TEXT OUT COMMAND [WORD]...
#   sh examples/parallel.sh big.en big.de tx-decode -q -m model
# The text is cut into blocks of lines. The result of a block appears whole or not at all, so after
# a kill, a reboot or a full disk the same call goes on with the blocks that are missing: no line is
# lost and none comes twice. When all blocks are there, they are joined as OUT. They stay in
# OUT.blocks, which may be removed then.
#   -j N         processes on each machine (1: tx-decode takes all processors by itself)
#   -l N         lines of a block (10000)
#   --sshloginfile FILE  machines, one a line, as GNU parallel has them: user@host, or 4/host for
#                four processes there, or : for this machine. A machine needs COMMAND, what it reads
#                and a login without a password. Where it has a folder of this name, COMMAND runs
#                there.
#   --part N/M   only every M-th block, from block N on: for M calls on machines that share their
#                files, each with its own N. The last to end joins.
# SSH, "ssh -o BatchMode=yes" unless set, is how machines are reached. A machine that fails is left
# out while others get on. Line numbers in COMMAND's messages are those of the block.
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
text=$1 out=$2 folder=$2.blocks
shift 2
mine=$(uname -n).$$ # no other call has this name
if [ ! -f "$text" ] || [ ! -r "$text" ]; then die "cannot read $text, which must be a file"; fi
LC_ALL=C # for the order of names

quoted() { printf '%s\n' "$1" | sed "s/'/'\\\\''/g; 1s/^/'/; \$s/\$/'/"; } # as a shell reads it
command='exec'
for word; do command="$command $(quoted "$word")"; done

# Whoever links the file `call` first has cut the text for all calls.
mkdir -p "$folder/out"
identity="$(cksum < "$text") $command"
if [ ! -e "$folder/call" ]; then
  mkdir "$folder/in.$mine"
  split -a 5 -l "$lines" "$text" "$folder/in.$mine/"
  printf '%s\n' "in.$mine" "$identity" > "$folder/call.$mine"
  ln "$folder/call.$mine" "$folder/call" 2> /dev/null || rm -r "$folder/in.$mine"
  rm "$folder/call.$mine"
fi
[ "$(tail -n +2 "$folder/call")" = "$identity" ] ||
  die "$folder is of another text or command; to begin anew, remove it: rm -r '$folder'"
in=$folder/$(head -n 1 "$folder/call")
blocks=$(ls "$in")
ours=$(echo "$blocks" | awk -v n="$part" -v m="$parts" 'NF && NR % m == n % m')
missing() { for block in $1; do [ -e "$folder/out/$block" ] || echo "$block"; done; }
amount() { echo "$1" | awk 'NF { n++ } END { print n + 0 }'; }

# A worker has a process on a machine and puts one block after another through it.
claim() { # prints the name of a block that nobody has
  for block in $ours; do
    if [ -e "$folder/out/$block" ] || [ -e "$claims/$block" ]; then continue; fi
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
  # The number of this call, not of the worker: without the call, no further block.
  while kill -0 $$ 2> /dev/null && block=$(claim); do
    status=0
    one "$2" "$block" "$folder/out/.$block.$mine" 2> "$messages" || status=$?
    if [ $status -eq 0 ]; then
      cat "$messages" >&2
      mv "$folder/out/.$block.$mine" "$folder/out/$block"
      : > "$claims/worked.$1"
      failed=0
      echo "parallel: $((all - $(amount "$(missing "$ours")"))) of $all blocks" >&2
      continue
    fi
    echo "parallel: block $block: $2: status $status: $(tail -n 1 "$messages")" >&2
    rm -f "$folder/out/.$block.$mine"
    if [ $status -eq 255 ]; then # ssh's own: the machine is out of reach
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
all=$(amount "$ours") left=$(missing "$ours") claims=$folder/claims.$mine pids='' able=''
trap 'rm -rf "$claims"' EXIT
trap 'kill $pids 2> /dev/null; exit 130' INT TERM HUP
# What failed is tried again as long as some block gets done, by the workers that did some.
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
  [ "$left" != "$before" ] || die "missing blocks: $(amount "$left"); call again to go on"
  able=$(for file in "$claims"/worked.*; do echo "${file##*/}"; done | paste -s -d ' ' -)
done

others=$(missing "$blocks")
if [ -n "$others" ]; then
  echo "parallel: part $part of $parts is done; blocks of others missing: $(amount "$others")" >&2
  exit 0
fi
for block in $blocks; do cat "$folder/out/$block"; done > "$folder/joined.$mine"
mv "$folder/joined.$mine" "$out"
rm -f "$folder"/out/.[!.]* # halves that killed calls have left
