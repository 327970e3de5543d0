// One query step by step: softmax(q k^T / sqrt(d_k)) v, equation 1 of Vaswani et al. (2017).

// The columns of the table, in their order, with an explanation of each.
const attentionSteps = [
  { name: 'q', title: 'Query', equation: 'q = x W\u1d60', text: (s) =>
    `The vector x of the row \u201c${s.label}\u201d, projected to ${data.d_k} dimensions.` },
  { name: 'k', title: 'Keys', equation: 'k\u2c7c = x\u2c7c W\u1d37', text: () =>
    'The key of each position, with the same number of dimensions.' },
  { name: 'score', title: 'Scores', equation: 'q \u00b7 k\u2c7c', text: () =>
    'The dot product of the query with each key: large if both point in the same direction.' },
  { name: 'scaled', title: 'Scaled', equation: 'q \u00b7 k\u2c7c / \u221ad\u2096', text: () =>
    `Divided by \u221a${data.d_k} = ${decimal(Math.sqrt(data.d_k))}, which keeps ` +
    'the gradients of the softmax from vanishing.' },
  { name: 'masked', title: 'Masked', equation: '\u2212\u221e after the row', text: (s) =>
    s.causal ? 'Causal mask: later positions get \u2212\u221e.'
      : 'No mask: every position can be attended to.' },
  { name: 'weight', title: 'Softmax', equation: 'exp / sum of exp', text: () =>
    'The attention weights: positive, with sum 1.' },
  { name: 'v', title: 'Values', equation: 'v\u2c7c = x\u2c7c W\u2c7d', text: () =>
    `The value of each position, with ${data.d_v} dimensions.` },
  { name: 'sum', title: 'Weighted sum', equation: '\u03a3 weight\u2c7c v\u2c7c', text: () =>
    'The sum of the values times their weights: the output of this head for the query.' },
];

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
function attentionOf(query, keys, values, row, causal) {
  const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
  const scores = keys.map((key) => dot(query, key));
  const scaled = scores.map((score) => score / Math.sqrt(query.length));
  const masked = scaled.map((score, j) => (causal && j > row ? -Infinity : score));
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
    const causal = kind === 'decoder';
    const figures = attentionOf(query, keys, values, row, causal);
    this.subject = { label: sides.rows.labels[row], causal };
    return [this.explain(), this.pickers(sides.rows.labels, row),
      this.table({ query, keys, values, figures, labels: sides.columns.labels, row })];
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
          onclick: () => go(i) }, String(i + 1))))),
      element('h2', {}, `${this.step + 1}. ${title}`,
        element('code', {}, this.equation(attentionSteps[this.step]))),
      element('p', {}, text(this.subject)));
  }

  // Only decoder self-attention is masked.
  equation(step) {
    return step.name === 'masked' && !this.subject.causal ? 'no mask' : step.equation;
  }

  pickers(labels, row) {
    return element('div', { class: 'bar controls' }, element('label', { class: 'field' },
      element('span', { class: 'name' }, this.page.rowName()),
      element('select', { id: 'query', onchange: (event) =>
        this.page.state.set({ query: event.target.value, unit: 'tokens' }) },
      labels.map((label, i) => element('option', { value: i, selected: i === row },
        `${i}: ${label}`)))));
  }

  table({ query, keys, values, figures, labels, row }) {
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
    const cell = (tag, name, ...content) => element(tag, {
      class: `${name}${hidden(name) ? ' hidden' : ''}${
        attentionSteps[this.step].name === name ? ' current' : ''}` }, content);
    return element('table', { class: 'steps', id: 'steps' },
      element('tr', {}, element('th', { class: 'text' }, this.page.columnName()),
        columns.map((step) => cell('th', step.name, step.title,
          element('code', {}, this.equation(step))))),
      element('tr', { class: 'query' },
        element('td', { class: 'text' }, element('b', {}, this.subject.label), ' (query)'),
        element('td', { class: this.step === 0 ? 'current' : '' }, strip(query, keySize)),
        columns.slice(1).map((step) => cell('td', step.name))),
      labels.map((label, j) => element('tr', { 'data-key': j,
        class: this.subject.causal && j > row && this.step >= 4 ? 'beyond' : '' },
      element('td', { class: 'text' }, label),
      columns.map((step) => cell('td', step.name, cells[step.name](j))))),
      element('tr', { class: 'total' }, element('td', { class: 'text' }, 'sum'),
        columns.map((step) => cell('td', step.name,
          step.name === 'weight' ? decimal(figures.weights.reduce((sum, x) => sum + x, 0), 3)
            : step.name === 'sum' ? strip(figures.sum, size([figures.sum])) : ''))));
  }

  bar(weight) {
    return element('svg', { width: 64, height: 12, class: 'weight-bar' },
      element('rect', { width: (64 * weight).toFixed(1), height: 12 }));
  }
}
