"""Compares the engine of pages of tx-attn-dump --live with tx-decode and tx-attn-dump.

    live_engine_test.py

Runs in the directory of live_engine.sh, which writes the pages NAME.html, the sentences `text`,
`prefixes`, `targets`, and the reference outputs NAME.CHECK.
"""
import json
import pathlib

from browser import Browser, fail

SCRIPTS = pathlib.Path(__file__).parents[2] / "lib/live/page"
EXACT = 1e-3  # of log P with 8-bit weights
ROUNDED = 0.02  # with weights in f16, of models in fp32

# open(changes of the configuration): a model of the page; weightOf(name): a matrix in fp32.
HELPERS = """
var data = JSON.parse(document.getElementById('data').textContent);
var plain = JSON.stringify(data);
globalThis.open = async (config) => {
  data = JSON.parse(plain);
  Object.assign(data.models[0].config, config);
  globalThis.live = new LiveModel(0);
  return live.ready();
};
globalThis.weightOf = (name) => {
  globalThis.weights ??= decodeWeights(data.models[0],
    document.getElementById('weights-0').textContent.trim());
  return weights.get(`${name}.weight`);
};
globalThis.distance = (a, b) => a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0);
"""


def lines_of(path):
    return pathlib.Path(path).read_text(encoding="utf-8").splitlines()


def records_of(path):
    return [json.loads(line) for line in lines_of(path)]


class Model:
    """The model of NAME.html, opened with changes of its configuration."""

    def __init__(self, browser, name, **config):
        self.name = name
        self.page = browser.open(f"{name}.html")
        for script in ("client.js", "weights.js"):
            self.page.value((SCRIPTS / script).read_text(encoding="utf-8"))
        self.page.value(HELPERS)
        self.page.value(f"open({json.dumps(config)}).then(() => null)")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.page.value("live.worker.terminate()")
        self.page.close()

    def run(self, body):
        """The value of an asynchronous function with this body."""
        return self.page.value(f"(async () => {{ {body} }})()")

    def translate(self, line, options):
        return self.run(f"""const result = await live.translate({json.dumps(line)},
            {json.dumps(options)});
          return {{ ...result, attention: Object.keys(result.attention) }};""")

    def compare(self, check, options, off=EXACT, lines="text"):
        """options: of all lines, or a function of the index of a line."""
        wanted = records_of(f"{self.name}.{check}")
        outputs = []
        for number, (line, record) in enumerate(zip(lines_of(lines), wanted, strict=True)):
            got = self.translate(line, options(number) if callable(options) else options)
            where = f"{self.name}, {check}, line {number + 1}"
            text = record["text"]
            if check.startswith("prefix"):  # tokens
                text = text.replace(" ", "").replace("\u2581", " ").removeprefix(" ")
            if got["text"] != text:
                fail(f"{where}: {got['text']!r} instead of {text!r}")
            if not abs(got["logP"] - record["log_p"]) <= off:
                fail(f"{where}: log P {got['logP']} instead of {record['log_p']}")
            outputs.append(got)
        print(f"{self.name}: {check} of {len(wanted)} lines")
        return outputs


def check_tree(result, beam):
    """The beam tree: sums, sizes, and the path of the output."""
    nodes = result["tree"]["nodes"]
    kept = {}
    for place, node in enumerate(nodes):
        parent = nodes[node["parent"]] if node["parent"] >= 0 else {"step": 0, "total": 0}
        if node["parent"] >= place or node["step"] != parent["step"] + 1:
            fail(f"node {place} of the tree follows node {node['parent']}")
        if abs(parent["total"] + node["logP"] - node["total"]) > 1e-9:
            fail(f"node {place} of the tree has log P {node['total']}")
        kept.setdefault(node["step"], []).append(node["kept"])
        if node["final"] and node["token"] != "</s>":
            fail(f"node {place} of the tree ends with {node['token']}")
    for step, flags in kept.items():
        if len(flags) > 2 * beam * beam or sum(flags) > 2 * beam:
            fail(f"step {step} of the tree has {len(flags)} nodes")
    path = [node["id"] for node in nodes if node["chosen"]]
    if path != result["ids"]:
        fail(f"the tree has the path {path}, the output is {result['ids']}")


