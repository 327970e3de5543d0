// What is changed in the model: heads and sub-layers that are off, parts that are missing, and
// temperatures. The address holds them as a list, such as off=encoder.0.1,decoder.0.ffn,positions.

const switches = {
  positions: { name: 'Positions', without: 'no positions',
    text: 'Without them, attention does not know the order of the tokens.' },
  causal: { name: 'Causal mask', without: 'no causal mask',
    text: 'Without it, an output token reads the tokens after it. They only confuse this model, ' +
      'which was trained with the mask. A model trained without it has learned to copy them.',
    unmasked: 'This model was trained without it. Turn it off and score a given target: the ' +
      'model cheats, since it reads the answer before it predicts it. When it translates, there ' +
      'is no answer to read.' },
  residual: { name: 'Residual connections', without: 'no residual connections',
    text: 'Without them, a sub-layer replaces the vector of a token instead of adding to it.' },
  scale: { name: 'Scaling by 1/\u221ad\u2096', without: 'no scaling by 1/\u221ad\u2096',
    text: 'Without it, scores are larger, and the softmax puts most weight on one token.' },
};
// The switches of parts that a model was trained without.
function missingIn(config) {
  return [config.positions === 'none' && 'positions', config.residual === false && 'residual',
    config.scaled_attention === false && 'scale'];
}

const subLayerNames = { self_attn: 'self-attention', cross_attn: 'cross-attention',
  ffn: 'feed-forward' };
const temperatures = ['0.1', '0.25', '0.5', '0.75', '1', '1.5', '2', '3', '5', '10'];

function isChange(text) {
  return Object.hasOwn(switches, text) || /^(encoder|decoder|cross)\.\d+\.\d+$/.test(text) ||
    /^(encoder|decoder)\.\d+\.(self_attn|cross_attn|ffn)$/.test(text);
}

const listOf = (text) => text.split(',').filter(Boolean);

// The changes as the engine takes them.
function changesOf(state) {
  const off = listOf(state.get('off'));
  const out = {};
  const heads = off.filter((name) => /\d$/.test(name));
  const sublayers = off.filter((name) => !/\d$/.test(name) && name.includes('.'));
  if (heads.length) out.heads = heads;
  if (sublayers.length) out.sublayers = sublayers;
  for (const name of off) if (Object.hasOwn(switches, name)) out[name] = false;
  if (state.get('at') !== '1') out.attentionTemperature = Number(state.get('at'));
  if (state.get('ot') !== '1') out.outputTemperature = Number(state.get('ot'));
  return out;
}

function nameOfChange(change) {
  if (Object.hasOwn(switches, change)) return switches[change].without;
  const [stack, layer, part] = change.split('.');
  if (part in subLayerNames) return `${stack} layer ${layer}: no ${subLayerNames[part]}`;
  return `${stack} layer ${layer}: head ${part} off`;
}

// Everything that differs from the trained model and a greedy search: [{ name, undo: the state
// that takes it back }].
function listOfChanges(page) {
  const { state } = page;
  const off = listOf(state.get('off'));
  const out = off.map((change) => ({ name: nameOfChange(change),
    undo: { off: off.filter((other) => other !== change).join(',') } }));
  if (state.get('at') !== '1') {
    out.push({ name: `attention temperature ${state.get('at')}`, undo: { at: '1' } });
  }
  if (state.get('ot') !== '1') {
    out.push({ name: `output temperature ${state.get('ot')}`, undo: { ot: '1' } });
  }
  if (state.get('beam') !== '1') {
    out.push({ name: `beam ${state.get('beam')}`, undo: { beam: '1' } });
  }
  if (state.get('alpha') !== '1') {
    out.push({ name: `length penalty ${state.get('alpha')}`, undo: { alpha: '1' } });
  }
  if (state.get('prefix')) out.push({ name: 'beginning chosen by hand', undo: { prefix: '' } });
  if (state.get('target')) out.push({ name: 'target given', undo: { target: '' } });
  return out;
}

const unchanged = { off: '', at: '1', ot: '1', beam: '1', alpha: '1', prefix: '', target: '' };

// The line that is always visible: the changes, and the button that takes all of them back.
function drawChanged(page) {
  const changes = listOfChanges(page);
  return [
    element('button', { type: 'button', id: 'reset', disabled: !changes.length,
      title: 'Back to the model as it was trained, and to beam 1 (r)',
      onclick: () => page.state.set(unchanged) }, 'Reset'),
    element('span', { class: 'name' }, changes.length ? 'Changed:' : 'The model is as trained.'),
    changes.map(({ name, undo }, i) => element('button', { type: 'button', class: 'change',
      id: `undo-${i}`, title: `Take back: ${name}`, onclick: () => page.state.set(undo) },
    name, element('span', { 'aria-hidden': 'true' }, ' \u00d7'))),
  ];
}

// A slider that stays in the page while it is dragged.
class Slider {
  // term: the name in the glossary.
  constructor(page, key, id, name, numbers, term) {
    Object.assign(this, { page, key, numbers });
    this.output = element('output', { for: id });
    this.input = element('input', { type: 'range', id, min: 0, max: numbers.length - 1, step: 1,
      'aria-label': name,
      oninput: () => page.state.set({ [key]: numbers[Number(this.input.value)] }) });
    this.node = element('div', { class: 'field' },
      element('span', { class: 'name' }, explained(term, name)), this.input, this.output);
  }

