// Greedy and beam search, with the rules and the order of lib/search/engine.

// ((5 + length) / 6) ^ alpha (Wu et al. 2016, eq. 14); length counts </s>.
const lengthPenalty = (length, alpha) => ((5 + length) / 6) ** alpha;

// Keeps outputs valid UTF-8 if the vocabulary has byte tokens (Unicode, table 3-7).
// byteOf[token]: its byte, or -1.
class Utf8Guard {
  constructor(byteOf) { this.byteOf = byteOf; }

  static continuations(byte) {
    return byte < 0xC2 || byte > 0xF4 ? 0 : byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
  }

  // Bytes that the sequence at the end of `tokens` lacks, and the range of the next one.
  stateOf(tokens) {
    const byteAt = (i) => this.byteOf[tokens[i]];
    let first = tokens.length;
    while (first > 0 && tokens.length - first < 3 && byteAt(first - 1) >= 0x80
      && byteAt(first - 1) < 0xC0) --first;
    if (first > 0 && Utf8Guard.continuations(byteAt(first - 1)) > 0) --first;
    let state = { lacking: 0, low: 0x80, high: 0xBF };
    for (let i = first; i < tokens.length; ++i) {
      const byte = byteAt(i), { lacking } = state;
      state = { lacking: lacking > 0 ? lacking - 1 : byte < 0x80 ? 0
        : Utf8Guard.continuations(byte), low: 0x80, high: 0xBF };
      if (lacking > 0) continue;
      if (byte === 0xE0) state.low = 0xA0;  // below: overlong encoding
      if (byte === 0xED) state.high = 0x9F;  // above: surrogates
      if (byte === 0xF0) state.low = 0x90;
      if (byte === 0xF4) state.high = 0x8F;  // above: beyond U+10FFFF
    }
    return state;
  }

  // `left`: tokens that may follow this one.
  allows(state, token, left) {
    const byte = this.byteOf[token];
    if (state.lacking > 0) return byte >= state.low && byte <= state.high;
    const more = Utf8Guard.continuations(byte);
    return byte < 0x80 || (more > 0 && more <= left);
  }
}

// The `count` most probable allowed tokens of a row of log P, best first, ties by the lower token.
function bestTokens(logP, at, size, count, allows) {
  const best = [];
  let least = -Infinity;
  for (let id = 0; id < size; ++id) {
    const value = logP[at + id];
    if (best.length === count && !(value > least)) continue;
    if (!allows(id)) continue;
    let place = best.length;
    while (place > 0 && value > best[place - 1].logP) --place;
    best.splice(place, 0, { id, logP: value });
    if (best.length > count) best.pop();
    least = best.at(-1).logP;
  }
  return best;
}

// Beam search, as lib/search/engine/beam.h; beam 1 is greedy search. The nodes of the tree are the
// 2W best continuations of each step.
class Beam {
  constructor({ beam, alpha, longest }) {
    Object.assign(this, { width: beam, alpha, longest, length: 0 });
    this.nodes = [];
    this.open = [{ logP: 0, node: -1 }];
    this.rows = [{ parent: -1, node: -1 }];  // to score next; empty when done
    this.finished = [];  // best first
  }

  path(node) {
    const ids = [];
    for (let n = node; n >= 0; n = this.nodes[n].parent) ids.push(this.nodes[n].id);
    return ids.reverse();
  }

  // candidates: for each row the best allowed tokens; tops: for each row what to show.
  advance(candidates, tops) {
    let all = [];
    candidates.forEach((list, row) => list.forEach(({ id, logP }) => {
      all.push({ row, id, own: logP, logP: this.open[row].logP + logP });
    }));
    all.sort((a, b) => b.logP - a.logP || a.row - b.row || a.id - b.id);
    all = all.slice(0, 2 * this.width);
    this.length += 1;
    this.rows = [];
    if (!all.length) return;
    const next = [], { length, longest, width } = this;
    all.forEach(({ row, id, own, logP }, rank) => {
      const node = this.nodes.length, ends = id === eosId;
      const kept = ends ? rank < width : next.length < width && length < longest;
      this.nodes.push({ id, logP: own, total: logP, parent: this.open[row].node, step: length, kept,
        final: ends && kept, chosen: false, top: tops[row] });
      if (!kept) return;
      if (ends) {
        this.finish({ score: logP / lengthPenalty(length, this.alpha), logP, node });
      } else {
        next.push({ logP, node });
        this.rows.push({ parent: row, node });
      }
    });
    if (length < longest) this.open = next;
    if (!this.canImprove()) this.rows = [];
  }

  finish(output) {
    const place = this.finished.findIndex(({ score }) => score < output.score);
    this.finished.splice(place < 0 ? this.finished.length : place, 0, output);
    if (this.finished.length > this.width) this.finished.pop();
  }

  canImprove() {
    if (!this.open.length || this.length === this.longest) return false;
    if (this.finished.length < this.width) return true;
    if (this.width === 1) return false;
    const best = Math.max(...this.open.map(({ logP }) => logP));
    return best / lengthPenalty(this.longest, this.alpha) > this.finished.at(-1).score;
  }

  result() {
    const complete = this.finished.length > 0;
    const { logP, node, score } = complete ? this.finished[0]
      : { ...this.open[0], score: this.open[0].logP / lengthPenalty(this.length - 1, this.alpha) };
    for (let n = node; n >= 0; n = this.nodes[n].parent) this.nodes[n].chosen = true;
    const steps = this.nodes.filter(({ chosen }) => chosen)
      .map(({ id, logP: own, top }) => ({ id, logP: own, top }));
    return { complete, logP, score, steps };
  }
}

// The decoder of one search: reads a token per hypothesis and step.
class CachedDecoder {
  // state: as Engine.read() takes it; its rows are what all hypotheses have read.
  constructor(engine, state) {
    this.engine = engine;
    this.state = state;
    this.paths = [];
  }

  // rows: { parent: a row of the previous step or -1, token }. Returns log P (rows, vocabulary).
  async step(rows) {
    const { engine, state } = this, stack = engine.stacks.decoder, read = state.caches[0].rows;
    const before = this.begun ? null : upTo(read);
    this.paths = rows.map(({ parent }, r) => Int32Array.of(...(before ?? this.paths[parent]),
      read + r));
    this.begun = true;
    const positions = Int32Array.from(this.paths, (path) => path.length - 1);
    const pass = { kind: 'decoder', positions, changes: state.changes, caches: state.caches,
      visible: (r) => engine.inWindow(this.paths[r]), narrow: engine.narrow, cross: state.cross };
    const x = engine.embed(stack, rows.map(({ token }) => token), positions, state.changes);
    return engine.logP(await engine.run(stack, pass, x), rows.length, state.changes);
  }
}

// The same without the causal mask: every token reads all tokens there are, so each step is a pass
// over the whole output.
class FreeDecoder {
  constructor(engine, state, begin) {
    Object.assign(this, { engine, state, begin, paths: [] });
  }

  async step(rows) {
    const { engine, state, begin } = this, d = engine.config.d_model, hidden = [];
    this.paths = rows.map(({ parent, token }) => [...(parent < 0 ? begin : this.paths[parent]),
      token]);
    for (const path of this.paths) {
      const all = await engine.read({ ...state, caches: engine.makeCaches(engine.stacks.decoder) },
        path, { whole: true, free: true });
      hidden.push(...all.subarray((path.length - 1) * d));
    }
    return engine.logP(Float32Array.from(hidden), rows.length, state.changes);
  }
}