def check_search(browser):
    with Model(browser, "post") as model:
        for result in model.compare("beam", {"beam": 4}):
            check_tree(result, 4)
        prefixes = lines_of("prefixes")
        for beam in (1, 4):
            model.compare(f"prefix{beam}", lambda line: {"beam": beam, "prefix": prefixes[line]})
        targets = lines_of("targets")
        results = model.compare("target", lambda line: {"target": targets[line]})
        for result in results:  # every step shows the most probable tokens, best first
            for step in result["steps"]:
                top = [choice["logP"] for choice in step["top"]]
                if len(top) != 10 or top != sorted(top, reverse=True):
                    fail(f"the choices of a step have log P {top}")
        check_temperature(model)
        check_newest(model)
    with Model(browser, "decoder") as model:
        model.compare("target", lambda line: {"target": targets[line]})


def check_temperature(model):
    """Temperature 2 halves the distance of two tokens' log P."""
    gaps = [model.run(f"""const result = await live.translate('one two',
        {{ changes: {{ outputTemperature: {heat} }} }});
      const [first, second] = result.steps[0].top;
      return first.logP - second.logP;""") for heat in (1, 2)]
    if abs(gaps[0] - 2 * gaps[1]) > 1e-4:
        fail(f"distances {gaps} at the temperatures 1 and 2")


def check_newest(model):
    """A newer call replaces the older one."""
    got = model.run("""const first = live.translate('one two three', { beam: 4 })
        .catch((error) => error.name);
      const second = live.translate('four');
      live.values({ kind: 'cross', layer: 0, head: 0, query: 0 });
      const outcome = [await first, (await second).source.tokens.length > 1];
      const third = live.translate('five').catch((error) => error.name);
      live.cancel();
      return [...outcome, await third, (await live.translate('six')).complete];""")
    if got != ["AbortError", True, "AbortError", True]:
        fail(f"calls that replace each other: {got}")


def check_changes(browser):
    """Changes against models trained so, and against tx-decode --mask-heads."""
    heads = ["encoder.0.1", "decoder.1.0", "cross.0.1"]
    with Model(browser, "modern") as model:
        model.compare("heads", {"changes": {"heads": heads}}, ROUNDED)
        model.compare("nocross", {"changes": {"sublayers": ["decoder.1.cross_attn"]}}, ROUNDED)
        check_residual(model)
    with Model(browser, "unscaled", scaled_attention=True) as model:
        model.compare("greedy", {"changes": {"scale": False}})
        d_k = model.run("return data.models[0].config.d_k")
        same = model.translate("one two three", {"changes": {"scale": False,
                                                             "attentionTemperature": d_k**0.5}})
        if abs(same["logP"] - model.translate("one two three", {})["logP"]) > EXACT:
            fail("the temperature sqrt(d_k) is not the scaling")
    for positions in ("sinusoid", "rotary", "alibi"):
        with Model(browser, "unordered", positions=positions) as model:
            model.compare("greedy", {"changes": {"positions": False}})
    targets = lines_of("targets")
    with Model(browser, "uncausal", causal_mask=True) as model:
        for line, record in zip(lines_of("text"), records_of("uncausal.attention"), strict=True):
            got = model.translate(line, {"target": targets[record["line"] - 1],
                                         "changes": {"causal": False}})
            off = max(abs(step["logP"] - log_p)
                      for step, log_p in zip(got["steps"], record["log_p"], strict=True))
            if off > ROUNDED:
                fail(f"without the causal mask log P differs by {off}")
        free = model.translate("one two three", {"changes": {"causal": False}})
        if not free["steps"]:
            fail("no output without the causal mask")
    print("changes of 6 models")


def check_residual(model):
    got = model.run("""await live.translate('one two three', { changes: { residual: false } });
      const { values } = await live.values({ kind: 'cross', layer: 1, head: 0, query: 1 });
      return distance(values.residual.data, values.projected.data);""")
    if got != 0:
        fail(f"without residual connections the sum differs from the sub-layer by {got}")


