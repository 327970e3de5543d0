// The page: its state, its controls and the current view.

const views = [
  { value: 'grid', label: 'All heads', View: GridView },
  { value: 'lines', label: 'Lines', View: LinesView },
  { value: 'matrix', label: 'Matrix', View: MatrixView },
  { value: 'steps', label: 'Step by step', View: StepsView },
  { value: 'statistics', label: 'Statistics', View: StatisticsView },
].filter(({ value }) => value !== 'statistics' || data.statistics);

// A model of kind encoder or decoder has one text.
const hasBoth = data.kinds.length === 0 || data.sentences.every(({ source, target }) =>
  source.length > 0 && target.length > 0);

const kindTexts = {
  encoder: `The ${hasBoth ? 'source' : 'text'} attends to itself`,
  decoder: `The ${hasBoth ? 'target' : 'text'} attends to itself, up to the current position`,
  cross: 'The target attends to the source',
};

class Page {
  constructor() {
    this.sentences = data.sentences.map((record) => new Sentence(record));
    const number = (text) => /^\d+$/.test(text);
    const layers = data.kinds.flatMap((kind) => kind.layers);
    this.state = new State({
      view: { fallback: 'lines', check: oneOf(views.map((view) => view.value)) },
      line: { fallback: String(data.sentences[0].line),
        check: oneOf(data.sentences.map((record) => record.line)) },
      kind: { fallback: data.kinds.at(-1).kind, check: oneOf(data.kinds.map((kind) => kind.kind)) },
      layer: { fallback: data.kinds.at(-1).layers.at(-1), check: oneOf(layers) },
      heads: { fallback: data.heads[0],
        check: (text) => text.split(',').every((head) => data.heads.includes(head)) },
      unit: { fallback: 'tokens', check: oneOf(['tokens', 'words']) },
      query: { fallback: '', check: (text) => text === '' || number(text) },
      step: { fallback: '0', check: (text) => number(text) &&
        Number(text) < attentionSteps.length },
      threshold: { fallback: '', check: oneOf(['', ...thresholds]) },
      shades: { fallback: 'own', check: oneOf(['own', 'full']) },
    });
    this.controls = element('div', { class: 'controls', id: 'controls' });
    this.head = element('div', { id: 'head' });
    this.tools = element('div', { class: 'field controls', id: 'tools' });
    this.caption = element('h2', { id: 'caption' });
    this.said = element('p', { id: 'said', 'aria-live': 'polite' });
    this.panel = element('div', { class: 'panel', id: 'panel' });
    this.views = Object.fromEntries(views.map(({ value, View }) => [value, new View(this)]));
    this.theme = new Theme(() => this.draw());
    this.keyboard = new Keyboard(this.keys());
    document.querySelector('h1').after(this.tools);
    document.querySelector('header').append(this.head, this.controls);
    document.querySelector('main').append(this.caption, this.said, this.panel);
    this.state.listen(() => this.draw());
    this.draw();
    window.addEventListener('resize', () => {
      if (this.width !== this.drawnWidth && !this.theme.printing) this.draw();
    });
  }

  // The width of the drawings, in pixels.
  get width() {
    return Math.max(300, this.panel.clientWidth - 2 * parseFloat(
      getComputedStyle(this.panel).paddingLeft));
  }

  // The current choices, as indices into the page's lists.
  get sentencePlace() {
    return data.sentences.findIndex(({ line }) => String(line) === this.state.get('line'));
  }
  get sentence() {
    return this.sentences[this.sentencePlace];
  }
  get kindPlace() {
    return data.kinds.findIndex(({ kind }) => kind === this.state.get('kind'));
  }
  get layerPlace() {
    return Math.max(0, data.kinds[this.kindPlace].layers.indexOf(this.state.get('layer')));
  }
  get heads() {
    const places = this.state.get('heads').split(',').map((head) => data.heads.indexOf(head));
    return [...new Set(places)].sort((a, b) => a - b);
  }
  get byWords() {
    return this.state.get('unit') === 'words';
  }
  get threshold() {
    const given = this.state.get('threshold');
    return given === '' ? usualThreshold(this.heads.length) : Number(given);
  }
  get full() {
    return this.state.get('shades') === 'full';
  }
  // The selected row; null if none is selected or the sentence has no such row.
  get query() {
    const text = this.state.get('query');
    return text === '' || Number(text) >= this.sides().rows.labels.length ? null : Number(text);
  }
  // The row for views that always show one token: of a selected word its last token; else row 0.
  tokenQuery() {
    const rows = this.sides().rows;
    return this.query === null ? 0 : rows.groups.lastIndexOf(this.query);
  }

  sides() {
    return this.sentence.sides(this.state.get('kind'), this.byWords);
  }
  map(head) {
    return this.sentence.map(this.kindPlace, this.layerPlace, head, this.byWords);
  }
  shownMap() {
    return meanOf(this.heads.map((head) => this.map(head)));
  }

  rowName() {
    if (this.state.get('kind') === 'encoder') return `${hasBoth ? 'source' : 'token'} (query)`;
    return `${hasBoth ? 'target' : 'token'} predicted (query)`;
  }
  columnName() {
    if (this.state.get('kind') === 'decoder') return `${hasBoth ? 'target' : 'token'} read (key)`;
    return `${hasBoth ? 'source' : 'token'} (key)`;
  }
  title() {
    const names = this.heads.map((head) => data.heads[head]);
    const kind = this.state.get('kind');
    if (['grid', 'statistics'].includes(this.state.get('view'))) return `${kind}, all heads`;
    return `${kind}, layer ${data.kinds[this.kindPlace].layers[this.layerPlace]}, ` +
      `${names.length > 1 ? 'heads' : 'head'} ${names.join(', ')}`;
  }

