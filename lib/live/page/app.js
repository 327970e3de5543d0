// The page: its state, its models and the current view.

const views = [
  { value: 'attention', label: 'Attention', View: AttentionView },
  { value: 'hand', label: 'Decode by hand', View: HandView },
  { value: 'changes', label: 'Change the model', View: ChangesView },
  { value: 'values', label: 'Follow one number', View: ValuesView },
  { value: 'compare', label: 'Compare', View: CompareView },
];
const typingPause = 120;  // ms without a key before the model runs
const patience = 400;  // ms before the page shows a part of the output
const longestText = 2000;

const number = (text) => /^\d{1,6}$/.test(text);
const optional = (check) => (text) => text === '' || check(text);

function stateOf(kinds) {
  return new State({
    text: { fallback: data.examples?.[0] ?? '', longest: longestText, check: () => true },
    view: { fallback: 'attention', check: oneOf(views.map(({ value }) => value)) },
    kind: { fallback: kinds.at(-1), check: oneOf(kinds) },
    layer: { fallback: '', check: optional(number) },
    head: { fallback: '0', check: number },
    query: { fallback: '', check: optional(number) },
    drawing: { fallback: 'lines', check: oneOf(['lines', 'matrix']) },
    beam: { fallback: '1', check: oneOf(beams) },
    alpha: { fallback: '1', check: oneOf(alphas) },
    prefix: { fallback: '', check: (text) => listOf(text).every(number) },
    target: { fallback: '', longest: longestText, check: () => true },
    off: { fallback: '', check: (text) => listOf(text).every(isChange) },
    at: { fallback: '1', check: oneOf(temperatures) },
    ot: { fallback: '1', check: oneOf(temperatures) },
    step: { fallback: '0', check: number },
    number: { fallback: '', check: optional(number) },
    feature: { fallback: '0', check: number },
    model: { fallback: '0', check: oneOf(data.models.map((_, i) => i)) },
    versus: { fallback: data.models.length > 1 ? 'models' : 'change',
      check: oneOf(['change', 'models']) },
  });
}

class Page {
  constructor() {
    this.models = data.models.map((_, index) => new Model(index));
    this.timers = {};
    this.state = stateOf(kindsOf(data.models[0].config));
    // What a new text resets.
    this.fresh = { prefix: '', target: '', query: '', step: 0, number: '' };
    this.status = element('span', { id: 'status', role: 'status', 'data-state': 'loading' });
    this.error = element('p', { id: 'error', class: 'notice', role: 'alert', hidden: true });
    this.tools = element('div', { class: 'field controls', id: 'tools' });
    this.modelChoice = element('div', { id: 'models' });
    this.changed = element('div', { id: 'changed', role: 'region',
      'aria-label': 'Changes to the model' });
    this.tabs = element('div', { id: 'views', class: 'controls' });
    this.panel = element('div', { class: 'panel', id: 'panel' });
    this.hint = element('p', { class: 'soft' }, 'Type a text above: the model runs as you type.');
    this.text = new TextPart(this);
    this.views = Object.fromEntries(views.map(({ value, View }) => [value, new View(this)]));
    this.guide = new Guide(this);
    this.theme = new Theme(() => this.draw());
    this.keyboard = new Keyboard(this.keys());
    document.querySelector('h1').after(this.tools);
    document.querySelector('header').append(this.modelChoice);
    document.querySelector('main').append(element('div', { id: 'frame' },
      element('div', { id: 'work' }, this.text.node, this.error,
        element('div', { id: 'bar' }, this.tabs, this.changed), this.panel), this.guide.node));
    window.addEventListener('resize', () => this.later('draw', () => this.draw()));
    this.state.listen(() => this.follow());
    this.follow();
  }

  get modelIndex() { return Number(this.state.get('model')); }
  get model() { return this.models[this.modelIndex]; }
  get config() { return this.model.config; }
  get kind() { return this.config.kind; }
  get kinds() { return kindsOf(this.config); }
  get attentionKind() { return this.state.get('kind'); }
  get layers() { return layersOf(this.config, this.attentionKind); }
  // Without a choice, the last layer.
  get layer() {
    const text = this.state.get('layer');
    return text === '' ? this.layers - 1 : Math.min(Number(text), this.layers - 1);
  }
  get head() { return Math.min(Number(this.state.get('head')), this.config.heads - 1); }
  get prefix() { return listOf(this.state.get('prefix')).map(Number); }
  get step() {
    const count = this.result?.steps.length ?? 0;
    return Math.max(0, Math.min(Number(this.state.get('step')), count - 1));
  }
  // The row of the attention that is selected, or null.
  get query() {
    const text = this.state.get('query');
    const rows = this.result ? sidesOf(this.result, this.attentionKind).rows.length : 0;
    return text !== '' && Number(text) < rows ? Number(text) : null;
  }
  get versus() { return this.models.length > 1 ? this.state.get('versus') : 'change'; }

