// The sinusoids (section 3.5 of the paper) as a heat map: rows are positions, columns features.

const lengths = ['20', '50', '100', '200'];

function sinusoid(position, feature, width) {
  const angle = position / 10000 ** ((feature - (feature % 2)) / width);
  return feature % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
}

function drawPositions(page) {
  const rows = Number(page.state.get('length'));
  const columns = Number(page.state.get('features'));
  const canvas = element('canvas', { id: 'positions', width: columns, height: rows, role: 'img',
    'aria-label': `positional encoding of ${rows} positions and ${columns} features` });
  const context = canvas.getContext('2d');
  const image = context.createImageData(columns, rows);
  for (let i = 0; i < rows; ++i) {
    for (let j = 0; j < columns; ++j) {
      const share = (sinusoid(i, j, columns) + 1) / 2;
      image.data.set([...shade(share), 255], 4 * (i * columns + j));
    }
  }
  context.putImageData(image, 0, 0);
  canvas.setAttribute('style', `height:${rows <= 50 ? 300 : 420}px`);
  const said = element('p', { id: 'position-said', class: 'soft' }, '\u00a0');
  canvas.addEventListener('pointermove', (event) => {
    const box = canvas.getBoundingClientRect();
    const place = (at, from, size, count) =>
      Math.min(count - 1, Math.max(0, Math.floor(((at - from) / size) * count)));
    const i = place(event.clientY, box.top, box.height, rows);
    const j = place(event.clientX, box.left, box.width, columns);
    said.textContent = `position ${i}, feature ${j}: ${j % 2 === 0 ? 'sin' : 'cos'} of ${i} / ` +
      `10000^(${j - (j % 2)}/${columns}) = ${decimal(sinusoid(i, j, columns), 4)}`;
  });
  const even = (share) => 2 * Math.round((share * columns) / 2);
  const sines = [...new Set([0.03, 0.1, 0.18, 0.28].map(even))];
  const waves = sines.map((feature, index) => ({
    name: `feature ${feature}`, label: String(feature), index,
    points: Array.from({ length: rows }, (_, i) => [i, sinusoid(i, feature, columns)]) }));
  return [
    data.model.positions === 'sinusoid' ? null : element('p', { class: 'notice' },
      data.model.positions === 'learned' ? 'This model learns its positions; ' :
        `The positions of this model are ${data.model.positions}; `,
      'these are the sinusoids of its width.'),
    element('h2', {}, 'Positional encoding'),
    element('p', { class: 'soft' }, 'Rows are positions, columns are features: sines at even, ',
      'cosines at odd ones. Colours: \u22121 (', sampleShade(0), '), 0 (', sampleShade(0.5),
      '), 1 (', sampleShade(1), ').'),
    canvas, said,
    new Chart({ id: 'waves', title: 'Selected features by position', xName: 'position',
      width: page.drawnWidth, height: 220, series: waves }).draw()];
}

function sampleShade(share) {
  return element('i', { class: 'shade', style: `background:${css(shade(share))}` });
}
