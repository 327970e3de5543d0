// One number through a layer: every value on the way of one token, with the paper's equations.

// What the terms of the equations mean, see terms.js.
const terms = {
  x: () => 'The vector of this token as it enters the sub-layer.',
  x_j: (s) => `The vector of token j, ${s.kind === 'cross' ? 'which the encoder computed' :
    'which enters the same layer'}.`,
  n: () => 'The normalised vector of this token.',
  n_j: () => 'The normalised vector of token j.',
  m: () => 'The normalised vector of this token.',
  W_Q: (s) => `The learned matrix of the queries of head ${s.head}.`,
  W_K: (s) => `The learned matrix of the keys of head ${s.head}.`,
  W_V: (s) => `The learned matrix of the values of head ${s.head}.`,
  W_O: () => 'The learned matrix that mixes the outputs of all heads.',
  W_1: () => 'The first learned matrix of the feed-forward network.',
  W_2: () => 'The second learned matrix of the feed-forward network.',
  W_g: () => 'The learned matrix of the gate of the feed-forward network.',
  b_1: () => 'A learned number for each inner unit, if the model has biases.',
  b_2: () => 'A learned number for each feature, if the model has biases.',
  q: () => 'The query: what this token looks for.',
  R: () => 'The rotation by rotary positions: pairs of numbers turn by an angle that grows with ' +
    'the position of this token.',
  R_j: () => 'The same rotation, for the position of token j.',
  k_j: () => 'The key of token j: what it offers to queries.',
  v_j: () => 'The value of token j: what it passes on to those who attend to it.',
  score_j: () => 'How well the query fits key j: their dot product.',
  '\u221ad_k': (s) => `The square root of the size of a key, \u221a${s.config.d_k} = ${
    decimal(Math.sqrt(s.config.d_k))}.`,
  scaled_j: () => 'The score after the division.',
  biased_j: () => 'The score after the penalty for distance (ALiBi).',
  masked_j: () => 'The score after the mask; \u2212\u221e becomes weight 0.',
  softmax: () => 'exp of each score, divided by the sum of all of them: positive, with sum 1.',
  a_j: () => 'The attention weight of token j.',
  '\u03a3_j': () => 'The sum over all tokens j.',
  head: (s) => `The output of head ${s.head}.`,
  Concat: () => 'The outputs of all heads, one after another.',
  z: () => 'The output of the attention, all heads together.',
  Norm: (s) => (s.config.norm_type === 'rms'
    ? 'RMSNorm: divides by the root mean square, then scales each feature.'
    : 'LayerNorm: subtracts the mean, divides by the deviation, then scales and shifts.'),
  f: (s) => `The activation function, ${s.config.activation}.`,
  h: () => 'The inner vector of the feed-forward network.',
  g: () => 'The gate of the feed-forward network.',
  u: () => 'The inner vector after the activation.',
  y: () => 'The vector of this token after the attention sub-layer.',
};

// A number inside a formula.
function term(x, digits = 3) {
  return x < 0 ? `(${decimal(x, digits)})` : decimal(x, digits);
}

// The sum of products of two vectors, with its first terms written out.
function dotText(a, b, total) {
  const few = Array.from({ length: Math.min(3, a.length) }, (_, i) =>
    `${term(a[i], 2)}\u00b7${term(b[i], 2)}`);
  return `${few.join(' + ')}${a.length > 3 ? ' + \u2026' : ''} = ${decimal(total, 3)}`;
}

// Cross-attention does not rotate.
const rotated = (s, rotation) => (s.config.positions === 'rotary' && s.kind !== 'cross'
  ? `${rotation} ` : '');

// Whether the output of a sub-layer replaces its input: without residual connections.
function replaces(s, output, sum) {
  const from = s.value(output);
  return s.value(sum).every((x, i) => x === from[i]);
}
const attended = (s) => (replaces(s, 'projected', 'residual') ? 'z W_O' : 'x + z W_O');
const fedForward = (s) => (replaces(s, 'ffn_out', 'ffn_residual') ? 'u W_2 + b_2'
  : 'y + u W_2 + b_2');

function sumText(s, a, b, sum) {
  if (replaces(s, b, sum)) return `no residual connection: ${s.at(sum, s.feature)}`;
  return `${s.at(a, s.feature)} + ${term(s.value(b)[s.feature])} = ${s.at(sum, s.feature)}`;
}

