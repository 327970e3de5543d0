// Elements, and the data of the page. Text enters only as text nodes and attributes, never as
// markup.

const svgNames = new Set(
  ['svg', 'g', 'path', 'line', 'rect', 'text', 'circle', 'title', 'polyline']);

// Flattens nested lists of nodes; null and undefined are dropped.
function nodes(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined);
}

function element(name, attributes = {}, ...children) {
  const node = svgNames.has(name)
    ? document.createElementNS('http://www.w3.org/2000/svg', name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...nodes(children));
  return node;
}

function replaceChildren(node, ...children) {
  node.replaceChildren(...nodes(children));
}

// A row of buttons, one of which is pressed. options: [{value, label, title}].
function choice(id, name, options, chosen, choose) {
  const buttons = options.map(({ value, label, title, disabled }) => element('button', {
    type: 'button', id: `${id}-${value}`, title, disabled, 'aria-pressed': String(value === chosen),
    onclick: () => choose(value),
  }, label));
  return element('div', { class: 'field', role: 'group', 'aria-label': name },
    element('span', { class: 'name' }, name), element('div', { class: 'choice' }, buttons));
}

// A slider over a list of numbers, which need not be consecutive.
function slider(id, name, numbers, chosen, choose) {
  const output = element('output', { for: id }, String(chosen));
  const input = element('input', {
    type: 'range', id, min: 0, max: numbers.length - 1, step: 1, value: numbers.indexOf(chosen),
    disabled: numbers.length < 2, 'aria-label': name, 'aria-valuetext': String(chosen),
    oninput: (event) => choose(numbers[Number(event.target.value)]),
  });
  return element('div', { class: 'field' },
    element('label', { class: 'name', for: id }, name), input, output);
}

// Rebuilds a part of the page and keeps the focus on the same control.
function rebuild(node, ...children) {
  const focused = node.contains(document.activeElement) ? document.activeElement.id : '';
  replaceChildren(node, ...children);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

function decimal(x, digits = 2) {
  if (!Number.isFinite(x)) return x < 0 ? '\u2212\u221e' : '';
  return x.toFixed(digits).replace('-', '\u2212');
}

function thousands(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

// The JSON that the tool wrote into the page; long arrays are base64 of little-endian numbers.
const data = JSON.parse(document.getElementById('data').textContent);

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// Unsigned 16-bit multiples of 1/65535.
function sharesOf(base64) {
  const units = new Uint16Array(bytesOf(base64).buffer);
  return Float32Array.from(units, (unit) => unit / 65535);
}

// Signed 16-bit multiples of array.scale.
function numbersOf(array) {
  const units = new Int16Array(bytesOf(array.data).buffer);
  return Float32Array.from(units, (unit) => unit * array.scale);
}