  say(text) {
    this.said.textContent = text || `${kindTexts[this.state.get('kind')]}.`;
  }
  sayRow(row) {
    const { rows, columns } = this.sides();
    const weights = this.shownMap().row(row);
    const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, 3);
    const keys = order.map((j) => `\u201c${columns.labels[j]}\u201d ${decimal(weights[j], 3)}`)
      .join(', ');
    const label = `\u201c${rows.labels[row]}\u201d`;
    if (this.state.get('kind') === 'encoder') return `${label} attends most to ${keys}`;
    const targets = this.sentence.likelihoods(this.byWords);
    return `${this.haveRead(row)} attends most to ${keys} in order to predict ${label}` +
      (targets ? `; ${sayLikelihood(targets[row])}` : '');
  }
  // The token that a row of the target has read. In words the two lists may not correspond.
  haveRead(row) {
    return this.byWords ? 'The model'
      : `Having read \u201c${this.sentence.record.input[row]}\u201d, the model`;
  }
  sayCell(row, column, weight) {
    const { rows, columns } = this.sides();
    return `\u201c${rows.labels[row]}\u201d \u2192 \u201c${columns.labels[column]}\u201d: ` +
      decimal(weight, 4);
  }

  pick(row) {
    this.state.set({ query: row === this.query ? '' : row });
  }
  open(layer, head) {
    this.state.set({ view: 'matrix', layer: data.kinds[this.kindPlace].layers[layer],
      heads: data.heads[head] });
  }
  toggleHead(head) {
    const chosen = this.heads.includes(head) ? this.heads.filter((h) => h !== head)
      : [...this.heads, head].sort((a, b) => a - b);
    if (chosen.length > 0) this.state.set({ heads: chosen.map((h) => data.heads[h]).join(',') });
  }

  // Selects the next or previous entry of a list, wrapping around.
  turn(name, list, by) {
    const place = list.indexOf(this.state.get(name));
    this.state.set({ [name]: list[(Math.max(0, place) + by + list.length) % list.length] });
  }
  turnHead(by) {
    const { heads } = data;
    this.state.set({ heads: heads[(this.heads[0] + by + heads.length) % heads.length] });
  }
  turnLayer(by) {
    const { layers } = data.kinds[this.kindPlace];
    this.state.set({ layer: layers[(this.layerPlace + by + layers.length) % layers.length] });
  }
  turnQuery(by) {
    const rows = this.sides().rows.labels.length;
    this.state.set({ query: this.query === null ? (by > 0 ? 0 : rows - 1)
      : (this.query + by + rows) % rows });
  }

  keys() {
    const lines = data.sentences.map(({ line }) => String(line));
    const kinds = data.kinds.map(({ kind }) => kind);
    const step = (by) => this.state.set({ step: Number(this.state.get('step')) + by });
    return [
      { keys: ['ArrowLeft', 'ArrowRight'], shown: '\u2190 \u2192', what: 'previous or next head',
        run: (key) => this.turnHead(key === 'ArrowLeft' ? -1 : 1) },
      { keys: ['ArrowUp', 'ArrowDown'], shown: '\u2191 \u2193', what: 'previous or next layer',
        run: (key) => this.turnLayer(key === 'ArrowUp' ? -1 : 1) },
      { keys: ['j', 'k'], shown: 'j k', what: 'next or previous query',
        run: (key) => this.turnQuery(key === 'j' ? 1 : -1) },
      { keys: ['Escape'], shown: 'Esc', what: 'deselect the query',
        run: () => this.state.set({ query: '' }) },
      { keys: ['n', 'p'], shown: 'n p', what: 'next or previous sentence',
        run: (key) => this.turn('line', lines, key === 'n' ? 1 : -1) },
      { keys: ['a'], shown: 'a', what: 'next kind of attention',
        run: () => this.turn('kind', kinds, 1) },
      { keys: views.map((_, i) => String(i + 1)), shown: views.map((_, i) => i + 1).join(' '),
        what: views.map((view) => view.label).join(', '),
        run: (key) => this.state.set({ view: views[Number(key) - 1].value }) },
      { keys: ['.', ','], shown: '. ,', what: 'next or previous step',
        run: (key) => step(key === '.' ? 1 : -1) },
      { keys: ['w'], shown: 'w', what: 'tokens or words',
        run: () => this.turn('unit', ['tokens', 'words'], 1) },
      { keys: ['t'], shown: 't', what: 'light or dark', run: () => this.theme.toggle() },
      { keys: ['?'], shown: '?', what: 'this list', run: () => this.keyboard.help() },
    ];
  }

  draw() {
    this.drawnWidth = this.width;
    document.title = `${this.title()} \u2013 attention`;
    rebuild(this.controls, drawControls(this));
    rebuild(this.head, drawHead(this));
    rebuild(this.tools, this.theme.button(), this.keyboard.button());
    this.caption.textContent = this.title();
    this.say('');
    rebuild(this.panel, this.views[this.state.get('view')].draw());
  }
}

if (data.sentences.length > 0) new Page();
