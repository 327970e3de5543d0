// The Transformer: encoder, decoder, and every variant that a configuration of tx-model(5) names.
// A pass runs rows (tokens) through a stack; the rows attend to a cache of keys and values, which
// the pass extends. One pass over a sentence and a step of decoding are the same code.

// The keys and values of one attention; row r belongs to the token at positions[r].
class KeyCache {
  constructor(keyWidth, valueWidth) {
    this.keyWidth = keyWidth;
    this.valueWidth = valueWidth;
    this.rows = 0;
    this.k = new Float32Array(16 * keyWidth);
    this.v = new Float32Array(16 * valueWidth);
    this.positions = [];
  }

  append(k, v, positions) {
    const more = positions.length, rows = this.rows + more;
    if (this.k.length < rows * this.keyWidth) {
      this.k = KeyCache.grown(this.k, 2 * rows * this.keyWidth);
      this.v = KeyCache.grown(this.v, 2 * rows * this.valueWidth);
    }
    this.k.set(k.subarray(0, more * this.keyWidth), this.rows * this.keyWidth);
    this.v.set(v.subarray(0, more * this.valueWidth), this.rows * this.valueWidth);
    this.positions.push(...positions);
    this.rows = rows;
  }

  // Rounds the rows from `first` on to bf16.
  narrow(first) {
    roundToBf16(this.k, first * this.keyWidth, this.rows * this.keyWidth);
    roundToBf16(this.v, first * this.valueWidth, this.rows * this.valueWidth);
  }

  static grown(array, length) {
    const larger = new Float32Array(length);
    larger.set(array);
    return larger;
  }
}

// The numbers 0 .. count - 1.
const upTo = (count) => Int32Array.from({ length: count }, (_, i) => i);

class Engine {
  // weights: Map from the names of tx-model(5) to { rows, cols, q, scales } or to
  // { rows, cols, data }.
  constructor(config, weights) {
    this.config = config;
    this.weights = weights;
    this.products = new Products(weights);
    this.pre = config.norm === 'pre';
    this.keyHeads = config.kv_heads || config.heads;
    this.sides = { encoder: ['encoder'], decoder: ['decoder'] }[config.kind]
      ?? ['encoder', 'decoder'];
    this.stacks = {};
    for (const name of this.sides) this.stacks[name] = this.makeStack(name);
    const last = this.sides.at(-1);
    const shared = config.tie === 'all' || config.tie === 'embeddings';
    const ownOutput = config.tie === 'embeddings' || config.tie === 'none';
    for (const name of this.sides) {
      this.stacks[name].embedding = this.matrix(shared ? 'embedding' : `${name}.embedding`);
    }
    this.vocabulary = config[last === 'decoder' ? 'target_vocabulary' : 'source_vocabulary'];
    const output = ownOutput ? this.matrix('output') : this.stacks[last].embedding;
    this.output = { w: { ...output, rows: this.vocabulary }, bias: this.vector('output.bias') };
    // The cache of an 8-bit model is bf16.
    this.narrow = Boolean(this.output.w.q);
    this.positions = new Positions(config);
    this.weights = null;  // frees what the products have copied
    this.pause = async () => {};  // called often; may let other messages in, and may throw
  }

  matrix(name) {
    const found = this.weights.get(`${name}.weight`);
    if (!found) throw new Error(`the model has no ${name}.weight`);
    return found;
  }
  vector(name) { return this.weights.get(name)?.data.slice() ?? null; }
  linear(name) { return { w: this.matrix(name), bias: this.vector(`${name}.bias`) }; }
  // Models with norm_type none have no norms.
  norm(name) {
    return { gain: this.vector(`${name}.weight`), bias: this.vector(`${name}.bias`) };
  }

