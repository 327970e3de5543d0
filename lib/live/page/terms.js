// Technical terms with a dotted underline. A term shows its sentence when it is hovered over,
// tapped or focused.

const glossary = {
  attention: 'Attention lets each token look at others and take over a part of what they know. ' +
    'encoder: source tokens look at source tokens. decoder: output tokens look at earlier output ' +
    'tokens. cross: output tokens look at source tokens.',
  beam: 'The number of unfinished outputs that the search keeps at each step. Beam 1 keeps only ' +
    'the likeliest token.',
  decoder: 'The decoder writes the output, one token after another.',
  'dot product': 'Multiply the two vectors number by number and add the products. The result is ' +
    'large if the vectors point in a similar direction.',
  encoder: 'The encoder reads the whole source and computes a vector for each of its tokens.',
  'encoder-decoder': 'A model with two parts: the encoder reads the source, and the decoder ' +
    'writes the output, one token after another.',
  'feed-forward': 'A small network that transforms the vector of each token without looking at ' +
    'the other tokens.',
  head: 'A head is one of several parts of an attention layer that look at the tokens ' +
    'independently of each other.',
  key: 'A key is a vector that says what a token offers. Keys are compared with a query.',
  layer: 'A layer transforms the vectors of all tokens. Layers follow one another; layer 0 is ' +
    'the first.',
  'length penalty': 'Divides log P of an output by a power of its length, because log P falls ' +
    'with each token. 0 does not divide; a larger value prefers longer outputs.',
  'log P': 'The natural logarithm of the probability of the output. 0 means that the model is ' +
    'certain; the further below 0, the less probable is the output.',
  norm: 'Normalisation brings the numbers of a vector to a common size, so that they neither ' +
    'grow nor shrink from layer to layer.',
  output: 'Divides the scores of all tokens before the last softmax. Below 1, the likeliest ' +
    'tokens become more probable; above 1, the probabilities become more equal.',
  query: 'A query is a vector that says what a token looks for. It is compared with the keys of ' +
    'the other tokens.',
  residual: 'A residual connection adds the input of a sub-layer to its output, so that nothing ' +
    'that the vector contained is lost.',
  scores: 'Divides the scores before the softmax. Below 1, a head looks at fewer tokens; above ' +
    '1, it looks at more tokens equally.',
  'sub-layer': 'A part of a layer: self-attention, cross-attention or the feed-forward network.',
  subword: 'A subword is a part of a word, such as \u201csnow\u201d and \u201cball\u201d in ' +
    '\u201csnowball\u201d.',
  'self-attention': 'The tokens of a text look at the tokens of the same text.',
  'cross-attention': 'The tokens of the output look at the tokens of the source.',
  token: 'The natural logarithm of the probability of this token. 0 means that the model is ' +
    'certain.',
  vector: 'A vector is a list of numbers. The model represents each token by a vector of this ' +
    'length, d_model.',
};

// The sentence of the open term, next to it.
class TermNote {
  constructor() {
    this.node = element('div', { id: 'term-note', role: 'tooltip', hidden: true });
    document.body.append(this.node);
    document.addEventListener('scroll', () => this.place(), true);
    document.addEventListener('pointerdown', (event) => {
      if (!this.term?.contains(event.target)) this.close();
    });
    document.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.close();
    });
  }

  open(term, sentence) {
    this.close();
    this.term = term;
    this.node.textContent = sentence;
    this.node.hidden = false;
    term.setAttribute('aria-describedby', this.node.id);
    this.place();
  }

  close() {
    this.term?.removeAttribute('aria-describedby');
    this.term = null;
    this.node.hidden = true;
  }

  // Below the term, or above it if there is more space. A term that was redrawn closes.
  place() {
    if (!this.term) return;
    if (!this.term.isConnected) return this.close();
    const box = this.term.getBoundingClientRect(), { offsetWidth, offsetHeight } = this.node;
    const left = Math.max(8, Math.min(box.left, document.documentElement.clientWidth -
      offsetWidth - 8));
    const below = box.bottom + 6;
    const top = below + offsetHeight < innerHeight ? below : box.top - offsetHeight - 6;
    this.node.setAttribute('style', `left:${left}px;top:${Math.max(4, top)}px`);
  }
}
const termNote = new TermNote();

// A term that calls show(node) and hide().
function termNode(label, show, hide, attributes = {}) {
  const node = element('span', { class: 'term', tabindex: 0, ...attributes,
    onpointerenter: () => show(node), onfocus: () => show(node), onclick: () => show(node),
    onblur: hide,
    // A finger that is lifted leaves the term open.
    onpointerleave: (event) => event.pointerType === 'mouse' && hide() }, label);
  return node;
}

// A term of the glossary.
function explained(name, label = name) {
  return termNode(label, (node) => termNote.open(node, glossary[name]), () => termNote.close(),
    { 'data-term': name });
}