  placeName() { return `${this.attentionKind}, layer ${this.layer}, head ${this.head}`; }

  isOff(layer, head) {
    const kind = this.attentionKind, stack = kind === 'encoder' ? 'encoder' : 'decoder';
    const off = listOf(this.state.get('off'));
    return off.includes(`${kind}.${layer}.${head}`) ||
      off.includes(`${stack}.${layer}.${kind === 'cross' ? 'cross_attn' : 'self_attn'}`);
  }

  // Selects an output token: its step, and the row of the attention that predicts it.
  lookAt(i) {
    const rows = this.attentionKind !== 'encoder' || this.kind === 'encoder';
    this.state.set({ step: i, number: '', ...(rows ? { query: this.rowOf(i) } : {}) });
  }

  // The row of the attention that predicts output token i: a decoder reads its prompt before.
  rowOf(i) {
    const { inputs, masks, steps } = this.result;
    return masks ? masks[i].position + 1 : inputs.length - steps.length + i;
  }

  // Continues from another token at the current step.
  choose(candidate) {
    const ids = this.result.steps.slice(0, this.step).map(({ id }) => id);
    this.state.set({ prefix: [...ids, candidate.id].join(','), target: '' });
  }

  // Runs the latest action of a name after a pause.
  later(name, action) {
    clearTimeout(this.timers[name]);
    this.timers[name] = setTimeout(action, typingPause);
  }

  options() {
    const { state } = this;
    const out = { beam: Number(state.get('beam')), alpha: Number(state.get('alpha')), top: 10 };
    if (state.get('target')) out.target = state.get('target');
    else if (this.prefix.length) out.prefix = this.prefix;
    return out;
  }

  // Ids mean the same in another model only if the vocabularies are the same.
  optionsFor(other, { prefix, ...options }) {
    const hash = (model) => data.models[model.index].vocabularies.at(-1).hash;
    return prefix && hash(other) === hash(this.model) ? { ...options, prefix } : options;
  }

  // What the page needs: the output, that of the trained model if anything is changed, and that of
  // the other model if the two are compared.
  wanted() {
    const text = this.state.get('text'), plain = this.options(), changes = changesOf(this.state);
    const options = Object.keys(changes).length ? { ...plain, changes } : plain;
    const { prefix, ...trained } = plain;
    const other = this.state.get('view') === 'compare' && this.versus === 'models';
    return { model: this.modelIndex, text, options,
      before: options.changes || prefix ? trained : null, other };
  }

  // Called when the state has changed: draws, and runs the model if its input is another.
  follow() {
    const wanted = this.wanted(), key = JSON.stringify(wanted);
    if (key !== this.key) {
      this.key = key;
      for (const model of this.models) model.replace();
      if (this.shownModel !== this.modelIndex) this.result = null;
      this.run(wanted, key);
    }
    this.draw();
  }

  async run({ text, options, before, other }, key) {
    const { model } = this;
    try {
      this.setStatus(model.started ? 'busy' : 'loading', '');
      await this.load(model);
      if (key !== this.key) return;
      rebuild(this.modelChoice, this.drawModels());
      this.setStatus('busy', '');
      const shown = { before: null, other: null, result: null };
      const started = performance.now();
      const progress = (soFar) => {
        if (key === this.key && performance.now() - started > patience) this.text.partial(soFar);
      };
      if (text.trim()) {
        if (before) shown.before = await model.translate(text, before);
        if (other) {
          const second = this.models[1 - this.modelIndex];
          await this.load(second);
          shown.other = await second.translate(text, this.optionsFor(second, options));
        }
        shown.result = await model.translate(text, options, progress);
      }
      if (key !== this.key) return;
      Object.assign(this, shown, { shownKey: key, shownModel: this.modelIndex,
        shownText: text, shownOptions: options });
      this.setStatus('ready', '');
      this.error.hidden = true;
      if (this.result && !this.result.source.tokens.length) this.result = null;
      this.draw();
    } catch (error) {
      if (key === this.key) this.fail(error);
    }
  }

  async load(model) {
    await model.start((fraction) => this.setStatus('loading',
      `Loading the model: ${Math.round(100 * fraction)} %`));
  }

  setStatus(state, text) {
    this.status.dataset.state = state;
    this.status.textContent = text;
  }