  makeStack(name) {
    const { config } = this, decoder = name === 'decoder';
    const attention = (at) => ({ q: this.linear(`${at}.q_proj`), k: this.linear(`${at}.k_proj`),
      v: this.linear(`${at}.v_proj`), out: this.linear(`${at}.out_proj`),
      norm: this.norm(`${at}_norm`) });
    const gated = ['swiglu', 'geglu', 'geglu-tanh'].includes(config.activation);
    const layers = [];
    for (let i = 0; i < config[`${name}_layers`]; ++i) {
      const at = `${name}.layers.${i}`;
      layers.push({ index: i, name: `${name}.${i}`, self: attention(`${at}.self_attn`),
        cross: decoder && config.kind === 'encoder-decoder' ? attention(`${at}.cross_attn`) : null,
        ffn: { gate: gated ? this.linear(`${at}.ffn.gate_proj`) : null,
          in: this.linear(`${at}.ffn.in_proj`), out: this.linear(`${at}.ffn.out_proj`),
          norm: this.norm(`${at}.ffn_norm`) } });
    }
    const positions = config.positions === 'learned'
      ? this.matrix(`${name}.positions`).data.slice() : null;
    return { name, layers, positions, norm: this.norm(`${name}.norm`) };
  }

  // The most tokens of a sequence.
  get maxPositions() {
    const { positions, max_positions: max, position_offset: offset } = this.config;
    return positions === 'learned' ? max - offset : Infinity;
  }

  embed(stack, ids, positions, changes) {
    const { d_model: d, scaled_embeddings: scaled, position_offset: offset } = this.config;
    const { embedding: { q, scales, data, stride } } = stack;
    const x = new Float32Array(ids.length * d), factor = scaled ? float(Math.sqrt(d)) : 1;
    const encoding = (position) => {
      if (changes.positions === false) return null;
      if (stack.positions) {
        return stack.positions.subarray((position + offset) * d, (position + offset + 1) * d);
      }
      return ['sinusoid', 'halves', 'fairseq'].includes(this.config.positions)
        ? this.positions.sinusoid(position) : null;
    };
    ids.forEach((id, r) => {
      const row = encoding(positions[r]), from = id * stride, to = r * d;
      for (let j = 0; j < d; ++j) {
        const e = q ? float(scales[id] * q[from + j]) : data[from + j];
        x[to + j] = float(e * factor) + (row ? row[j] : 0);
      }
    });
    return x;
  }

  normalise(x, rows, { gain, bias }) {
    if (!gain) return x.slice();
    const d = this.config.d_model, y = new Float32Array(rows * d);
    for (let r = 0; r < rows; ++r) {
      normaliseRow(x, r * d, d, gain, bias, this.config.norm_epsilon, y);
    }
    return y;
  }

  product(x, rows, { w, bias }) {
    return this.products.run(x, rows, w, bias, new Float32Array(rows * w.rows));
  }

  // Runs embedded rows through a stack. A pass is {
  //   kind: 'encoder' or 'decoder', positions: of each row, changes,
  //   caches: one per layer, which the rows are appended to,
  //   visible(r, first): the rows of the caches that row r attends to; `first` is the cache row of
  //     row 0,
  //   narrow: whether the caches are bf16,
  //   cross: one cache per layer with the encoder's keys and values, or null,
  //   record(kind, layer, head, r, list, weights): receives each row of attention weights; optional
  //   probe: receives values, see values(); optional }.
  async run(stack, pass, x) {
    let y = x;
    for (const layer of stack.layers) {
      await this.pause();
      y = this.subLayer(pass, layer, 'self_attn', layer.self.norm, y,
        (input) => this.selfAttention(pass, layer, input));
      if (layer.cross) {
        y = this.subLayer(pass, layer, 'cross_attn', layer.cross.norm, y,
          (input) => this.crossAttention(pass, layer, input));
      }
      y = this.subLayer(pass, layer, 'ffn', layer.ffn.norm, y,
        (input) => this.feedForward(pass, layer, input));
    }
    return stack.norm.gain ? this.normalise(y, pass.positions.length, stack.norm) : y;
  }

