// The page of tx-train --report: charts, a summary and the options of one or more runs.

class ReportPage {
  constructor() {
    this.runs = data.runs.map((record, index) => new Run(record, index));
    const all = this.runs.map((run) => run.label);
    this.state = new State({
      x: { fallback: 'steps', check: oneOf(Object.keys(axes)) },
      y: { fallback: 'linear', check: oneOf(['linear', 'log']) },
      smooth: { fallback: '1', check: oneOf(['1', '5', '25']) },
      from: { fallback: '0', check: oneOf(['0', '5', '10', '25', '50']) },
      hidden: { fallback: '', check: (text) =>
        text === '' || text.split(',').every((label) => all.includes(label)) },
    });
    this.tools = element('div', { class: 'field controls', id: 'tools' });
    this.controls = element('div', { class: 'controls', id: 'controls' });
    this.body = element('div', { id: 'body' });
    this.theme = new Theme(() => this.draw());
    this.keyboard = new Keyboard(this.keys());
    document.querySelector('h1').after(this.tools);
    document.querySelector('header').append(this.controls);
    document.querySelector('main').append(this.body);
    this.state.listen(() => this.draw());
    this.draw();
    window.addEventListener('resize', () => {
      if (this.chartWidth !== this.drawnWidth && !this.theme.printing) this.draw();
    });
  }

  // The width of a chart, in pixels: on a small screen its texts keep their size.
  get chartWidth() {
    return Math.max(300, Math.min(570, this.body.clientWidth - 30));
  }

  keys() {
    const turn = (name, list) => () => {
      const place = list.indexOf(this.state.get(name));
      this.state.set({ [name]: list[(place + 1) % list.length] });
    };
    return [
      { keys: ['x'], shown: 'x', what: 'steps, tokens or minutes',
        run: turn('x', Object.keys(axes)) },
      { keys: ['l'], shown: 'l', what: 'linear or logarithmic', run: turn('y', ['linear', 'log']) },
      { keys: ['s'], shown: 's', what: 'smoothing', run: turn('smooth', ['1', '5', '25']) },
      { keys: this.runs.slice(0, 9).map((run) => run.label), shown: '1 \u2026 9',
        what: 'show or hide a run', run: (key) => this.toggle(key) },
      { keys: ['t'], shown: 't', what: 'light or dark', run: () => this.theme.toggle() },
      { keys: ['?'], shown: '?', what: 'this list', run: () => this.keyboard.help() },
    ];
  }

  get hidden() {
    return this.state.get('hidden').split(',');
  }
  get shown() {
    return this.runs.filter((run) => !this.hidden.includes(run.label));
  }
  toggle(label) {
    const hidden = this.hidden.filter((one) => one !== '');
    this.state.set({ hidden: (hidden.includes(label) ? hidden.filter((one) => one !== label)
      : [...hidden, label]).join(',') });
  }

  draw() {
    this.drawnWidth = this.chartWidth;
    rebuild(this.tools, this.theme.button(), this.keyboard.button());
    rebuild(this.controls, this.drawControls());
    const single = this.runs.length === 1;
    const charts = [...quantities.map((quantity) => [quantity, this.seriesOf(quantity)]),
      ...this.shown.flatMap((run) => this.layersOf(run))]
      .filter(([, { series }]) => series.length > 0);
    const xs = charts.flatMap(([, { series, events }]) => [...events.map(({ x }) => x),
      ...series.flatMap(({ points }) => points.map(([x]) => x))]);
    const range = [Math.min, Math.max].map((end) => xs.reduce((a, b) => end(a, b), xs[0] ?? 0));
    const letters = Math.max(0, ...charts.flatMap(([, { series }]) =>
      series.map(({ label }) => label.length)));
    const legend = element('p', { class: 'soft', id: 'legend' }, single ? '' : 'Each run has its ' +
      'own colour, dash pattern and mark; its number is at the end of its line. ',
    `Thin lines with hollow marks${single ? '' : ', labelled v,'} are validation. `,
    'Filled triangles mark failed steps, ticks at the bottom checkpoints.');
    replaceChildren(this.body, drawSummary(this.runs), legend,
      element('div', { class: 'charts', id: 'charts' }, charts.map(([quantity, drawn]) =>
        this.chart(quantity, drawn, { xRange: range, letters }))),
      drawOptions(data.differing, this.runs));
  }

  drawControls() {
    const { state } = this;
    const set = (name) => (value) => state.set({ [name]: value });
    const options = (names) => names.map((value) => ({ value, label: value }));
    return [
      element('div', { class: 'bar' },
        choice('x', 'x-axis', options(Object.keys(axes)), state.get('x'), set('x')),
        choice('y', 'Scale', options(['linear', 'log']), state.get('y'), set('y')),
        choice('smooth', 'Smoothing', [{ value: '1', label: 'none' }, { value: '5', label: '5' },
          { value: '25', label: '25' }], state.get('smooth'), set('smooth')),
        slider('from', 'Skip the first %', ['0', '5', '10', '25', '50'], state.get('from'),
          set('from'))),
      element('div', { class: 'bar runs', role: 'group', 'aria-label': 'Runs' },
        this.runs.map((run) => element('button', { type: 'button', id: `run-${run.label}`,
          'aria-pressed': String(!this.hidden.includes(run.label)), title: run.record.command,
          onclick: () => this.toggle(run.label) }, sample(run.index), `${run.label} ${run.name}`))),
    ];
  }

