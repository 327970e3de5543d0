// Decoding by hand: the likeliest tokens at one step, and the tree of a beam search.

const beams = ['1', '2', '3', '4', '5', '6', '8', '10'];
const alphas = ['0', '0.2', '0.4', '0.6', '0.8', '1', '1.5', '2'];
const treeRow = 44, treeGap = 16;  // pixels

class HandView {
  constructor(page) {
    this.page = page;
    this.step = element('div', {});
    this.candidates = element('ol', { id: 'candidates' });
    this.tree = element('div', { id: 'tree' });
    this.opened = null;  // the node of the tree that is open
    this.sliders = [
      new Slider(page, 'beam', 'beam', 'Beam', beams, 'beam'),
      new Slider(page, 'alpha', 'alpha', 'Length penalty \u03b1', alphas,
        'length penalty'),
    ];
    const searches = page.config.kind !== 'encoder';
    this.node = element('div', {},
      element('section', {}, this.step, this.candidates),
      searches ? element('details', { id: 'search', open: true },
        element('summary', {}, 'Beam search as a tree'),
        element('div', { class: 'bar' }, this.sliders.map((slider) => slider.node)),
        this.tree) : null);
  }

  draw() {
    const { page } = this, { result } = page;
    const { steps } = result;
    for (const slider of this.sliders) slider.draw();
    rebuild(this.step, this.drawStep(steps));
    rebuild(this.candidates, steps.length ? this.drawCandidates(steps[page.step]) : null);
    redraw(this.tree, this.drawTree(result.tree));
  }

  drawStep(steps) {
    const { page } = this;
    if (!steps.length) {
      return element('p', {}, 'The text has no <mask>: replace a word by <mask> to see what the ' +
        'model would put there.');
    }
    const name = page.config.kind === 'encoder' ? 'Mask' : 'Step';
    const before = page.result.inputs.slice(0, page.rowOf(page.step) + 1)
      .map(({ text }) => text);
    return [element('div', { class: 'bar' },
      element('button', { type: 'button', id: 'step-back', disabled: page.step === 0,
        onclick: () => page.lookAt(page.step - 1) }, '\u25c2 Back'),
      element('h2', {}, `${name} ${page.step + 1} of ${steps.length}`),
      element('button', { type: 'button', id: 'step-next',
        disabled: page.step === steps.length - 1, onclick: () => page.lookAt(page.step + 1) },
      'Next \u25b8'),
      element('button', { type: 'button', id: 'release', disabled: !page.prefix.length,
        title: 'The model chooses every token again',
        onclick: () => page.state.set({ prefix: '' }) }, 'Undo my choices')),
    element('p', { class: 'before' }, before.length
      ? ['After ', element('b', {}, before.join(' ')), ', '] : 'In this place, ',
    'the model gives these tokens the highest probability; the last column is ',
    explained('token', 'log P'), '. Press another token to choose it.')];
  }

  drawCandidates(step) {
    const { page } = this;
    const listed = step.top.some(({ id }) => id === step.id) ? step.top : [...step.top, step];
    return listed.map((candidate, rank) => {
      const p = probability(candidate.logP), chosen = candidate.id === step.id;
      return element('li', {}, element('button', { type: 'button', class: 'candidate',
        id: `candidate-${rank}`, 'aria-pressed': String(chosen), title: sayPrediction(candidate),
        onclick: () => page.choose(candidate) },
      element('span', { class: 'label' }, candidate.token),
      element('span', { class: 'rod' }, element('i', { style: `width:${(100 * p).toFixed(2)}%` })),
      element('span', { class: 'number' }, percent(p)),
      element('span', { class: 'number soft' }, decimal(candidate.logP, 2))));
    });
  }

