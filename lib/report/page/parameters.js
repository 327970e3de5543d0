// The parameters by block: a stacked bar for each layer, one segment per kind of sub-layer.

const barLength = window.innerWidth < 600 ? 90 : 260;
const parts = ['self-attention', 'cross-attention', 'feed-forward', 'norms', 'embedding'];

// The block and the part of a parameter, from its name in the file.
function blockOf(name) {
  const layer = name.match(/^(\w+)\.layers\.(\d+)\.(.*)$/);
  if (!layer) {
    const stack = name.match(/^(encoder|decoder)\.\w*norm/);
    return stack ? [`${stack[1]} norm`, 'norms'] : [name.replace(/\.weight$/, ''), 'embedding'];
  }
  const [, stack, number, rest] = layer;
  const part = rest.includes('norm') ? 'norms' : rest.startsWith('self') ? 'self-attention'
    : rest.startsWith('cross') ? 'cross-attention' : 'feed-forward';
  return [`${stack} layer ${number}`, part];
}

function blocks() {
  const out = new Map();
  for (const { name, rows, columns } of data.parameters) {
    const [block, part] = blockOf(name);
    if (!out.has(block)) out.set(block, { block, total: 0, parts: {} });
    const entry = out.get(block);
    entry.total += rows * columns;
    entry.parts[part] = (entry.parts[part] ?? 0) + rows * columns;
  }
  return [...out.values()];
}

function drawParameters() {
  const all = blocks();
  const most = Math.max(...all.map(({ total }) => total));
  const used = parts.filter((part) => all.some((entry) => entry.parts[part]));
  const bar = (entry) => {
    let x = 0;
    const rects = used.map((part) => {
      const width = (barLength * (entry.parts[part] ?? 0)) / most;
      x += width;
      return element('rect', { x: (x - width).toFixed(1), width: width.toFixed(1), height: 14,
        fill: colourOf(parts.indexOf(part)) },
      element('title', {}, `${part}: ${thousands(entry.parts[part] ?? 0)}`));
    });
    return element('svg', { width: barLength, height: 14 }, rects);
  };
  return [element('h2', {}, `${thousands(data.total)} parameters`),
    element('div', { class: 'scroll' }, element('table', { id: 'parameters' },
      element('tr', {}, element('th', { class: 'text' }, 'block'), element('th', {}),
        element('th', {}, 'total'), used.map((part) => element('th', {}, element('i', {
          class: 'shade', style: `background:${colourOf(parts.indexOf(part))}` }), part))),
      all.map((entry) => element('tr', {}, element('td', { class: 'text' }, entry.block),
        element('td', {}, bar(entry)), element('td', {}, thousands(entry.total)),
        used.map((part) => element('td', {}, entry.parts[part] ? thousands(entry.parts[part])
          : '')))),
      element('tr', { class: 'total' }, element('td', { class: 'text' }, 'total'),
        element('td', {}), element('td', {}, thousands(data.total)),
        used.map((part) => element('td', {},
          thousands(all.reduce((sum, entry) => sum + (entry.parts[part] ?? 0), 0))))))),
  ];
}
