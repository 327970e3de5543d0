// One query step by step: softmax(q k^T / sqrt(d_k)) v, equation 1 of Vaswani et al. (2017).

// The columns of the table, in their order, with an equation and an explanation of each. `s`: the
// subject of StepsView. In an equation ^ and _ begin a superscript and a subscript of one letter.
const attentionSteps = [
  { name: 'q', title: 'Query', equation: (s) => `q = ${s.rotary ? 'R ' : ''}x W^Q`, text: (s) =>
    `${s.has}, projected to ${data.d_k} dimensions${s.rotary
      ? ', and rotated by angles R that grow with the position' : ''}.` },
  { name: 'k', title: 'Keys', equation: (s) => `k_j = ${s.rotary ? 'R_j ' : ''}${s.y}_j W^K`,
    text: (s) => `The key of each position${s.from}, with the same number of dimensions${s.rotary
      ? ', rotated likewise' : ''}.` },
  { name: 'score', title: 'Scores', equation: () => 'q \u00b7 k_j', text: () =>
    'The dot product of the query with each key: large if both point in the same direction.' },
  { name: 'scaled', title: 'Scaled', equation: () => (data.scores.scale === 1 ? 'not scaled'
    : 'q \u00b7 k_j / \u221ad_k'), text: () => (data.scores.scale === 1
    ? 'This model does not divide its scores by \u221ad\u2096.'
    : `Divided by \u221a${data.d_k} = ${decimal(Math.sqrt(data.d_k))}, which keeps ` +
      'the gradients of the softmax from vanishing.') },
  { name: 'masked', title: 'Masked', equation: (s) => s.masks.map(({ sign }) => sign).join('; ') ||
    'no mask', text: (s) => s.masks.map(({ text }) => text).join(' ') ||
    'No mask: every position can be attended to.' },
  { name: 'weight', title: 'Softmax', equation: () => 'exp / sum of exp', text: () =>
    'The attention weights: positive, with sum 1.' },
  { name: 'v', title: 'Values', equation: (s) => `v_j = ${s.y}_j W^V`, text: (s) =>
    `The value of each position${s.from}, with ${data.d_v} dimensions.` },
  { name: 'sum', title: 'Weighted sum', equation: () => '\u03a3_j weight_j v_j', text: () =>
    'The sum of the values times their weights: the output of this head for the query.' },
];

// What is done to scaled scores before the softmax: of self-attention.
const masksOf = (kind) => (kind === 'cross' ? [] : [
  data.scores.slopes.length === 0 ? null : { sign: '\u2212 slope \u00b7 |i \u2212 j|',
    text: 'Distant positions get less: ALiBi subtracts the distance times the slope of the head.' },
  kind !== 'decoder' || !data.scores.causal ? null : { sign: '\u2212\u221e if j > i',
    text: 'Causal mask: later positions get \u2212\u221e.' },
  data.scores.window === 0 ? null : { sign: `\u2212\u221e if |i \u2212 j| \u2265 ${
    data.scores.window}`, text: 'Sliding window: distant positions get \u2212\u221e.' },
].filter((mask) => mask !== null));

// The score of position j for position i after the masks.
function maskedScore(kind, head, score, i, j) {
  if (kind === 'cross') return score;
  const { causal, window, slopes } = data.scores;
  if (kind === 'decoder' && causal && j > i) return -Infinity;
  if (window > 0 && Math.abs(i - j) >= window) return -Infinity;
  return slopes.length === 0 ? score : score - slopes[head] * Math.abs(i - j);
}

// An equation as nodes.
function equationNodes(text) {
  return text.split(/([\^_].)/).map((part) => (part[0] === '^' ? element('sup', {}, part[1])
    : part[0] === '_' ? element('sub', {}, part[1]) : part));
}

