// The page of tx-train --describe --html.

// The list with `number` added, sorted.
function withNumber(list, number) {
  return [...new Set([...list, String(number)])].sort((a, b) => a - b);
}

class DescribePage {
  constructor() {
    const { schedule, model } = data;
    this.widths = withNumber(widths, schedule.d_model);
    this.warmups = withNumber(warmups, Math.max(1, schedule.warmup));
    this.features = withNumber(['32', '64', '128', '512'], model.d_model);
    this.state = new State({
      width: { fallback: String(schedule.d_model), check: oneOf(this.widths) },
      warmup: { fallback: schedule.warmup === 4000 ? '8000' : '4000', check: oneOf(this.warmups) },
      scale: { fallback: 'linear', check: oneOf(['linear', 'log']) },
      length: { fallback: '50', check: oneOf(lengths) },
      features: { fallback: String(model.d_model), check: oneOf(this.features) },
    });
    this.tools = element('div', { class: 'field controls', id: 'tools' });
    this.panels = Object.fromEntries(['rates', 'encoding', 'blocks', 'resources'].map((name) =>
      [name, element('div', { class: 'panel', id: `panel-${name}` })]));
    this.theme = new Theme(() => this.draw());
    this.keyboard = new Keyboard([
      { keys: ['l'], shown: 'l', what: 'linear or logarithmic', run: () =>
        this.state.set({ scale: this.state.get('scale') === 'log' ? 'linear' : 'log' }) },
      { keys: ['t'], shown: 't', what: 'light or dark', run: () => this.theme.toggle() },
      { keys: ['?'], shown: '?', what: 'this list', run: () => this.keyboard.help() },
    ]);
    document.querySelector('h1').after(this.tools);
    document.querySelector('main').append(...Object.values(this.panels));
    this.state.listen(() => this.draw());
    this.draw();
    window.addEventListener('resize', () => {
      if (this.width !== this.drawnWidth && !this.theme.printing) this.draw();
    });
  }

  // The width of the charts, in pixels.
  get width() {
    const { rates } = this.panels;
    return Math.max(280, rates.clientWidth - 2 * parseFloat(getComputedStyle(rates).paddingLeft));
  }

  draw() {
    this.drawnWidth = this.width;
    const { state } = this;
    const set = (name) => (value) => state.set({ [name]: value });
    const pick = (id, name, list) => slider(id, name, list, state.get(id), set(id));
    rebuild(this.tools, this.theme.button(), this.keyboard.button());
    rebuild(this.panels.rates, element('div', { class: 'bar controls' },
      pick('width', 'd_model', this.widths), pick('warmup', 'Warm-up', this.warmups),
      choice('scale', 'Scale', ['linear', 'log'].map((value) => ({ value, label: value })),
        state.get('scale'), set('scale'))), drawSchedule(this));
    rebuild(this.panels.encoding, element('div', { class: 'bar controls' },
      pick('length', 'Positions', lengths), pick('features', 'd_model', this.features)),
    drawPositions(this));
    rebuild(this.panels.blocks, drawParameters());
    rebuild(this.panels.resources, element('div', { class: 'columns' },
      element('section', {}, drawMemory()), element('section', {}, drawStep())));
  }
}

new DescribePage();