function normText(s, before, after) {
  if (s.config.norm_type === 'none') return `no norm: ${pick(after)(s)}`;
  const row = [...s.value(before)], d = row.length, rms = s.config.norm_type === 'rms';
  const mean = rms ? 0 : row.reduce((sum, x) => sum + x, 0) / d;
  const deviation = Math.sqrt(row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / d);
  const x = row[s.feature];
  return `${rms ? '' : `(${decimal(x, 3)} \u2212 ${term(mean)}) / `}${rms
    ? `${decimal(x, 3)} / ` : ''}${decimal(deviation, 3)} = ${
    decimal((x - mean) / deviation, 3)}, then scaled: ${s.at(after, s.feature)}`;
}

const pick = (name) => (s) => {
  const i = s.indexIn(name);
  return `number ${i} = ${s.at(name, i)}`;
};

// The stages before and after the table of the keys. A stage is shown if the pass has its value.
const stagesBefore = [
  { name: 'x', title: 'Input', equation: 'x', text: 'The vector of the token: it enters the ' +
    'layer.', figure: pick('x') },
  { name: 'normed', title: 'Norm', term: 'norm', equation: 'n = Norm ( x )',
    text: 'Pre-norm: the sub-layer reads the normalised vector.',
    figure: (s) => normText(s, 'x', 'normed') },
  { name: 'q', title: 'Query', term: 'query', equation: (s) => `q = ${rotated(s, 'R')}${
    s.read('x')} W_Q`, text: 'A smaller vector that says what the token looks for.',
    figure: pick('q') },
];
const stagesAfter = [
  { name: 'head', title: 'Output of the head', equation: 'head = \u03a3_j a_j v_j',
    text: 'The mean of the values, weighted by attention.', figure: (s) =>
      `number ${s.number} = ${s.at('weights', s.key)}\u00b7${term(s.valueOf('v'))} + the other ` +
      `tokens = ${s.at('head', s.number)}` },
  { name: 'joined', title: 'Heads joined', equation: 'z = Concat ( head )', text: 'The outputs ' +
    'of all heads next to each other.', figure: (s) => `head ${s.head} begins at number ${
    s.head * s.config.d_v}; ${pick('joined')(s)}` },
  { name: 'projected', title: 'Projection', equation: 'z W_O', text: 'A learned mixture of all ' +
    'heads, as wide as the input.', figure: pick('projected') },
  { name: 'residual', title: 'Residual', term: 'residual',
    equation: (s) => `${s.pre ? 'y = ' : ''}${attended(s)}`,
    text: (s) => (replaces(s, 'projected', 'residual')
      ? 'Turned off: the sub-layer replaces its input.'
      : 'The sub-layer adds to its input instead of replacing it.'),
    figure: (s) => sumText(s, 'x', 'projected', 'residual') },
  { name: 'norm', title: 'Norm', term: 'norm', equation: (s) => `y = Norm ( ${attended(s)} )`,
    text: 'Post-norm, as in the paper: the sum is normalised.',
    figure: (s) => normText(s, 'residual', 'norm') },
  { name: 'ffn_x', title: 'Input of the feed-forward network', equation: 'y', only: (s) =>
    s.kind === 'decoder' && s.config.kind === 'encoder-decoder',
  text: 'Between the two lies the cross-attention of this layer.', figure: pick('ffn_x') },
  { name: 'ffn_normed', title: 'Norm', term: 'norm', equation: 'm = Norm ( y )',
    text: 'Pre-norm: the network reads the normalised vector.',
    figure: (s) => normText(s, 'ffn_x', 'ffn_normed') },
  { name: 'inner', title: 'Feed-forward, inner', term: 'feed-forward',
    equation: (s) => `h = ${s.read('y')} W_1 + b_1`,
    text: 'A wider vector; each inner unit looks for a pattern.', figure: pick('inner') },
  { name: 'gate', title: 'Gate', equation: (s) => `g = ${s.read('y')} W_g`,
    text: 'The gate decides how much of each inner unit passes.', figure: pick('gate') },
  { name: 'activated', title: 'Activation', equation: (s) => (s.value('gate') ? 'u = f ( g ) h'
    : 'u = f ( h )'), text: 'The only step of the network that is not linear.', figure: (s) =>
    `${pick('activated')(s)}; ${
      s.value('activated').filter((x) => x > 0).length} of ${
      s.value('activated').length} are above 0` },
  { name: 'ffn_out', title: 'Feed-forward, output', equation: 'u W_2 + b_2', text: 'Back to the ' +
    'width of the input.', figure: pick('ffn_out') },
  { name: 'ffn_residual', title: 'Residual', term: 'residual', equation: fedForward,
    text: (s) => (replaces(s, 'ffn_out', 'ffn_residual') ? 'Turned off: it replaces what came in.'
      : 'Added to what came in.'), figure: (s) => sumText(s, 'ffn_x', 'ffn_out', 'ffn_residual') },
  { name: 'output', title: 'Output of the layer', equation: (s) => (s.pre
    ? fedForward(s) : `Norm ( ${fedForward(s)} )`), text: 'The next layer reads this vector.',
  figure: (s) => (s.pre ? pick('output')(s)
    : normText(s, 'ffn_residual', 'output')) },
];

