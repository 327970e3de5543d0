// A model in a worker, so that the page stays responsive while it translates.
class LiveModel {
  // index: of data.models.
  constructor(index) {
    const code = `'use strict';\n${document.getElementById('engine').textContent}`;
    const address = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
    this.worker = new Worker(address);
    this.calls = new Map();
    this.number = 0;
    this.worker.addEventListener('message', (event) => this.receive(event.data));
    this.worker.addEventListener('error', (event) => this.fail(event.message));
    this.loaded = this.call('load', { model: data.models[index],
      base64: document.getElementById(`weights-${index}`).textContent.trim() },
    (fraction) => this.watcher?.(fraction));
    this.loaded.catch(() => {});  // ready() reports it
  }

  call(name, parameters, progress) {
    const number = ++this.number;
    return new Promise((resolve, reject) => {
      this.calls.set(number, { name, resolve, reject, progress });
      this.worker.postMessage({ number, call: name, ...parameters });
    });
  }

  receive({ number, progress, result, error }) {
    const call = this.calls.get(number);
    if (!call) return;
    if (progress !== undefined) {
      call.progress?.(progress);
      return;
    }
    this.calls.delete(number);
    if (!error) call.resolve(result);
    else call.reject(Object.assign(new Error(error.message), { name: error.name }));
  }

  fail(message) {
    for (const { reject } of this.calls.values()) reject(new Error(message));
    this.calls.clear();
  }

  // Resolves to { name, kind, config, lowercase } when the weights are decoded; progress(fraction).
  ready(progress) {
    this.watcher = progress;
    return this.loaded;
  }

  // The tokens of a text: { ids, tokens: [{ id, text, start, end }] }.
  tokenize(text) { return this.call('tokenize', { text }); }

  // Translates, continues or fills `text`, see search.js for the options; progress(text so far).
  // Replaces the call that is still running, which then throws an AbortError.
  translate(text, options = {}, progress = undefined) {
    this.drop();
    return this.call('translate', { text, options }, progress);
  }

  // The values of { kind, layer, head, query } in the last translation.
  values(place) { return this.call('values', { place }); }

  cancel() {
    this.drop();
    this.worker.postMessage({ number: ++this.number, call: 'cancel' });
  }

  // Rejects the translations that are still running.
  drop() {
    for (const [number, { name, reject }] of this.calls) {
      if (name !== 'translate') continue;
      this.calls.delete(number);
      reject(new DOMException('a newer request replaced it', 'AbortError'));
    }
  }
}
