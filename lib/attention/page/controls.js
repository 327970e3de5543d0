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
      slider('head-slider', 'Head', data.heads, data.heads[page.heads[0]], choose('heads')),
      view === 'steps' ? null : chips(page), viewControls(page, view)) : null,
  ];
}

// Buttons that select several heads: Lines draws each in its own colour, Matrix their mean.
function chips(page) {
  return element('div', { class: 'field', role: 'group', 'aria-label': 'Heads shown' },
    element('div', { class: 'chips' }, data.heads.map((name, place) => element('button', {
      type: 'button', class: 'chip', id: `head-${name}`, title: `show or hide head ${name}`,
      'aria-pressed': String(page.heads.includes(place)), onclick: () => page.toggleHead(place) },
    element('i', { style: `background:${colourOf(place)}` }), name))),
    element('button', { type: 'button', id: 'all-heads',
      onclick: () => page.state.set({ heads: data.heads.join(',') }) }, 'all'));
}

function viewControls(page, view) {
  const { state } = page;
  if (view === 'lines') {
    return slider('threshold', 'Hide weights below', ['0', '0.01', '0.03', '0.1', '0.3'],
      state.get('threshold'), (threshold) => state.set({ threshold }));
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
  const options = data.sentences.map(({ line, source }) => element('option', {
    value: line, selected: line === record.line },
  `${line}: ${shortened(textOf(source.slice(0, -1)), 150)}`));
  return [
    element('label', { class: 'field' }, element('span', { class: 'name' }, 'Line'),
      element('select', { id: 'line', onchange: (event) =>
        page.state.set({ line: event.target.value, query: '' }) }, options)),
    element('div', { class: 'field' },
      element('span', { class: 'name' }, record.forced ? 'Target' : 'Translation'),
      element('span', { id: 'translation' }, record.translation)),
    drawLikelihoods(page),
  ];
}

function sayLikelihood({ logP, rank }) {
  return `log P ${decimal(logP)}${rank ? `, rank ${rank}` : ''}`;
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
    element('span', { id: 'log-p' },
      element('span', { class: 'unit' }, element('b', {}, 'sum'),
        element('small', {}, decimal(total))),
      units.map((unit) => element('span', { class: 'unit',
        title: `${unit.label}: ${sayLikelihood(unit)}` },
      element('b', {}, shortened(unit.label, 26)),
      element('small', {}, decimal(unit.logP), rank(unit))))));
}

function textOf(tokens) {
  const spaced = tokens.some((token) => token.includes('\u2581'));
  return spaced ? tokens.join('').replaceAll('\u2581', ' ').trim() : tokens.join(' ');
}