// The columns of the table of keys, computed for each token j.
const keyColumns = [
  { name: 'k', title: 'Keys', equation: (s) => `k_j = ${rotated(s, 'R_j')}${
    s.read('x_j')} W_K`,
    text: (s) => `The key of each token; of the marked token, number ${
      s.indexIn('k')} = ${decimal(s.valueOf('k'), 3)}` },
  { name: 'scores', title: 'Scores', equation: 'score_j = q \u00b7 k_j', text: (s) =>
    `The dot product of query and key: ${dotText(s.value('q'), s.row('k', s.key, s.config.d_k),
      s.value('scores')[s.key])}` },
  { name: 'scaled', title: 'Scaled', equation: 'score_j / \u221ad_k', text: (s) => `${
    s.at('scores', s.key)} / ${decimal(s.value('scores')[s.key] / s.value('scaled')[s.key])} = ${
    s.at('scaled', s.key)}` },
  { name: 'biased', title: 'ALiBi', equation: 'scaled_j \u2212 distance', text: (s) =>
    `A penalty for distance: ${s.at('scaled', s.key)} becomes ${s.at('biased', s.key)}` },
  { name: 'masked', title: 'Masked', equation: 'masked_j', text: (s) => (!s.masked
    ? 'No mask here: every token may be read.' : s.kind === 'decoder'
      ? 'Tokens after this one get \u2212\u221e: they are not known yet.'
      : 'Tokens outside the window get \u2212\u221e.') },
  { name: 'tempered', title: 'Temperature', equation: 'masked_j / temperature', text: (s) =>
    `${s.at('masked', s.key)} becomes ${s.at('tempered', s.key)}` },
  { name: 'weights', title: 'Weights', equation: 'a_j = softmax ( masked_j )', text: (s) => {
    const masked = [...s.value('tempered') ?? s.value('masked')], most = Math.max(...masked);
    const total = masked.reduce((sum, x) => sum + Math.exp(x - most), 0);
    return `exp(${decimal(masked[s.key], 3)} \u2212 ${term(most, 2)}) / ${decimal(total)} = ${
      s.at('weights', s.key)}, where ${decimal(most)} is the largest score`;
  } },
  { name: 'v', title: 'Values', equation: (s) => `v_j = ${s.read('x_j')} W_V`,
    text: (s) => `The value of each token; of the marked token, number ${s.number} = ${
      decimal(s.valueOf('v'), 3)}` },
  { name: 'weighted', title: 'Weighted', equation: 'a_j v_j', text: (s) =>
    `number ${s.number} = ${s.at('weights', s.key)}\u00b7${term(s.valueOf('v'))} = ${
      decimal(s.weighted(s.key), 3)}` },
];

// The values of one token in one layer and head, and the number followed through them.
class Trace {
  constructor(page, trace) {
    Object.assign(this, { config: page.config, kind: trace.kind, head: trace.head,
      values: trace.values, keys: trace.keys });
    const weights = this.value('weights');
    const given = page.state.get('number');
    this.key = given !== '' && Number(given) < this.keys ? Number(given)
      : weights.indexOf(Math.max(...weights));
    this.number = Math.min(Number(page.state.get('feature')), this.config.d_v - 1);
    this.pre = this.config.norm === 'pre';
    this.masked = this.value('masked').includes(-Infinity);
    this.joined = this.head * this.config.d_v + this.number;
    this.feature = Math.min(this.joined, this.config.d_model - 1);
  }

