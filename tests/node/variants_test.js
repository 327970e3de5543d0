// Every variant of a model that lib/model/config.h knows, in pages of tx-attn-dump --live.
//
//   variants_test.js
//
// live_table lists the keys of a configuration and the names of their values. Activations and
// position encodings are compared with its numbers. For each name, each flag and each number below
// it compares log P of given outputs with that of tx-decode, in a model with random weights.
'use strict';
const { execFileSync } = require('child_process');
const fs = require('fs');
const { open, check, run, distance } = require('./live.js');

// Another number of each key; null: not to be changed by itself.
const numbers = { source_vocabulary: null, target_vocabulary: null, encoder_layers: 1,
  decoder_layers: 3, d_model: 48, d_ff: 40, heads: 2, d_k: 12, d_v: 20, kv_heads: 2, window: 3,
  max_positions: 32, position_offset: 2, rotary_base: 50, rotary_factor: 3, rotary_low: 2,
  rotary_high: 9, rotary_length: 99, norm_epsilon: 0.5 };
// What else a key needs in order to matter.
const learned = { positions: 'learned' }, rotary = { positions: 'rotary', rotary_base: 100 };
const llama3 = { ...rotary, rotary_scaling: 'llama3', rotary_factor: 4, rotary_length: 40 };
const needs = { max_positions: learned, position_offset: learned, rotary_base: { ...rotary },
  rotary_scaling: llama3, rotary_factor: llama3, rotary_low: llama3, rotary_high: llama3,
  rotary_length: llama3 };

const exact = 1e-3;  // of log P
const ofLibrary = ['gelu', 'geglu'];  // have erf() of the C library: equal to the last bit
const words = (from, count) => Array.from({ length: count },
  (_, i) => `w${4 + (from + 7 * i * i) % 56}`).join(' ');
const sources = [words(1, 1), words(2, 5), words(3, 12), words(4, 20)];
const targets = [words(5, 3), words(6, 14), words(7, 9), words(8, 19)];

const output = (...command) => execFileSync(command[0], command.slice(1), { encoding: 'utf-8' });

function checkActivations({ inputs, activations: wanted }, activations) {
  check(String(Object.keys(activations)) === String(Object.keys(wanted)),
    `the page has the activations ${Object.keys(activations)}, tx ${Object.keys(wanted)}`);
  for (const [name, values] of Object.entries(wanted)) {
    values.forEach((value, i) => {
      const x = inputs[i], got = Math.fround(activations[name](x));
      const off = ofLibrary.includes(name) ? 2 ** -23 * Math.abs(x) : 0;
      check(Math.abs(got - value) <= off, `${name}(${x}) is ${got} instead of ${value}`);
    });
  }
}

function checkPositions({ config, positions, sinusoids, rotary, slopes }, Positions) {
  const checkRows = (name, wanted, rowOf) => positions.forEach((position, i) => {
    const off = distance(wanted[i], rowOf(position));
    check(off <= 1e-7, `${name}: position ${position} differs by ${off}`);
  });
  for (const [name, rows] of Object.entries(sinusoids)) {
    const of = new Positions({ ...config, positions: name });
    checkRows(name, rows, (position) => of.sinusoid(position));
  }
  for (const [name, rows] of Object.entries(rotary)) {
    const of = new Positions({ ...config, rotary_scaling: name });
    checkRows(`rotary, ${name}`, rows, (position) => of.rotary(position));
  }
  for (const [heads, wanted] of Object.entries(slopes)) {
    const of = new Positions({ ...config, heads: Number(heads) });
    const off = distance(wanted, wanted.map((_, head) => of.slope(head)));
    check(off <= 1e-12, `ALiBi's slopes of ${heads} heads differ by ${off}`);
  }
}

// The page of a model with these settings.
async function write(settings) {
  output('make_model', 'model', 'noise', '0.3', ...Object.entries(settings).flat().map(String));
  output('tx-attn-dump', '-m', 'model', '--html', 'page.html', '--live');
  return open('page.html');
}

// log P of tx-decode. An encoder fills masks: probabilities are in every second column.
function references(encoder) {
  const decode = (...options) => output('tx-decode', '-q', '-m', 'model', '--precision', 'int8',
    ...options, 'text').split('\n').slice(0, -1);
  if (!encoder) return decode('--json', '--tgt', 'targets').map((line) => JSON.parse(line).log_p);
  return decode().map((line) => line.split('\t').reduce(
    (sum, column, i) => sum + (i > 0 && i % 2 === 0 ? Math.log(column) : 0), 0));
}

async function checkModel(name, settings) {
  const page = await write(settings), encoder = page.config.kind === 'encoder';
  const lines = encoder ? sources.map((line) => line.replace(/w\d+$/, '<mask>')) : sources;
  fs.writeFileSync('text', lines.map((line) => `${line}\n`).join(''));
  const wanted = references(encoder);
  check(wanted.length === lines.length, `${name}: ${wanted.length} lines`);
  let largest = 0;
  for (const [i, line] of lines.entries()) {
    const { logP } = await page.live.translate(line, encoder ? {} : { target: targets[i] });
    largest = Math.max(largest, distance([logP], [wanted[i]]));
  }
  check(largest <= exact, `${name}: log P differs by ${largest}`);
  console.log(`${name}: largest difference of log P ${largest.toExponential(1)}`);
  page.close();
}

run(async () => {
  const table = JSON.parse(output('live_table')), page = await write({});
  const { activations, Positions } = page.engine('activations', 'Positions');
  page.close();
  checkActivations(table, activations);
  checkPositions(table, Positions);
  fs.writeFileSync('targets', targets.map((line) => `${line}\n`).join(''));
  for (const [key, values] of Object.entries(table.fields)) {
    const flag = values === 'bool', number = values === 'number';
    check(!number || key in numbers, `${key} is a new number: add it to variants_test.js`);
    const list = flag ? [!table.config[key]] : number ? [numbers[key]] : values;
    for (const value of list.filter((one) => one !== null)) {
      await checkModel(`${key} ${value}`, { ...needs[key], [key]: value });
    }
  }
});
