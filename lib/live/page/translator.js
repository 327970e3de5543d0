// What a model does with a text, and the trace of what it did last.
class Translator {
  // vocabulary: { forbidden, byteOf, firstToken, closing, ends } of the predicted side.
  constructor(engine, { forbidden, byteOf = null, firstToken = -1, closing = [eosId], ends = [] }) {
    this.engine = engine;
    this.forbidden = new Set(forbidden);
    this.guard = byteOf && byteOf.some((byte) => byte >= 0x80) ? new Utf8Guard(byteOf) : null;
    this.lead = firstToken >= 0 ? [firstToken] : [];  // read after <s>, before the output
    this.closing = closing;
    this.ends = ends;  // end an output as </s> does
    this.last = null;  // the input of the last trace
  }

  settings(options) {
    return { beam: 1, alpha: 0.6, prefix: [], top: 10, ...options, changes: options.changes ?? {} };
  }

  // An encoder-decoder translates `source`, ids without </s>.
  async translate(source, options = {}) {
    const { engine } = this, settings = this.settings(options);
    const ids = source.slice(0, Math.min(1024, engine.maxPositions - 1));
    if (!ids.length) return Translator.nothing();
    const { maxExtra = 50, prefix, changes } = settings;
    const longest = Math.min(engine.maxPositions - this.lead.length,
      Math.max(ids.length, prefix.length) + maxExtra + 1);
    const read = [...ids, ...this.closing];
    const cross = await engine.crossCaches(await engine.encode(read, changes));
    return this.output({ source: read, begin: [bosId, ...this.lead], cross, longest }, settings);
  }

  // A decoder continues `prompt`.
  async continue(prompt, options = {}) {
    const { engine } = this, settings = this.settings(options), { maxExtra = 100 } = settings;
    const limit = engine.maxPositions;
    const most = Math.min(1024, Math.max(Math.floor(limit / 2), limit - 1 - maxExtra));
    const ids = prompt.length > most ? prompt.slice(-most) : prompt;
    if (!ids.length && !settings.target) return Translator.nothing();  // as tx-decode
    const longest = Math.min(limit - ids.length, Math.max(settings.prefix.length, maxExtra) + 1);
    return this.output({ source: ids, begin: [bosId, ...ids], cross: null, longest }, settings);
  }

  static nothing() {
    return { source: [], inputs: [], ids: [], steps: [], logP: 0, score: 0, complete: true,
      attention: {} };
  }

  // The state before the last token of `begin` is read.
  async begin({ begin, cross }, changes) {
    const { engine } = this;
    const state = { caches: engine.makeCaches(engine.stacks.decoder), cross, changes };
    if (changes.causal !== false && begin.length > 1) {
      await engine.read(state, begin.slice(0, -1), { whole: !cross });
    }
    return state;
  }

  // Searches the output, or scores settings.target, and traces it.
  async output(job, settings) {
    const found = settings.target ? await this.score(job, settings)
      : await this.search(job, settings);
    const ids = found.steps.map(({ id }) => id);
    const inputs = [...job.begin, ...ids.slice(0, -1)];
    this.last = { source: job.source, inputs, begun: job.begin.length, changes: settings.changes };
    const { attention } = await this.trace(this.last);
    return { source: job.source, inputs, ids, ...found, attention };
  }

  async search(job, { beam, alpha, prefix, top, changes, progress }) {
    const { engine } = this, { begin, longest } = job;
    const state = await this.begin(job, changes);
    const decoder = changes.causal === false ? new FreeDecoder(engine, state, begin.slice(0, -1))
      : new CachedDecoder(engine, state);
    const search = new Beam({ beam, alpha, longest });
    for (let left = longest - 2; search.rows.length; --left) {
      const outputs = search.rows.map(({ node }) => search.path(node));
      progress?.(outputs[0]);
      const logP = await decoder.step(search.rows.map(({ parent }, r) => (
        { parent, token: outputs[r].at(-1) ?? begin.at(-1) })));
      outputs.forEach((_, r) => this.ends.forEach((id) => {
        const row = r * engine.vocabulary;
        logP[row + eosId] = Math.max(logP[row + eosId], logP[row + id]);
        logP[row + id] = -Infinity;
      }));
      const tops = outputs.map((output, r) => this.top(logP, r, output, left,
        Math.max(top, 2 * beam)));
      const candidates = tops.map((list, r) => {
        const forced = prefix[outputs[r].length];
        return forced === undefined ? list.slice(0, 2 * beam)
          : [{ id: forced, logP: logP[r * engine.vocabulary + forced] }];
      });
      search.advance(candidates, tops.map((list) => list.slice(0, top)));
    }
    const result = search.result();
    if (beam > 1) {
      result.tree = { nodes: search.nodes.map(({ top: _, ...node }) => node) };
    }
    return result;
  }

  // The most probable tokens that may follow an output.
  top(logP, row, output, left, count) {
    const { guard, forbidden, engine } = this, state = guard?.stateOf(output);
    return bestTokens(logP, row * engine.vocabulary, engine.vocabulary, count,
      (id) => !forbidden.has(id) && (!guard || guard.allows(state, id, left)));
  }

