# label: peer
# examples/serve: the service answers well and badly behaved clients, while tx-decode is killed and
# stopped; a connection as the standard input and output of tx-decode. For a longer test:
#   TX_SERVE_SECONDS=600 TX_SERVE_CLIENTS=64 TX_SERVE_LIMIT=10 TX_SERVE_MODEL=M TX_SERVE_TEXT=FILE
python3 -c 'import sys; assert sys.version_info >= (3, 8)' 2> /dev/null || skip 'no Python 3.8'
command -v pgrep > /dev/null || skip 'no pgrep'
export PYTHONDONTWRITEBYTECODE=1

# 3,000 lines of three words, and a model that reverses them: each line has its own translation.
seq 1 3000 | awk '{ n = int($1 / 20)
  print "w" $1 % 20, "w" n % 20, "w" ($1 * 7 + int(n / 20)) % 20 }' > train.src
awk '{ print $3, $2, $1 }' train.src > train.tgt
tx-train --quiet --preset toy --layers 1 --d-model 32 --d-ff 64 --heads 2 --vocab words \
  --src train.src --tgt train.tgt --steps 300 --warmup 50 --threads 1 -o run
model=${TX_SERVE_MODEL:-run}
{
  cat "${TX_SERVE_TEXT:-train.src}"
  printf 'w1\302\205w2\342\200\250w3\n' # U+0085, U+2028
  printf 'w1\000w2\nw1\tw2\n \t \n  w1  w2 \n\357\273\277w1 w2\n\360\237\230\200 w3\n'
  printf '"\\w1\\n"\n&amp;%%20\n'
} > text
tx-decode -q --threads 1 --max-length 250 -m "$model" < text > translations
[ "$(sort -u translations | wc -l)" -ge 900 ] || fail 'too few different translations'

# The command of the unit, with a connection as its input and output, as inetd starts it.
command=$(sed -n 's|^ExecStart=/usr/bin/||p' "$TX_SOURCE/examples/serve/tx-decode@.service")
expect_status 0 python3 -c '
import socket, subprocess, sys
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
connection, _ = listener.accept()
process = subprocess.Popen(sys.argv[1:], stdin=connection, stdout=connection)
connection.close()
client.sendall(open("text", "rb").read())
client.shutdown(socket.SHUT_WR)
while data := client.recv(65536):
    sys.stdout.buffer.write(data)
sys.exit(process.wait())' ${command% *} "$model"
expect_stdout_file translations

limit=${TX_SERVE_LIMIT:-2}
port=$(python3 -c 'import socket
print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
python3 "$TX_SOURCE/examples/serve/libretranslate.py" --model en de "$model" \
  --listen 127.0.0.1:"$port" --bytes 1100000 --seconds "$limit" --connections 200 \
  -- --threads 1 --max-length 250 > service 2> service.log &
service=$!
trap 'kill $service 2> /dev/null || true' EXIT
until grep -q listening service 2> /dev/null; do
  kill -0 $service 2> /dev/null || fail "$(cat service.log)"
  sleep 0.05
done
status=0
python3 "$TX_SOURCE/tests/cli/examples/serve_clients.py" "$port" text translations \
  "${TX_SERVE_CLIENTS:-16}" "${TX_SERVE_SECONDS:-7}" $service "$limit" || status=$?
cat service.log >&2
[ $status -eq 0 ] || fail 'answers are wrong or lost'
