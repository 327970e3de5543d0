// Runs pages of tx-attn-dump --live in Node.js, without a browser: the engine and the weights that
// a page contains, in a thread for the Web Worker, behind lib/live/page/client.js.
//
//   const page = await open('page.html');
//   await page.live.translate('one two', { beam: 4 });
//   page.close();
//
// A failing assertion ends the script with a message and status 1.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');
const { Worker: Thread } = require('worker_threads');

// What the engine uses of a Web Worker.
const worker = `'use strict';
  {
    const { parentPort: port } = require('worker_threads');
    globalThis.postMessage = (message) => port.postMessage(message);
    globalThis.addEventListener = (type, listener) =>
      port.on(type, (data) => listener({ data }));
  }\n`;

class WebWorker {
  constructor(code) { this.thread = new Thread(worker + code, { eval: true }); }

  addEventListener(type, listener) {
    this.thread.on(type, (value) => listener(type === 'message' ? { data: value } : value));
  }

  postMessage(message) { this.thread.postMessage(message); }
}

class Page {
  // config: changes of the configuration. prelude: a script to run before the engine.
  constructor(file, { config = {}, prelude = '' } = {}) {
    this.html = fs.readFileSync(file, 'utf-8');
    const data = JSON.parse(this.text('data'));
    Object.assign(data.models[0].config, config);
    [this.model] = data.models;
    const client = fs.readFileSync(path.join(__dirname, '../../lib/live/page/client.js'), 'utf-8');
    const LiveModel = vm.runInNewContext(`${client}; LiveModel`, {
      data, DOMException, Worker: WebWorker,
      Blob: class { constructor([code]) { this.code = code; } },
      URL: { createObjectURL: ({ code }) => prelude + code },
      document: { getElementById: (id) => ({ textContent: this.text(id) }) },
    });
    this.live = new LiveModel(0);
  }

  // The text of the script element `id`.
  text(id) {
    const begin = this.html.indexOf('>', this.html.indexOf(` id="${id}"`)) + 1;
    return this.html.slice(begin, this.html.indexOf('</script>', begin));
  }

  get config() { return this.model.config; }

  // Names of the engine's scripts: { NAME: value }.
  engine(...names) {
    const run = new Function('addEventListener', `${this.text('engine')};
      return { ${names.join(', ')} };`);
    return run(() => {});
  }

  close() { this.live.worker.thread.terminate(); }
}

async function open(file, options) {
  const page = new Page(file, options);
  await page.live.ready();
  return page;
}

const linesOf = (file) => fs.readFileSync(file, 'utf-8').split('\n').slice(0, -1);
const recordsOf = (file) => linesOf(file).map((line) => JSON.parse(line));

function check(condition, message) {
  if (!condition) throw new Error(message);
}

// Runs the tests of a script.
function run(main) {
  main().then(() => process.exit(0), (error) => {
    console.error(`FAILED: ${error.stack}`);
    process.exit(1);
  });
}

// The largest distance of two lists of numbers; infinite if one is not a number.
function distance(a, b) {
  let largest = 0;
  for (let i = 0; i < a.length; ++i) {
    const off = Math.abs(a[i] - b[i]);
    if (!(off <= largest)) largest = Number.isNaN(off) ? Infinity : off;
  }
  return largest;
}

module.exports = { open, linesOf, recordsOf, check, run, distance };