  // log P of a given output, cut to the positions of the model. Without the causal mask it is read
  // as a whole.
  async score(job, { target, alpha, top, changes }) {
    const { engine } = this, whole = target.at(-1) === eosId ? target : [...target, eosId];
    const ids = whole.slice(0, engine.maxPositions - job.begin.length + 1);
    const { hidden } = await this.trace({ ...job, changes, begun: job.begin.length,
      inputs: [...job.begin, ...ids.slice(0, -1)] }, null, false);
    const d = engine.config.d_model;
    const logP = engine.logP(hidden.subarray((job.begin.length - 1) * d), ids.length, changes);
    const steps = ids.map((id, r) => ({ id, logP: logP[r * engine.vocabulary + id],
      top: this.top(logP, r, ids.slice(0, r), Infinity, top) }));
    const total = steps.reduce((sum, step) => sum + step.logP, 0);
    return { complete: ids.length === whole.length, logP: total, steps,
      score: total / lengthPenalty(ids.length, alpha) };
  }

  // An encoder fills the masks (<pad>) of `ids`. The first masks are given the tokens of
  // options.prefix.
  async fill(ids, options = {}) {
    const { engine } = this, { prefix, top, changes } = this.settings(options);
    const filled = ids.slice(0, Math.min(1024, engine.maxPositions - 1));
    if (!filled.length) return Translator.nothing();
    const positions = [...filled.keys()].filter((i) => filled[i] === padId);
    const steps = [];
    for (const [i, position] of positions.entries()) {
      const again = i === 0 || i <= prefix.length;
      if (again) this.encoded = await engine.encode([bosId, ...filled], changes);
      const d = engine.config.d_model;
      const hidden = this.encoded.subarray((position + 1) * d, (position + 2) * d);
      const logP = engine.logP(hidden, 1, changes);
      const best = bestTokens(logP, 0, engine.vocabulary, top,
        (id) => id !== eosId && !this.forbidden.has(id));
      const id = prefix[i] ?? best[0].id;
      steps.push({ id, logP: logP[id], top: best });
      if (i < prefix.length) filled[position] = id;
    }
    const inputs = [bosId, ...filled];
    steps.forEach(({ id }, i) => { filled[positions[i]] = id; });
    this.last = { source: inputs, inputs: [], begun: 0, changes };
    const { attention } = await this.trace(this.last);
    const logP = steps.reduce((sum, step) => sum + step.logP, 0);
    return { source: inputs, inputs: [], ids: filled, steps, masks: positions, logP, score: logP,
      complete: true, attention };
  }

  // Runs the model over a source and the tokens that its decoder reads: the attention weights of
  // every head as { rows, cols, data }, and the hidden states of the decoder. `begun`: the number
  // of tokens before the output.
  async trace({ source, inputs, begun, changes }, probe = null, recording = true) {
    const { engine } = this, { heads } = engine.config, attention = {};
    for (const kind of engine.sides) attention[kind] = [];
    if (engine.sides.length > 1) attention.cross = [];
    const sizes = { encoder: [source.length, source.length],
      decoder: [inputs.length, inputs.length], cross: [inputs.length, source.length] };
    const recorder = (offset) => recording && ((kind, layer, head, r, list, weights) => {
      const [rows, cols] = sizes[kind];
      attention[kind][layer] ??= Array.from({ length: heads }, () => (
        { rows, cols, data: new Float32Array(rows * cols) }));
      const { data } = attention[kind][layer][head], from = (r + offset) * cols;
      list.forEach((key, j) => { data[from + key] = weights[j]; });
    });
    const extra = (offset) => ({ record: recorder(offset) || undefined,
      probe: probe?.from(offset) });
    let cross = null;
    if (engine.stacks.encoder) {
      const encoded = await engine.encode(source, changes, extra(0));
      if (!engine.stacks.decoder) return { attention };
      cross = await engine.crossCaches(encoded);
    }
    const state = { caches: engine.makeCaches(engine.stacks.decoder), cross, changes };
    if (changes.causal === false) {
      const hidden = await engine.read(state, inputs, { whole: true, free: true, ...extra(0) });
      return { attention, hidden };
    }
    const parts = [], prompt = cross ? 0 : begun - 1;
    if (prompt) parts.push(await engine.read(state, inputs.slice(0, prompt), { whole: true,
      ...extra(0) }));
    parts.push(await engine.read(state, inputs.slice(prompt), extra(prompt)));
    const hidden = new Float32Array(inputs.length * engine.config.d_model);
    hidden.set(parts[0]);
    if (parts.length > 1) hidden.set(parts[1], parts[0].length);
    return { attention, hidden };
  }

  // Every intermediate value of one row of one head, see Probe.
  async values(place) {
    if (!this.last) throw new Error('nothing has been translated');
    const probe = new Probe(this.engine, this.last.changes, place);
    await this.trace(this.last, probe, false);
    return probe.result();
  }
}