  drawTree(tree) {
    const all = tree?.nodes.map((node, index) => ({ ...node, index })) ?? [];
    const nodes = all.filter(({ kept, chosen }) => kept || chosen);
    if (this.page.state.get('target')) {
      return element('p', {}, 'A given target is scored without a search.');
    }
    if (Number(this.page.state.get('beam')) < 2 || !nodes.length) {
      return element('p', {}, 'With beam 1 the search always takes the likeliest token. Move the ' +
        'slider to keep several outputs at each step.');
    }
    const rows = new Map(), perStep = [];
    for (const node of nodes) {
      perStep[node.step] = (perStep[node.step] ?? 0) + 1;
      rows.set(node.index, perStep[node.step] - 1);
    }
    const columns = this.columnsOf(nodes);
    const place = (node) => ({ ...columns[node.step], y: 8 + rows.get(node.index) * treeRow });
    const most = Math.max(...perStep.filter(Boolean));
    const width = columns.at(-1).x + columns.at(-1).width + 8, height = most * treeRow + 12;
    const drawn = element('div', { class: 'tree', role: 'group', 'aria-label': 'Beam',
      style: `width:${width}px;height:${height}px` },
    element('svg', { width, height, 'aria-hidden': 'true' },
      nodes.map((node) => this.edge(node, all, place))),
    nodes.map((node) => this.treeNode(node, place(node))));
    return [element('p', { class: 'soft' }, 'A column for each step, the best output first. The ' +
      'number below a token is ', explained('log P'), ' of the output up to this token. The ' +
      'framed path is the translation. Press a token to see how it was continued, and what the ' +
      'search dropped.'), element('div', { class: 'scroll', id: 'tree-scroll', tabindex: 0 },
      drawn),
    this.drawOpened(all)];
  }

  // Where the columns of the tree begin and how wide they are, by step: as wide as their widest
  // token, which may be bold.
  columnsOf(nodes) {
    const out = [];
    for (const { step, token } of nodes) {
      out[step] = Math.max(out[step] ?? 76, Math.ceil(1.1 * textWidth(token, 15)) + 16);
    }
    let x = 8;
    return Array.from(out, (width = 0) => {
      const column = { x, width };
      if (width) x += width + treeGap;
      return column;
    });
  }

  edge(node, all, place) {
    const parent = all[node.parent];
    if (!parent) return null;
    const from = place(parent), to = place(node), middle = to.x - 10;
    return element('path', { class: node.chosen ? 'edge chosen' : 'edge',
      d: `M${from.x + from.width} ${from.y + 17}C${middle} ${from.y + 17} ` +
        `${middle - 8} ${to.y + 17} ${to.x} ${to.y + 17}` });
  }

  treeNode(node, { x, y, width }) {
    return element('button', { type: 'button', id: `node-${node.index}`,
      class: `node${node.chosen ? ' chosen' : ''}${node.final ? ' final' : ''}`,
      'aria-pressed': String(this.opened === node.index),
      style: `left:${x}px;top:${y}px;width:${width}px`,
      title: `${node.token}: log P ${decimal(node.logP, 2)}, of the output so far ` +
        decimal(node.total, 2),
      onclick: () => {
        this.opened = this.opened === node.index ? null : node.index;
        this.draw();
      } }, element('span', {}, node.token), element('small', {}, decimal(node.total, 2)));
  }

  // The path to the open node and all its continuations.
  drawOpened(all) {
    const open = all[this.opened];
    if (!open) return null;
    const path = [];
    for (let node = open; node; node = all[node.parent]) path.unshift(node);
    const next = all.filter(({ parent }) => parent === this.opened);
    return element('div', { id: 'opened' },
      element('p', {}, element('b', {}, path.map(({ token }) => token).join(' ')),
        next.length ? ' was continued with:' : open.final ? ' is a finished output.'
          : ' was not continued.'),
      element('p', {}, element('button', { type: 'button', id: 'force', onclick: () =>
        this.page.state.set({ prefix: path.map(({ id }) => id).join(','), target: '' }) },
      'Begin the output with this')),
    next.length ? element('table', {},
      element('tr', {}, element('th', { class: 'text' }, 'token'),
        element('th', {}, explained('token', 'log P')),
        element('th', {}, explained('log P', 'sum')), element('th', { class: 'text' }, '')),
      next.map((node) => element('tr', {}, element('td', { class: 'text' }, node.token),
        element('td', {}, decimal(node.logP, 3)), element('td', {}, decimal(node.total, 3)),
        element('td', { class: 'text' }, node.final ? 'finished' : node.kept ? 'kept'
          : 'dropped')))) : null);
  }
}