  value(name) { return this.values[name]?.data; }
  at(name, i) { return decimal(this.values[name].data[i], 3); }
  row(name, j, width) { return this.value(name).subarray(j * width, (j + 1) * width); }
  // The followed number of key or value j.
  valueOf(name, j = this.key) {
    return this.row(name, j, this.config[`d_${name}`])[this.indexIn(name)];
  }
  weighted(j) { return this.value('weights')[j] * this.valueOf('v', j); }
  // What a sub-layer reads: the vector, or with pre-norm the normalised vector. The keys and values
  // of cross-attention are those of the encoder's output.
  read(name) {
    if (!this.pre || (name === 'x_j' && this.kind === 'cross')) return name;
    return { x: 'n', x_j: 'n_j', y: 'm' }[name];
  }
  // Where the followed number stands in a vector; the last place of one that is too short.
  indexIn(name) {
    if (name === 'q' || name === 'k') return Math.min(this.number, this.config.d_k - 1);
    if (name === 'v' || name === 'head') return this.number;
    return Math.min(name === 'joined' ? this.joined : this.feature, this.value(name).length - 1);
  }
  shape(name) {
    if (name === 'k') return `${this.keys} \u00d7 ${this.config.d_k}`;
    if (name === 'v' || name === 'weighted') return `${this.keys} \u00d7 ${this.config.d_v}`;
    return `1 \u00d7 ${this.keys}`;
  }
}

class ValuesView {
  constructor(page) {
    this.page = page;
    this.pickers = element('div', {});
    this.flow = element('div', { id: 'flow' });
    this.node = element('div', {}, this.pickers, this.flow);
  }

  draw() {
    const { page } = this;
    rebuild(this.pickers, drawPickers(page, 'values'), this.drawPlace());
    const place = { kind: page.attentionKind, layer: page.layer, head: page.head,
      query: page.query ?? 0 };
    const key = JSON.stringify([page.shownKey, place]);
    if (this.key === key && this.trace) return this.drawFlow();
    if (this.key !== key) this.load(key, place);
  }

  async load(key, place) {
    this.key = key;
    this.trace = null;
    this.flow.setAttribute('aria-busy', 'true');
    try {
      const trace = await this.page.valuesAt(place);
      if (this.key !== key) return;
      if (!this.page.result) return this.key = null;  // the text was deleted
      this.trace = trace;
      this.drawFlow();
    } catch (error) {
      if (this.key === key) this.key = null;
      this.page.fail(error);
    }
  }

  drawPlace() {
    const { page } = this, { rows } = sidesOf(page.result, page.attentionKind);
    const list = (id, name, labels, chosen, choose) => element('label', { class: 'field' },
      element('span', { class: 'name' }, name), element('select', { id,
        onchange: (event) => choose(event.target.value) }, labels.map((label, i) =>
        element('option', { value: i, selected: i === chosen }, label))));
    const numbers = Array.from({ length: page.config.d_v }, (_, i) => String(i));
    return element('div', { class: 'bar controls' },
      list('query', queryName(page.attentionKind),
        rows.map((label, i) => `${i}: ${label}`), page.query ?? 0,
        (query) => page.state.set({ query, number: '' })),
      list('feature', 'Number followed', numbers, Number(page.state.get('feature')),
        (feature) => page.state.set({ feature })));
  }

  drawFlow() {
    const s = new Trace(this.page, this.trace);
    this.flow.removeAttribute('aria-busy');
    const shown = (stage) => s.value(stage.name) && (stage.only?.(s) ?? true);
    redraw(this.flow, element('p', { class: 'soft' }, 'From top to bottom: what one token goes ' +
      'through in this layer. One number is followed: it is marked in each vector and ' +
      'written out below it. Hover over a term with a dotted underline, or tap it, to read what ' +
      'it means.'),
    stagesBefore.filter(shown).map((stage) => this.drawStage(s, stage)), this.drawKeys(s),
    stagesAfter.filter(shown).map((stage) => this.drawStage(s, stage)));
    this.page.guide.point();
  }