  // Shows what went wrong, as text.
  fail(error) {
    if (error.name === 'AbortError') return;
    this.setStatus('error', '');
    this.error.textContent = `The model cannot run: ${error.message ?? error}`;
    this.error.hidden = false;
  }

  valuesAt(place) { return this.model.values(place, this.shownText, this.shownOptions); }

  // The outputs to compare; one, if nothing differs.
  outcomes() {
    const compared = this.state.get('view') === 'compare' && this.versus === 'models';
    if (compared) {
      const both = [{ name: this.model.label, result: this.result },
        { name: this.models[1 - this.modelIndex].label, result: this.other }];
      return both.filter(({ result }) => result);
    }
    const after = { name: this.before ? 'Changed' : 'As trained', result: this.result };
    return this.before ? [{ name: 'As trained', result: this.before }, after] : [after];
  }

  turn(name, count, now, by) {
    this.state.set({ [name]: (now + by + count) % count });
  }

  keys() {
    const { state } = this;
    const rows = () => sidesOf(this.result, this.attentionKind).rows.length;
    const nextKind = () => this.kinds[(this.kinds.indexOf(this.attentionKind) + 1) %
      this.kinds.length];
    return [
      { keys: ['ArrowLeft', 'ArrowRight'], shown: '\u2190 \u2192', what: 'previous or next head',
        run: (key) => this.turn('head', this.config.heads, this.head,
          key === 'ArrowLeft' ? -1 : 1) },
      { keys: ['ArrowUp', 'ArrowDown'], shown: '\u2191 \u2193', what: 'previous or next layer',
        run: (key) => this.turn('layer', this.layers, this.layer, key === 'ArrowUp' ? -1 : 1) },
      { keys: ['j', 'k'], shown: 'j k', what: 'next or previous query', run: (key) =>
        this.result && this.turn('query', rows(), this.query ?? -1, key === 'j' ? 1 : -1) },
      { keys: [',', '.'], shown: ', .', what: 'previous or next output token', run: (key) =>
        this.result && this.turn('step', this.result.steps.length, this.step,
          key === ',' ? -1 : 1) },
      { keys: ['a'], shown: 'a', what: 'next kind of attention',
        run: () => state.set({ kind: nextKind(), query: '', number: '' }) },
      { keys: views.map((_, i) => String(i + 1)), shown: views.map((_, i) => i + 1).join(' '),
        what: views.map(({ label }) => label).join(', '),
        run: (key) => state.set({ view: views[Number(key) - 1].value }) },
      { keys: ['r'], shown: 'r', what: 'reset all changes', run: () => state.set(unchanged) },
      { keys: ['e'], shown: 'e', what: 'edit the source', run: () => this.text.input.focus() },
      { keys: ['t'], shown: 't', what: 'light or dark', run: () => this.theme.toggle() },
      { keys: ['?'], shown: '?', what: 'this list', run: () => this.keyboard.help() },
    ];
  }

  drawModels() {
    const { config, name } = this.model;
    const size = config.kind === 'encoder-decoder'
      ? `${config.encoder_layers} + ${config.decoder_layers}`
      : config.encoder_layers || config.decoder_layers;
    return [this.models.length < 2 ? null : choice('model', 'Model', this.models.map((model, i) =>
      ({ value: String(i), label: model.label, title: model.name })), String(this.modelIndex),
    (model) => this.state.set({ model, prefix: '', query: '' })),
    element('p', { id: 'about' }, aboutModel(this.model)),
    element('p', { class: 'soft size' }, this.models.length < 2 ? `${name}: ` : '',
      explained(config.kind), `, ${size} `, explained('layer', 'layers'), `, ${config.heads} `,
      explained('head', 'heads'), ', ', explained('vector', 'd_model'),
      ` ${config.d_model}; runs in this page`)];
  }

  draw() {
    const name = this.state.get('view');
    rebuild(this.modelChoice, this.drawModels());
    rebuild(this.tools, this.guide.button(), this.theme.button(), this.keyboard.button());
    this.text.draw();
    rebuild(this.changed, drawChanged(this));
    rebuild(this.tabs, choice('view', 'View', views, name, (view) => this.state.set({ view })));
    const view = this.views[name];
    const shown = this.result ? view.node : this.hint;
    if (this.panel.firstChild !== shown) replaceChildren(this.panel, shown);
    if (this.result) view.draw();
    this.guide.draw();
    termNote.place();
  }
}

const page = new Page();
window.tx = {
  translate: (text, options) => page.models[0].greedy(text, options),
  tokenize: (text) => page.models[0].tokens(text),
};
