// Compares the engine of pages of tx-attn-dump --live with tx-decode and tx-attn-dump.
//
//   engine_test.js
//
// Runs in the directory of live_engine.sh, which writes the pages NAME.html, the sentences `text`,
// `prefixes`, `targets`, and the reference outputs NAME.CHECK.
'use strict';
const { open, linesOf, recordsOf, check, run, distance } = require('./live.js');

const exact = 1e-3;  // of log P with 8-bit weights
const rounded = 0.02;  // with weights in f16, of models in fp32
const [text, prefixes, targets] = ['text', 'prefixes', 'targets'].map(linesOf);

// Runs test(page) on the page NAME.html, with changes of its configuration.
async function within(name, config, test) {
  const page = await open(`${name}.html`, { config });
  page.name = name;
  await test(page);
  page.close();
}

// optionsOf(i): the options of line i. Returns the results.
async function compare({ name, live }, kind, optionsOf, off = exact) {
  const wanted = recordsOf(`${name}.${kind}`), results = [];
  check(wanted.length === text.length, `${name}: ${wanted.length} lines of ${kind}`);
  for (const [i, record] of wanted.entries()) {
    const result = await live.translate(text[i], optionsOf(i));
    const where = `${name}, ${kind}, line ${i + 1}`;
    const right = !kind.startsWith('prefix') ? record.text  // else tokens
      : record.text.replaceAll(' ', '').replaceAll('\u2581', ' ').replace(/^ /, '');
    check(result.text === right, `${where}: "${result.text}" instead of "${right}"`);
    const got = [result.logP, result.score], both = [record.log_p, record.score];
    check(distance(got, both) <= off, `${where}: log P and score ${got} instead of ${both}`);
    results.push(result);
  }
  console.log(`${name}: ${kind} of ${wanted.length} lines`);
  return results;
}

// The beam tree: sums, sizes, and the path of the output.
function checkTree({ tree: { nodes }, ids }, beam) {
  const steps = new Map();
  nodes.forEach((node, place) => {
    const parent = nodes[node.parent] ?? { step: 0, total: 0 };
    check(node.parent < place && node.step === parent.step + 1,
      `node ${place} of the tree follows node ${node.parent}`);
    check(Math.abs(parent.total + node.logP - node.total) <= 1e-9,
      `node ${place} of the tree has log P ${node.total}`);
    check(!node.final || node.token === '</s>',
      `node ${place} of the tree ends with ${node.token}`);
    steps.set(node.step, [...steps.get(node.step) ?? [], node.kept]);
  });
  for (const [step, kept] of steps) {
    check(kept.length <= 2 * beam * beam && kept.filter(Boolean).length <= 2 * beam,
      `step ${step} of the tree has ${kept.length} nodes`);
  }
  const path = nodes.filter(({ chosen }) => chosen).map(({ id }) => id);
  check(String(path) === String(ids), `the tree has the path ${path}, the output is ${ids}`);
}

async function checkSearch() {
  await within('post', {}, async (page) => {
    for (const result of await compare(page, 'beam', () => ({ beam: 4 }))) checkTree(result, 4);
    for (const beam of [1, 4]) {
      await compare(page, `prefix${beam}`, (i) => ({ beam, prefix: prefixes[i] }));
    }
    for (const { steps } of await compare(page, 'target', (i) => ({ target: targets[i] }))) {
      for (const { top } of steps) {  // the most probable tokens, best first
        const logP = top.map((choice) => choice.logP);
        check(logP.length === 10 && logP.every((x, i) => i === 0 || x <= logP[i - 1]),
          `the choices of a step have log P ${logP}`);
      }
    }
    await checkTemperature(page);
    await checkNewest(page);
  });
  await within('decoder', {}, (page) => compare(page, 'target', (i) => ({ target: targets[i] })));
}

// Temperature 2 halves the distance of two tokens' log P.
async function checkTemperature({ live }) {
  const gaps = [];
  for (const outputTemperature of [1, 2]) {
    const { steps } = await live.translate('one two', { changes: { outputTemperature } });
    gaps.push(steps[0].top[0].logP - steps[0].top[1].logP);
  }
  check(Math.abs(gaps[0] - 2 * gaps[1]) <= 1e-4, `distances ${gaps} at the temperatures 1 and 2`);
}

// A newer call replaces the older one.
async function checkNewest({ live }) {
  const nameOf = (call) => call.catch(({ name }) => name);
  const first = nameOf(live.translate('one two three', { beam: 4 }));
  const second = live.translate('four');
  live.values({ kind: 'cross', layer: 0, head: 0, query: 0 });
  const outcome = [await first, (await second).source.tokens.length > 1];
  const third = nameOf(live.translate('five'));
  live.cancel();
  outcome.push(await third, (await live.translate('six')).complete);
  check(String(outcome) === 'AbortError,true,AbortError,true',
    `calls that replace each other: ${outcome}`);
}