  subLayer(pass, layer, name, norm, x, compute) {
    const { config } = this, { changes } = pass, rows = pass.positions.length;
    const part = name === 'ffn' ? 'ffn_' : '';
    const see = (value, array) => pass.probe?.row(layer, name, value, array, rows);
    see(`${part}x`, x);
    const input = this.pre ? this.normalise(x, rows, norm) : x;
    if (this.pre) see(`${part}normed`, input);
    const sum = compute(input);
    if (changes.sublayers?.includes(`${layer.name}.${name}`)) sum.fill(0);
    see(part ? 'ffn_out' : 'projected', sum);
    if (config.residual !== false && changes.residual !== false) {
      for (let i = 0; i < sum.length; ++i) sum[i] += x[i];
    }
    see(`${part}residual`, sum);
    const y = this.pre ? sum : this.normalise(sum, rows, norm);
    if (part) see('output', y);
    else if (!this.pre) see('norm', y);
    return y;
  }

  feedForward(pass, layer, input) {
    const rows = pass.positions.length, { gate, in: inner, out } = layer.ffn;
    const activate = activations[this.config.activation];
    const see = (value, array) => pass.probe?.row(layer, 'ffn', value, array, rows);
    const x = this.product(input, rows, inner);
    const y = gate ? this.product(input, rows, gate) : new Float32Array(x);
    if (gate) see('gate', y);
    see('inner', x);
    for (let i = 0; i < y.length; ++i) y[i] = gate ? float(activate(y[i])) * x[i] : activate(y[i]);
    see('activated', y);
    return this.product(y, rows, out);
  }

  rotate(x, positions) {
    const { d_k: d } = this.config, half = d / 2, width = x.length / positions.length;
    positions.forEach((position, r) => {
      const angle = this.positions.rotary(position);
      for (let at = r * width; at < (r + 1) * width; at += d) {
        for (let j = 0; j < half; ++j) {
          const u = x[at + j], v = x[at + half + j], c = angle[j], s = angle[half + j];
          x[at + j] = float(u * c) - float(v * s);
          x[at + half + j] = float(v * c) + float(u * s);
        }
      }
    });
  }

  selfAttention(pass, layer, input) {
    const rows = pass.positions.length, { q: query, k: key, v: value, out } = layer.self;
    const q = this.product(input, rows, query), k = this.product(input, rows, key);
    const v = this.product(input, rows, value);
    if (this.config.positions === 'rotary' && pass.changes.positions !== false) {
      this.rotate(q, pass.positions);
      this.rotate(k, pass.positions);
    }
    const cache = pass.caches[layer.index], first = cache.rows;
    cache.append(k, v, pass.positions);
    if (pass.narrow) cache.narrow(first);
    const lists = Array.from({ length: rows }, (_, r) => pass.visible(r, first));
    const heads = this.attend(pass, layer, pass.kind, 'self_attn', q, cache, lists, pass.narrow);
    return this.product(heads, rows, out);
  }

  crossAttention(pass, layer, input) {
    const rows = pass.positions.length, { q: query, out } = layer.cross;
    const q = this.product(input, rows, query);
    const cache = pass.cross[layer.index], all = upTo(cache.rows);
    const heads = this.attend(pass, layer, 'cross', 'cross_attn', q, cache, Array(rows).fill(all),
      this.narrow);
    return this.product(heads, rows, out);
  }

  // The factor of the scores, and the slope of a head before that factor.
  scaling(kind, head, changes) {
    const { d_k: d, scaled_attention: scaled, positions } = this.config;
    const scale = scaled && changes.scale !== false ? 1 / Math.sqrt(d) : 1;
    const distant = positions === 'alibi' && kind !== 'cross' && changes.positions !== false;
    return { scale, slope: distant ? this.positions.slope(head) : 0,
      temperature: changes.attentionTemperature ?? 1 };
  }

  keyHead(head) { return Math.floor(head * this.keyHeads / this.config.heads); }