// A vector as small bars, up for positive and down for negative numbers.
function strip(values, largest, width = 112, height = 24) {
  const step = width / values.length;
  const paths = { positive: '', negative: '' };
  values.forEach((x, i) => {
    const length = (Math.min(1, Math.abs(x) / largest) * height) / 2;
    const y = x > 0 ? height / 2 - length : height / 2;
    const wide = (step * 0.85).toFixed(2);
    paths[x > 0 ? 'positive' : 'negative'] += `M${(i * step).toFixed(2)} ${y.toFixed(2)}` +
      `h${wide}v${length.toFixed(2)}h-${wide}z`;
  });
  const most = [...values.slice(0, 8)].map((x) => decimal(x)).join(', ');
  return element('svg', { width, height, class: 'strip', role: 'img', 'aria-label': most },
    element('title', {}, `${most}${values.length > 8 ? ', \u2026' : ''}`),
    element('path', { d: paths.positive, class: 'positive' }),
    element('path', { d: paths.negative, class: 'negative' }),
    element('path', { d: `M0 ${height / 2}h${width}`, class: 'zero' }));
}

// The figures of one query: dot products, scaled, masked, weights, and the sum of the values.
function attentionOf(query, keys, values, mask) {
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const scores = keys.map((key) => dot(query, key));
  const scaled = scores.map((score) => score * data.scores.scale);
  const masked = scaled.map(mask);
  const most = Math.max(...masked);
  const powers = masked.map((score) => Math.exp(score - most));
  const total = powers.reduce((sum, x) => sum + x, 0);
  const weights = powers.map((power) => power / total);
  const weighted = values.map((value, j) => value.map((x) => weights[j] * x));
  const sum = new Float32Array(values[0].length);
  for (const value of weighted) value.forEach((x, i) => { sum[i] += x; });
  return { scores, scaled, masked, weights, weighted, sum };
}

class StepsView {
  constructor(page) {
    this.page = page;
  }

  draw() {
    const { page } = this;
    if (!page.sentence.record.q) {
      return [element('p', {}, 'This page does not include queries, keys and values.')];
    }
    this.step = Number(page.state.get('step'));
    const row = page.tokenQuery();
    const kind = data.kinds[page.kindPlace].kind;
    const sides = page.sentence.sides(kind, false);
    const vectors = (name) =>
      page.sentence.vectors(name, page.kindPlace, page.layerPlace, page.heads[0]);
    const query = vectors('q')[row];
    const keys = vectors('k');
    const values = vectors('v');
    const figures = attentionOf(query, keys, values, (score, j) =>
      maskedScore(kind, page.heads[0], score, row, j));
    const labels = this.queryLabels(kind, sides.rows.labels);
    const encoder = kind === 'encoder';
    this.subject = { label: labels[row], masks: masksOf(kind),
      rotary: data.scores.rotary && kind !== 'cross', y: kind === 'cross' ? 'y' : 'x',
      from: kind === 'cross' ? ' of the encoder\u2019s output y' : '',
      has: `The vector x of the position ${encoder ? `of \u201c${labels[row]}\u201d`
        : `that has read \u201c${page.sentence.record.input[row]}\u201d and predicts \u201c${
          sides.rows.labels[row]}\u201d`}` };
    requestAnimationFrame(() => this.scroll());
    return [this.explain(), this.pickers(labels, row),
      this.table({ query, keys, values, figures, labels: sides.columns.labels })];
  }

  // In the target a query has read one token and predicts the next.
  queryLabels(kind, labels) {
    const { input } = this.page.sentence.record;
    return kind === 'encoder' ? labels : labels.map((label, i) => `${input[i]} \u2192 ${label}`);
  }

  // On a small screen the column of the step is scrolled into view.
  scroll() {
    const table = this.page.panel.querySelector('#steps');
    if (!table) return;
    const frame = table.parentElement;
    const box = (node) => node.getBoundingClientRect();
    const current = table.querySelector('th.current');
    frame.scrollLeft += Math.max(0, box(current).right - box(frame).right);
    frame.scrollLeft -= Math.max(0, box(table.querySelector('th.text')).right - box(current).left);
  }