// Changes against models trained so, and against tx-decode --mask-heads.
async function checkChanges() {
  await within('modern', {}, async (page) => {
    const heads = ['encoder.0.1', 'decoder.1.0', 'cross.0.1'];
    const sublayers = ['decoder.1.cross_attn'];
    await compare(page, 'heads', () => ({ changes: { heads } }), rounded);
    await compare(page, 'nocross', () => ({ changes: { sublayers } }), rounded);
    await page.live.translate('one two three', { changes: { residual: false } });
    const { values } = await page.live.values({ kind: 'cross', layer: 1, head: 0, query: 1 });
    const off = distance(values.residual.data, values.projected.data);
    check(off === 0, `without residual connections the sum differs from the sub-layer by ${off}`);
  });
  await within('unscaled', { scaled_attention: true }, async (page) => {
    await compare(page, 'greedy', () => ({ changes: { scale: false } }));
    const changes = { scale: false, attentionTemperature: page.config.d_k ** 0.5 };
    const same = await page.live.translate('one two three', { changes });
    const plain = await page.live.translate('one two three');
    check(Math.abs(same.logP - plain.logP) <= exact,
      'the temperature sqrt(d_k) is not the scaling');
  });
  for (const positions of ['sinusoid', 'rotary', 'alibi']) {
    await within('unordered', { positions },
      (page) => compare(page, 'greedy', () => ({ changes: { positions: false } })));
  }
  await within('uncausal', { causal_mask: true }, async ({ live }) => {
    for (const [i, record] of recordsOf('uncausal.attention').entries()) {
      const { steps } = await live.translate(text[i],
        { target: targets[record.line - 1], changes: { causal: false } });
      const off = distance(record.log_p, steps.map(({ logP }) => logP));
      check(off <= rounded, `without the causal mask log P differs by ${off}`);
    }
    const free = await live.translate('one two three', { changes: { causal: false } });
    check(free.steps.length > 0, 'no output without the causal mask');
  });
  console.log('changes of 6 models');
}

// values() against tx-attn-dump, and the equations of the paper between them.
async function checkValues() {
  for (const name of ['modern', 'unordered-f16', 'distant']) {
    await within(name, {}, async (page) => {
      const record = recordsOf(`${name}.attention`)[0], largest = {};
      const { attention } = await page.live.translate(text[0],
        record.target ? { target: targets[0] } : {});
      const { decodeWeights } = page.engine('decodeWeights');
      const weights = decodeWeights(page.model, page.text('weights-0').trim());
      for (const [kind, layers] of Object.entries(attention)) {
        for (const [layer, heads] of layers.entries()) {
          for (const [head, map] of heads.entries()) {
            for (const query of [0, map.rows - 1]) {
              const got = await page.live.values({ kind, layer, head, query });
              const off = { ...equations(page.config, weights, got, map),
                record: fromRecord(record, got) };
              for (const key in off) largest[key] = Math.max(largest[key] ?? 0, off[key]);
            }
          }
        }
      }
      for (const [key, off] of Object.entries(largest)) {
        check(off <= (key === 'record' ? rounded : 1e-4), `${name}: ${key} differs by ${off}`);
      }
      console.log(`${name}: values`);
    });
  }
}

// x W^T.
const product = (x, { rows, cols, data }) => Array.from({ length: rows },
  (_, j) => x.reduce((sum, value, i) => sum + value * data[j * cols + i], 0));

const valuesOf = ({ values }) => Object.fromEntries(
  Object.entries(values).map(([name, { data }]) => [name, data]));

// How far the values of a row of a head are from the equations between them.
function equations({ d_k: dk, d_v: dv, positions }, weights, got, map) {
  const { kind, layer, head, query, keys } = got, all = valuesOf(got);
  const stack = kind === 'encoder' ? 'encoder' : 'decoder';
  const at = `${stack}.layers.${layer}.${kind === 'cross' ? 'cross' : 'self'}_attn`;
  const ofHead = (list, width) => list.slice(head * width, (head + 1) * width);
  const sum = (a, b) => a.map((x, i) => x + b[i]);
  const mean = Array.from({ length: dv },
    (_, l) => all.weights.reduce((total, w, j) => total + w * all.v[j * dv + l], 0));
  const off = {
    keys: Math.abs(keys - map.cols),
    sum: Math.abs(all.weights.reduce((a, b) => a + b, 0) - 1),
    weights: distance(all.weights, map.data.slice(query * keys, (query + 1) * keys)),
    scaled: distance(all.scaled, all.scores.map((x) => x / Math.sqrt(dk))),
    head: distance(all.head, mean),
    joined: distance(all.head, ofHead(all.joined, dv)),
    projected: distance(all.projected, product(all.joined, weights.get(`${at}.out_proj.weight`))),
    residual: distance(all.residual, sum(all.x, all.projected)),
    ffn: distance(all.ffn_residual, sum(all.ffn_x, all.ffn_out)),
  };
  if (positions !== 'rotary') {
    const q = product([...all.normed ?? all.x], weights.get(`${at}.q_proj.weight`));
    off.q = distance(all.q, ofHead(q, dk));
  }
  return off;
}

// How far they are from a record of tx-attn-dump, where masked scores are null.
function fromRecord(record, got) {
  const { kind, layer, head, query } = got, all = valuesOf(got);
  const numbers = (list) => list.flat().map((x) => x ?? -Infinity);
  const finite = (list) => [...list].map((x) => (x === -Infinity ? -1e30 : x));
  const off = (value, wanted) => distance(finite(numbers(wanted)), finite(value));
  const parts = ['q', 'k', 'v', 'scores', 'scaled', 'masked'].map((name) => {
    const whole = record[name][kind][layer][head];
    return off(all[name], name === 'k' || name === 'v' ? whole : whole[query]);
  });
  return Math.max(...parts, off(all.weights, record[kind][layer][head][query]),
    off(all.head, record.context[kind][layer][head][query]),
    off(all.projected, record.output[kind][layer][query]));
}

run(async () => {
  await checkSearch();
  await checkChanges();
  await checkValues();
});
