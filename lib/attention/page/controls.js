// The controls above the views, and the texts of the sentence.

function drawControls(page) {
  const { state } = page;
  const view = state.get('view');
  const choose = (name) => (value) => state.set({ [name]: value });
  const kind = data.kinds[page.kindPlace];
  const layered = view !== 'grid' && view !== 'statistics';
  return [
    element('div', { class: 'bar' },
      choice('view', 'View', views, view, choose('view')),
      choice('kind', 'Attention', data.kinds.map(({ kind: name }) => ({
        value: name, label: name, title: kindTexts[name] })), kind.kind, choose('kind')),
      choice('unit', 'Units', [{ value: 'tokens', label: 'tokens' },
        { value: 'words', label: 'words' }],
      page.byWords ? 'words' : 'tokens',
      (unit) => state.set({ unit, query: '' }))),
    layered ? element('div', { class: 'bar' },
      slider('layer', 'Layer', kind.layers, kind.layers[page.layerPlace], choose('layer')),
      view === 'steps' ? choice('head', 'Head', data.heads.map((name) => ({
        value: name, label: name })), data.heads[page.heads[0]], choose('heads'))
        : chips(page), viewControls(page, view)) : null,
  ];
}

// Buttons that select several heads: Lines draws each in its own colour, Matrix their mean.
function chips(page) {
  const all = page.heads.length === data.heads.length;
  return element('div', { class: 'field', role: 'group', 'aria-label': 'Heads' },
    element('span', { class: 'name' }, 'Heads'),
    element('div', { class: 'chips' }, data.heads.map((name, place) => element('button', {
      type: 'button', class: 'chip', id: `head-${name}`, title: `show or hide head ${name}`,
      'aria-pressed': String(page.heads.includes(place)), onclick: () => page.toggleHead(place) },
    element('i', { style: `background:${colourOf(place)}` }), name))),
    data.heads.length < 2 ? null : element('button', { type: 'button', id: 'all-heads',
      title: all ? 'show only the first head' : 'show all heads',
      onclick: () => page.state.set({ heads: all ? data.heads[0] : data.heads.join(',') }) },
    all ? 'one' : 'all'));
}

const thresholds = ['0', '0.01', '0.03', '0.05', '0.1', '0.2', '0.3'];

// With several heads there are more lines, so that only stronger ones can be told apart.
function usualThreshold(heads) {
  return Number(thresholds.findLast((threshold) => Number(threshold) <= 0.03 * heads));
}

function viewControls(page, view) {
  const { state } = page;
  if (view === 'lines') {
    return slider('threshold', 'Hide weights below', thresholds, String(page.threshold),
      (threshold) => state.set({ threshold }));
  }
  if (view === 'matrix') {
    return choice('shades', 'Colour scale to', [{ value: 'own', label: 'the maximum' },
      { value: 'full', label: '1' }], state.get('shades'), (shades) => state.set({ shades }));
  }
  return null;
}

// The menu of sentences, and the translation of the selected one.
function drawHead(page) {
  const { record } = page.sentence;
  const options = data.sentences.map(({ line, text }) => element('option', {
    value: line, selected: line === record.line }, `${line}: ${shortened(text, 150)}`));
  return [
    element('label', { class: 'field' }, element('span', { class: 'name' }, 'Line'),
      element('select', { id: 'line', onchange: (event) =>
        page.state.set({ line: event.target.value, query: '' }) }, options)),
    hasBoth ? element('div', { class: 'field' },
      element('span', { class: 'name' }, record.forced ? 'Target' : 'Translation'),
      element('span', { id: 'translation' }, record.translation)) : null,
    drawLikelihoods(page),
  ];
}

// P from log P: 0.463, 1.2e-36
function probabilityText(logP) {
  const p = Math.exp(logP);
  return p >= 0.001 ? decimal(p, 3) : p === 0 ? '0' : p.toExponential(1).replace('-', '\u2212');
}

function sayLikelihood({ logP, rank }) {
  return `log P ${decimal(logP)}, P ${probabilityText(logP)}${rank ? `, rank ${rank}` : ''}`;
}

// The target tokens with their log P, and their rank if they are not the most probable.
function drawLikelihoods(page) {
  const units = page.sentence.likelihoods(page.byWords);
  if (!units) return null;
  const rank = (unit) => (unit.rank > 1
    ? element('span', { class: 'rank' }, ` ${unit.rank}.`) : null);
  const total = units.reduce((sum, { logP }) => sum + logP, 0);
  return element('div', { class: 'field' },
    element('span', { class: 'name' }, 'log P'),
    element('span', { id: 'log-p' }, units.map((unit) => element('span', { class: 'unit',
      title: `${unit.label}: ${sayLikelihood(unit)}` },
    element('b', {}, shortened(unit.label, 26)),
    element('small', {}, decimal(unit.logP), rank(unit))))),
    element('span', { id: 'total-log-p', class: 'unit',
      title: `${hasBoth ? 'translation' : 'text'}: ${sayLikelihood({ logP: total })}` },
    element('b', {}, 'total log P'), element('small', {}, decimal(total))));
}