  explain() {
    const { title, text } = attentionSteps[this.step];
    const go = (step) => this.page.state.set({ step });
    return element('div', { class: 'explain' },
      element('div', { class: 'bar controls' },
        element('button', { type: 'button', id: 'step-back', disabled: this.step === 0,
          onclick: () => go(this.step - 1) }, '\u25c2 Back'),
        element('button', { type: 'button', id: 'step-next',
          disabled: this.step === attentionSteps.length - 1, onclick: () => go(this.step + 1) },
        'Next \u25b8'),
        element('div', { class: 'choice' }, attentionSteps.map((step, i) => element('button', {
          type: 'button', id: `step-${step.name}`, 'aria-pressed': String(i === this.step),
          'aria-label': `step ${i + 1}: ${step.title}`, title: step.title,
          onclick: () => go(i) }, String(i + 1))))),
      element('h2', {}, `${this.step + 1}. ${title}`,
        element('code', {}, this.equation(attentionSteps[this.step]))),
      element('p', { 'aria-live': 'polite' }, text(this.subject)));
  }

  equation(step) {
    return equationNodes(step.equation(this.subject));
  }

  pickers(labels, row) {
    return element('div', { class: 'bar controls' }, element('label', { class: 'field' },
      element('span', { class: 'name' }, 'Query'),
      element('select', { id: 'query', onchange: (event) =>
        this.page.state.set({ query: event.target.value, unit: 'tokens' }) },
      labels.map((label, i) => element('option', { value: i, selected: i === row },
        `${i}: ${label}`)))));
  }

  table({ query, keys, values, figures, labels }) {
    const size = (vectors) => Math.max(...vectors.map((vector) =>
      vector.reduce((most, x) => Math.max(most, Math.abs(x)), 0))) || 1;
    const keySize = size([query, ...keys]);
    const valueSize = size(values);
    const cells = {
      k: (j) => strip(keys[j], keySize),
      score: (j) => decimal(figures.scores[j]),
      scaled: (j) => decimal(figures.scaled[j]),
      masked: (j) => decimal(figures.masked[j]),
      weight: (j) => [decimal(figures.weights[j], 3), this.bar(figures.weights[j])],
      v: (j) => strip(values[j], valueSize),
      sum: (j) => strip(figures.weighted[j], valueSize),
    };
    const columns = attentionSteps.slice(1);
    const hidden = (name) => attentionSteps.findIndex((step) => step.name === name) > this.step;
    const first = this.step === 0 ? attentionSteps[0] : attentionSteps[1];
    const cell = (tag, name, ...content) => element(tag, {
      class: `${name}${hidden(name) ? ' hidden' : ''}${
        attentionSteps[this.step].name === name ? ' current' : ''}` }, content);
    return element('div', { class: 'scroll' }, element('table', { class: 'steps', id: 'steps' },
      element('tr', {}, element('th', { class: 'text' }, this.page.columnName()),
        element('th', { class: this.step < 2 ? 'current' : '' }, first.title,
          element('code', {}, this.equation(first))),
        columns.slice(1).map((step) => cell('th', step.name, step.title,
          element('code', {}, this.equation(step))))),
      element('tr', { class: 'query' },
        element('td', { class: 'text' }, 'query ', element('b', {}, this.subject.label)),
        element('td', { class: this.step === 0 ? 'current' : '' }, strip(query, keySize)),
        columns.slice(1).map((step) => cell('td', step.name))),
      labels.map((label, j) => element('tr', { 'data-key': j,
        class: this.step === 0 || (figures.masked[j] === -Infinity && this.step >= 4) ? 'beyond'
          : '' },
      element('td', { class: 'text' }, label),
      columns.map((step) => cell('td', step.name, cells[step.name](j))))),
      element('tr', { class: 'total' }, element('td', {
        class: `text${hidden('weight') ? ' hidden' : ''}` }, 'sum'),
        columns.map((step) => cell('td', step.name,
          step.name === 'weight' ? decimal(figures.weights.reduce((sum, x) => sum + x, 0), 3)
            : step.name === 'sum' ? strip(figures.sum, size([figures.sum])) : '')))));
  }

  bar(weight) {
    return element('svg', { width: 64, height: 12, class: 'weight-bar' },
      element('rect', { width: (64 * weight).toFixed(1), height: 12 }));
  }
}