  draw() {
    const value = this.page.state.get(this.key);
    this.input.value = this.numbers.indexOf(value);
    this.input.setAttribute('aria-valuetext', value);
    this.output.textContent = value;
  }
}

class ChangesView {
  constructor(page) {
    this.page = page;
    this.switches = element('div', { id: 'switches' });
    this.outcome = element('div', { id: 'outcome', 'aria-live': 'polite' });
    this.sliders = [
      new Slider(page, 'at', 'attention-temperature', 'Attention temperature', temperatures,
        'scores'),
      new Slider(page, 'ot', 'output-temperature', 'Output temperature', temperatures,
        'output'),
    ];
    this.target = element('input', { type: 'text', id: 'target', spellcheck: 'false',
      maxlength: 2000, dir: 'auto',
      placeholder: 'a translation that you know',
      oninput: () => {
        const target = this.target.value;
        page.later('target', () => page.state.set({ target, prefix: '' }));
      } });
    this.node = element('div', { class: 'columns' },
      element('section', {}, element('h2', {}, 'Turn things off'), this.switches,
        element('div', { class: 'bar' }, this.sliders.map((slider) => slider.node))),
      element('section', {}, element('h2', {}, 'What happens'), this.outcome,
        page.config.kind === 'encoder-decoder' ? this.targetField() : null));
  }

  targetField() {
    return element('div', { class: 'given' },
      element('label', { for: 'target' }, 'Score a given target'), this.target,
      element('p', { class: 'soft' }, 'The page then shows how probable the model finds this ' +
        'target. It is tokenised as the source is: for a model of lowercased text, type it in ' +
        'lowercase. Clear the field to translate again.'));
  }

  draw() {
    rebuild(this.switches, this.drawSwitches());
    for (const slider of this.sliders) slider.draw();
    const target = this.page.state.get('target');
    if (document.activeElement !== this.target) this.target.value = target;
    replaceChildren(this.outcome, drawOutcomes(this.page.outcomes()));
  }

  toggle(change) {
    const off = listOf(this.page.state.get('off'));
    const less = off.filter((other) => other !== change);
    this.page.state.set({ off: (less.length < off.length ? less : [...off, change]).join(',') });
  }

  button(change, label, title, disabled = false) {
    const off = listOf(this.page.state.get('off')).includes(change);
    return element('button', { type: 'button', role: 'switch', class: 'switch',
      id: `off-${change.replaceAll('.', '-')}`, 'aria-checked': String(!off), title,
      'aria-label': title, disabled, onclick: () => this.toggle(change) }, label);
  }

  drawSwitches() {
    const { config } = this.page;
    const parts = Object.entries(switches)
      .filter(([name]) => name !== 'causal' || config.kind !== 'encoder');
    const stacks = kindsOf(config).filter((kind) => kind !== 'cross');
    return [
      element('p', { class: 'soft' }, 'Press a part to turn it off, again to turn it on. A ',
        explained('head'), ' that is off contributes zeros, and so does a ',
        explained('sub-layer'), '; the ' +
        'button \u201call\u201d turns off all heads of a layer.'),
      element('div', { class: 'parts', role: 'group', 'aria-label': 'Parts of the model' },
        parts.map(([change, { name, text, unmasked }]) => {
          const missing = missingIn(config).includes(change);
          return [this.button(change, name, name, missing), element('span', { class: 'soft' },
            missing ? 'This model was trained without.'
              : config.causal_mask ? text : unmasked ?? text)];
        })),
      stacks.map((stack) => this.drawStack(stack)),
    ];
  }

  // A row for each layer: its heads and sub-layers.
  drawStack(stack) {
    const { config } = this.page;
    const parts = subLayersOf(config, stack);
    const title = stack === 'encoder' ? 'Encoder' : 'Decoder';
    return element('div', { class: 'scroll' }, element('table', { class: 'stack' },
      element('tr', {}, element('th', { class: 'text' }, explained(stack, title)),
        parts.map((part) => element('th', { class: 'text', scope: 'col' },
          explained(subLayerNames[part])))),
      Array.from({ length: layersOf(config, stack) }, (_, layer) => element('tr', {},
        element('th', { class: 'text', scope: 'row' }, `layer ${layer}`),
        parts.map((part) => element('td', { class: 'text' },
          this.drawSubLayer(stack, layer, part)))))));
  }

  drawSubLayer(stack, layer, part) {
    const place = `${stack} layer ${layer}`;
    const kind = part === 'cross_attn' ? 'cross' : stack;
    const heads = part === 'ffn' ? 0 : this.page.config.heads;
    return element('div', { class: 'chips' },
      this.button(`${stack}.${layer}.${part}`, part === 'ffn' ? 'network' : 'all',
        `${place}: ${subLayerNames[part]}`),
      Array.from({ length: heads }, (_, head) => this.button(`${kind}.${layer}.${head}`,
        String(head), `${place}: ${subLayerNames[part]}, head ${head}`)));
  }
}