  // An equation, whose terms show their meaning in `said`.
  drawEquation(s, equation, said) {
    const text = typeof equation === 'function' ? equation(s) : equation;
    const usual = said.textContent;
    const restore = () => { said.textContent = usual; };
    return element('code', { class: 'equation' }, text.split(' ').map((word) => {
      const [base, index] = word.split('_');
      const label = [base, index ? element('sub', {}, index) : null];
      return [!(word in terms) ? element('span', {}, label) : termNode(label,
        () => { said.textContent = terms[word](s); }, restore, { title: terms[word](s) }), ' '];
    }));
  }

  drawStage(s, stage) {
    const said = element('p', { class: 'soft said' },
      typeof stage.text === 'function' ? stage.text(s) : stage.text);
    const values = s.value(stage.name);
    return [element('div', { class: 'stage', id: `stage-${stage.name}` },
      element('div', {}, element('h2', {}, stage.term ? explained(stage.term, stage.title)
        : stage.title),
        this.drawEquation(s, stage.equation, said), said),
      element('div', {}, wideStrip(values, s.indexIn(stage.name)),
        element('p', { class: 'figure' }, stage.figure(s)))),
    element('p', { class: 'arrow' }, `\u2193 1 \u00d7 ${values.length}`)];
  }

  drawKeys(s) {
    const { page } = this;
    const { columns } = sidesOf(page.result, s.kind);
    const said = element('p', { class: 'soft said' }, 'Each row is a token; press a row to ' +
      'follow its key and its value.');
    const shown = keyColumns.filter(({ name }) => name === 'weighted' || s.value(name));
    const largest = (name) => s.value(name).reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    const sizes = { k: largest('k'), v: largest('v') };
    const cell = (name, j) => {
      if (name === 'k' || name === 'v') {
        return strip(s.row(name, j, s.config[`d_${name}`]), sizes[name] || 1, 96, 22);
      }
      if (name === 'weighted') return decimal(s.weighted(j), 3);
      const text = s.at(name, j);
      return name === 'weights' ? [text, bar(s.value(name)[j])] : text;
    };
    return [element('div', { class: 'stage keys' },
      element('div', {}, element('h2', {}, 'Attention'), this.drawEquation(s,
        'head = \u03a3_j softmax ( q \u00b7 k_j / \u221ad_k ) v_j', said), said),
      element('div', { class: 'scroll', id: 'numbers-scroll', tabindex: 0 }, element('table',
        { id: 'numbers' },
        element('tr', {}, element('th', { class: 'text' }, 'token j'),
          shown.map(({ name, title, equation }) => element('th', { class: name }, title,
            this.drawEquation(s, equation, said), element('small', {}, s.shape(name))))),
        Array.from({ length: s.keys }, (_, j) => element('tr', { 'data-key': j,
          class: j === s.key ? 'picked' : s.value('masked')[j] === -Infinity ? 'beyond' : '',
          onclick: () => page.state.set({ number: j }) },
        element('td', { class: 'text' }, element('button', { type: 'button', class: 'plain',
          id: `key-${j}`, 'aria-pressed': String(j === s.key) }, columns[j])),
        shown.map(({ name }) => element('td', { class: name }, cell(name, j))))))),
      element('dl', { class: 'figures' }, shown.map(({ title, text }) => [
        element('dt', {}, title), element('dd', {}, text(s))]))),
    element('p', { class: 'arrow' }, `\u2193 1 \u00d7 ${s.config.d_v}`)];
  }
}

function bar(weight) {
  return element('svg', { width: 64, height: 12, class: 'weight-bar', 'aria-hidden': 'true' },
    element('rect', { width: (64 * weight).toFixed(1), height: 12 }));
}

// A vector of any size as bars over the whole width; number `followed` is marked.
function wideStrip(values, followed) {
  const largest = values.reduce((most, x) => Math.max(most, Math.abs(x)), 0) || 1;
  const drawn = strip(values, largest, 560, 40);
  drawn.setAttribute('viewBox', '0 0 560 40');
  drawn.setAttribute('preserveAspectRatio', 'none');
  const wide = 560 / values.length;
  drawn.prepend(element('rect', { class: 'followed', x: (followed * wide).toFixed(2),
    width: Math.max(2, wide).toFixed(2), height: 40 }));
  return drawn;
}