  // The heads' outputs, concatenated: rows of q attend to the rows `lists` of a cache.
  attend(pass, layer, kind, subLayer, q, cache, lists, narrow) {
    const { heads, d_k: dk, d_v: dv } = this.config, rows = lists.length;
    const out = new Float32Array(rows * heads * dv);
    const weights = new Float32Array(cache.rows);
    const dot = narrow ? dotInLanes : dotInOrder, whole = narrow ? dv - dv % 32 : dv;
    for (let h = 0; h < heads; ++h) {
      const { scale, slope, temperature } = this.scaling(kind, h, pass.changes);
      const off = pass.changes.heads?.includes(`${kind}.${layer.index}.${h}`);
      const k = this.keyHead(h) * dk, v = this.keyHead(h) * dv;
      const fall = float(slope / scale), factor = float(scale / temperature);
      for (let r = 0; r < rows; ++r) {
        const list = lists[r], count = list.length, query = (r * heads + h) * dk;
        for (let j = 0; j < count; ++j) {
          const score = dot(q, query, cache.k, list[j] * cache.keyWidth + k, dk);
          const distance = slope ? Math.abs(pass.positions[r] - cache.positions[list[j]]) : 0;
          weights[j] = score - float(fall * distance);
        }
        softmax(weights, count, factor);
        pass.record?.(kind, layer.index, h, r, list, weights);
        pass.probe?.weights(layer, kind, h, r, list, weights, cache);
        if (off) continue;
        const to = (r * heads + h) * dv;
        for (let j = 0; j < count; ++j) {
          const from = list[j] * cache.valueWidth + v, weight = weights[j];
          for (let l = 0; l < whole; ++l) out[to + l] += weight * cache.v[from + l];
          for (let l = whole; l < dv; ++l) out[to + l] += float(weight * cache.v[from + l]);
        }
      }
    }
    const see = (value, array) => pass.probe?.row(layer, subLayer, value, array, rows);
    see('q', q);
    see('joined', out);
    return out;
  }

  makeCaches(stack) {
    const { d_k: dk, d_v: dv } = this.config;
    return stack.layers.map(() => new KeyCache(this.keyHeads * dk, this.keyHeads * dv));
  }

  // Runs the encoder over ids. visible: see run().
  async encode(ids, changes, extra = {}) {
    const stack = this.stacks.encoder, positions = upTo(ids.length);
    const { window } = this.config;
    const visible = (r) => upTo(ids.length).filter((j) => !window || Math.abs(r - j) < window);
    const pass = { kind: 'encoder', positions, changes, caches: this.makeCaches(stack), visible,
      narrow: false, cross: null, ...extra };
    return this.run(stack, pass, this.embed(stack, ids, positions, changes));
  }

  // The keys and values of all cross-attentions.
  async crossCaches(encoded) {
    const stack = this.stacks.decoder, caches = this.makeCaches(stack);
    const rows = encoded.length / this.config.d_model;
    for (const { index, cross } of stack.layers) {
      await this.pause();
      caches[index].append(this.product(encoded, rows, cross.k),
        this.product(encoded, rows, cross.v), upTo(rows));
      if (this.narrow) caches[index].narrow(0);
    }
    return caches;
  }

  // log P of every token (rows, vocabulary) after rows of hidden states.
  logP(hidden, rows, changes) {
    const logits = this.product(hidden, rows, this.output);
    for (let r = 0; r < rows; ++r) {
      logSoftmax(logits, r * this.vocabulary, this.vocabulary, changes.outputTemperature ?? 1);
    }
    return logits;
  }

  // The last `window` rows of a list of earlier rows and the row itself.
  inWindow(list) {
    const { window } = this.config;
    return window && list.length > window ? list.slice(-window) : list;
  }

  // Reads `ids` at the next positions of one sequence, whose earlier tokens are the rows of
  // `state.caches`; returns their hidden states. whole: they do not use the bf16 cache among
  // themselves, as a prompt does in tx-decode; free: no causal mask.
  async read(state, ids, { whole = false, free = false, ...extra } = {}) {
    const stack = this.stacks.decoder, start = state.caches[0].rows;
    const positions = upTo(ids.length).map((i) => start + i);
    const visible = (r) => (free ? upTo(start + ids.length).filter((j) => !this.config.window
      || Math.abs(start + r - j) < this.config.window) : this.inWindow(upTo(start + r + 1)));
    const pass = { kind: 'decoder', positions, changes: state.changes, caches: state.caches,
      visible, narrow: this.narrow && !whole, cross: state.cross, ...extra };
    const hidden = await this.run(stack, pass, this.embed(stack, ids, positions, state.changes));
    if (this.narrow && whole) for (const cache of state.caches) cache.narrow(start);
    return hidden;
  }
}