VALUES = """
const record = RECORD, { config } = data.models[0];
const result = await live.translate(LINE, record.target ? { target: TARGET } : {});
const worst = { sum: 0, weights: 0, scaled: 0, head: 0, joined: 0, projected: 0, q: 0, residual: 0,
  ffn: 0, record: 0 };
const note = (name, off) => { worst[name] = Math.max(worst[name], Number.isNaN(off) ? 1e9 : off); };
const product = (x, { rows, cols, data: w }) => Float32Array.from({ length: rows },
  (_, j) => x.reduce((sum, value, i) => sum + value * w[j * cols + i], 0));
for (const [kind, layers] of Object.entries(result.attention)) {
  for (let layer = 0; layer < layers.length; ++layer) {
    for (let head = 0; head < config.heads; ++head) {
      const map = layers[layer][head];
      for (const query of [0, map.rows - 1]) {
        const { values, keys } = await live.values({ kind, layer, head, query });
        const all = Object.fromEntries(Object.entries(values).map(([k, v]) => [k, v.data]));
        const { weights, v, scores, scaled, joined } = all, dv = config.d_v;
        const part = kind === 'encoder' ? 'encoder' : 'decoder';
        const at = `${part}.layers.${layer}.${kind === 'cross' ? 'cross' : 'self'}_attn`;
        if (keys !== map.cols) throw new Error(`${keys} keys, ${map.cols} columns`);
        note('sum', Math.abs(weights.reduce((a, b) => a + b, 0) - 1));
        note('weights', distance(weights, map.data.slice(query * keys, (query + 1) * keys)));
        note('scaled', distance(scaled, scores.map((x) => x / Math.sqrt(config.d_k))));
        const mixed = Float32Array.from({ length: dv },
          (_, l) => weights.reduce((sum, w, j) => sum + w * v[j * dv + l], 0));
        note('head', distance(all.head, mixed));
        note('joined', distance(all.head, joined.slice(head * dv, (head + 1) * dv)));
        note('projected', distance(all.projected, product(joined, weightOf(`${at}.out_proj`))));
        if (config.positions !== 'rotary') {
          const q = product(all.normed ?? all.x, weightOf(`${at}.q_proj`));
          note('q', distance(all.q, q.slice(head * config.d_k, (head + 1) * config.d_k)));
        }
        note('residual', distance(all.residual, all.x.map((x, i) => x + all.projected[i])));
        note('ffn', distance(all.ffn_residual, all.ffn_x.map((x, i) => x + all.ffn_out[i])));
        for (const name of ['q', 'k', 'v', 'scores', 'scaled', 'masked']) {
          const whole = record[name][kind][layer][head];
          const wanted = name === 'k' || name === 'v' ? whole.flat() : whole[query];
          [...all[name]].forEach((x, i) => {
            if (wanted[i] !== null) note('record', Math.abs(x - wanted[i]));
            else if (x !== -Infinity) note('record', 1e9);
          });
        }
        note('record', distance(weights, record[kind][layer][head][query]));
        note('record', distance(all.head, record.context[kind][layer][head][query]));
        note('record', distance(all.projected, record.output[kind][layer][query]));
      }
    }
  }
}
return worst;
"""


def check_values(browser):
    """values() against tx-attn-dump, and the equations of the paper between them."""
    targets = lines_of("targets")
    for name in ("modern", "unordered-f16", "distant"):
        with Model(browser, name) as model:
            record = records_of(f"{name}.attention")[0]
            worst = model.run(VALUES.replace("RECORD", json.dumps(record), 1)
                              .replace("LINE", json.dumps(lines_of("text")[0]), 1)
                              .replace("TARGET", json.dumps(targets[0]), 1))
            if worst.pop("record") > ROUNDED or max(worst.values()) > 1e-4:
                fail(f"{name}: values differ: {worst}")
            print(f"{name}: values")


def check_vectors(browser):
    """A worker of the page may compile WebAssembly: pages without it are slow."""
    page = browser.open("post.html")
    page.expect("""new Promise((done) => {
      const code = `let able = true;
        try { new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)); }
        catch { able = false; }
        postMessage(able);`;
      const worker = new Worker(URL.createObjectURL(new Blob([code])));
      worker.onmessage = (event) => done(event.data);
    })""")
    page.close()


with Browser() as browser:
    check_vectors(browser)
    check_search(browser)
    check_changes(browser)
    check_values(browser)