  // Where all charts begin on the x-axis.
  start() {
    const ends = this.shown.flatMap((run) => run.points('loss', this.state.get('x'), 1)
      .map(([x]) => x));
    return (ends.reduce((a, b) => Math.max(a, b), 0) * Number(this.state.get('from'))) / 100;
  }

  // The lines and events of a chart.
  seriesOf({ id, steps, validation }) {
    const single = this.runs.length === 1;
    const axis = this.state.get('x');
    const smooth = Number(this.state.get('smooth'));
    const start = this.start();
    const late = (points) => points.filter(([x]) => x >= start);
    const series = [];
    const events = [];
    for (const run of this.shown) {
      const trained = steps ? late(run.points(steps, axis, smooth)) : [];
      const validated = validation ? late(run.validations(validation, axis)) : [];
      const { index, name } = run;
      const both = steps && validation;
      const label = single ? (both ? 'training' : '') : run.label;
      if (trained.length > 0) series.push({ name, label, index, points: trained });
      if (validated.length > 0) {
        series.push({ name: `${name} validation`, index, points: validated, dots: true,
          label: single ? (both ? 'validation' : '') : both ? `${label}v` : label });
      }
      if (id === 'loss') events.push(...run.events(axis, trained).filter(({ x }) => x >= start));
    }
    return { series, events };
  }

  chart({ id, title, fromZero, log, most }, { series, events }, shared) {
    return new Chart({ id: `chart-${id}`, title, xName: axes[this.state.get('x')].name, series,
      events, fromZero, most, width: this.drawnWidth, ...shared,
      logarithmic: log || this.state.get('y') === 'log' }).draw();
  }

  // The gradient norms of a run with --log-gradients: one chart per stack, a line per layer.
  layersOf(run) {
    const start = this.start();
    return ['encoder', 'decoder'].map((stack) => {
      const layers = run.layers(stack, this.state.get('x'), Number(this.state.get('smooth')));
      const series = layers.map(({ name, label, points }, index) => ({ name, label, index,
        points: points.filter(([x]) => x >= start) })).filter(({ points }) => points.length > 0);
      return [{ id: `layers-${run.label}-${stack}`,
        title: `Gradient norm of each ${stack} layer, run ${run.label}` }, { series, events: [] }];
    });
  }
}

// The line style of a run, for legends.
function sample(index) {
  return element('svg', { width: 30, height: 10, class: 'sample' }, element('path', {
    d: 'M0 5h30', stroke: colourOf(index), 'stroke-width': 2.5,
    'stroke-dasharray': dashes[index % dashes.length] }));
}

function drawSummary(runs) {
  const figure = (x) => (Number.isFinite(x) ? shortNumber(x) : '');
  const columns = [
    ['steps', (run) => figure(run.last('step'))],
    ['minutes', (run) => figure(Number((run.last('seconds') / 60).toPrecision(3)))],
    ['tokens', (run) => figure(run.last('tokens'))],
    ['loss', (run) => figure(run.last('loss'))],
    ['best validation perplexity', (run) => figure(run.best()?.validation_perplexity)],
    ['at step', (run) => figure(run.best()?.step)],
    ['checkpoints', (run) => run.record.checkpoints.length],
    ['failed steps', (run) => run.record.incidents.length],
    ['skipped', (run) => figure(run.last('skipped') ?? 0)],
  ];
  return element('div', { class: 'panel' }, element('h2', {}, 'Summary'),
    element('div', { class: 'scroll' }, element('table', { id: 'summary' },
      element('tr', {}, element('th', { class: 'text' }, 'run'),
        columns.map(([name]) => element('th', {}, name))),
      runs.map((run) => element('tr', {}, element('td', { class: 'text' }, sample(run.index),
        ` ${run.label} ${run.name}`), columns.map(([, text]) => element('td', {}, text(run))))))));
}

function drawOptions(differing, runs) {
  const text = (value) => (value === null ? '\u2013' : typeof value === 'string' ? value
    : JSON.stringify(value));
  const table = (rows, id) => element('div', { class: 'scroll' }, element('table', { id },
    element('tr', {}, element('th', { class: 'text' }, 'option'),
      runs.map((run) => element('th', { class: 'text' }, `${run.label} ${run.name}`))),
    rows.map(({ option, values }) => element('tr', {},
      element('td', { class: 'text' }, `--${option}`),
      values.map((value) => element('td', { class: 'text value' }, text(value)))))));
  const alike = Object.entries(data.common).map(([option, value]) => ({
    option, values: runs.map((_, i) => (i === 0 ? value : '\u2033')) }));
  return element('div', { class: 'panel' },
    runs.length > 1 ? [element('h2', {}, 'Differing options'),
      differing.length > 0 ? table(differing, 'differing') : element('p', {}, 'None.')] : null,
    element('details', {}, element('summary', {}, runs.length > 1 ? 'Common options'
      : 'Options'), table(alike, 'common')));
}

new ReportPage();
