# label: peer
# examples/serve: alternatives are the further outputs of --nbest, and a first line that looks like
# the beginning of another kind of file does not end a tx-decode that was started again.
python3 -c 'import sys; assert sys.version_info >= (3, 8)' 2> /dev/null || skip 'no Python 3.8'
command -v pgrep > /dev/null || skip 'no pgrep'
export PYTHONDONTWRITEBYTECODE=1
make_model model
for nbest in 1 3; do
  port=$(python3 -c 'import socket
print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])')
  list=; [ $nbest = 1 ] || list="--nbest $nbest"
  # shellcheck disable=SC2086
  python3 "$TX_SOURCE/examples/serve/libretranslate.py" --model en de model \
    --listen 127.0.0.1:"$port" -- --threads 1 --max-extra 5 $list > service 2> service.log &
  service=$!
  trap 'kill $service 2> /dev/null || true' EXIT
  until grep -q listening service 2> /dev/null; do
    kill -0 $service 2> /dev/null || fail "$(cat service.log)"
    sleep 0.05
  done
  # shellcheck disable=SC2086
  printf 'w5 w6\nw9\n\n<seg id="1">x\nBZh91AY&SY\n' |
    tx-decode -q -m model --json --threads 1 --max-extra 5 --nbest 3 > wanted
  expect_status 0 python3 - "$port" $service $nbest <<'END'
import json, os, signal, subprocess, sys, time, urllib.error, urllib.request
port, service, nbest = map(int, sys.argv[1:])
wanted = [[o["text"] for o in json.loads(line)["nbest"]] for line in open("wanted")]

def ask(q, path="translate", **more):
    body = json.dumps({"q": q, "source": "en", "target": "de", **more}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/{path}", body,
                                     {"Content-Type": "application/json"})
    try:
        return json.load(urllib.request.urlopen(request, timeout=20))
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)["error"]

def check(got, right):
    assert got == right, f"{got}, not {right}"

check(ask("w9"), {"translatedText": wanted[1][0]})
check(ask("w9", alternatives=0), {"translatedText": wanted[1][0]})
check(ask("w9", alternatives="x"), (400, "alternatives must be a number of 0 or more"))
check(ask("w9", "detect"), (404, "languages are not detected: name the source"))
if nbest == 1:
    check(ask("w9", alternatives=2),
          (400, "alternatives need a service started with -- --nbest N"))
else:
    assert len(wanted[0]) == len(wanted[1]) == 3
    check(ask("w9", alternatives=1), {"translatedText": wanted[1][0],
                                      "alternatives": [wanted[1][1]]})
    check(ask(["w9", "w5 w6\n\nw9"], alternatives=9),
          {"translatedText": [wanted[1][0], wanted[0][0] + "\n\n" + wanted[1][0]],
           "alternatives": [wanted[1][1:],
                            [wanted[0][n] + "\n\n" + wanted[1][n] for n in (1, 2)]]})
for line, texts in (('<seg id="1">x', wanted[3]), ("BZh91AY&SY", wanted[4])):
    before = subprocess.check_output(["pgrep", "-P", str(service), "tx-decode"]).split()
    os.kill(int(before[0]), signal.SIGKILL)
    for attempt in range(100):
        got = ask(line)
        if got != {"translatedText": texts[0]} and got[0] == 503:
            time.sleep(0.05)
            continue
        break
    check(got, {"translatedText": texts[0]})
for q in ("w9", ["w9", "w5 w6"]):  # the second request finds the tx-decode of the first
    tagged = [f"<p>{text}</p>" for text in ([q] if isinstance(q, str) else q)]
    best = [f"<p>{outputs[0]}</p>" for outputs in (wanted[1], wanted[0])]
    check(ask(tagged, format="html"), {"translatedText": best[:len(tagged)]})
check(ask("w9", format="pdf"), (400, "format must be text or html"))
END
  [ "$(grep -c 'ended with status' service.log)" = 2 ] || fail "$(cat service.log)"
  kill $service
  wait $service 2> /dev/null || true
done
