// The ten stops of the tour, see guide.js. A title, text or state may depend on the page: on its
// model, and on the result that is shown, if there is one yet.

// The part of the model that reads the text.
const reader = (page) => (page.kind === 'decoder' ? 'decoder' : 'encoder');

// The head whose rows put large weights on different columns, the easiest to read.
function clearestHead(page, kind) {
  let best = { clarity: -1, layer: '', head: '0' };
  page.result?.attention[kind]?.forEach((heads, layer) => heads.forEach((map, head) => {
    const columns = new Set();
    let sum = 0;
    for (let row = 0; row < map.rows; ++row) {
      const weights = map.data.subarray(row * map.cols, (row + 1) * map.cols);
      const largest = weights.reduce((most, x) => Math.max(most, x), 0);
      columns.add(weights.indexOf(largest));
      sum += largest;
    }
    const clarity = sum * columns.size;
    if (clarity > best.clarity) best = { clarity, layer, head };
  }));
  return { layer: best.layer, head: best.head };
}

// What the tokens of the text are.
function tokensText(page) {
  const tokens = (page.result?.source.tokens ?? []).map(({ text }) => text);
  return [tokens.length > 0 ? `This text has ${tokens.length} tokens. ` : '',
    tokens.at(-1) === '</s>' ? 'The last one, </s>, marks its end. ' : '',
    tokens.some((text) => text.includes('\u2581')) ? 'The sign \u2581 stands for a space: it is ' +
      'part of the token that follows. ' : ''].join('');
}

const positionTexts = {
  sinusoid: 'A second vector is therefore added, which depends only on the position: sines and ' +
    'cosines of different wavelengths.',
  learned: 'A second vector is therefore added, which is learned for each position.',
  rotary: 'This model therefore rotates queries and keys by an angle that grows with the position.',
  alibi: 'This model therefore lowers the scores of distant tokens.',
  none: 'This model has no positions: only the causal mask of a decoder tells it about the order.',
};

const readsText = {
  'encoder-decoder': ['The third kind of attention, cross, connects the two halves of the model: ' +
    'queries come from the decoder, keys and values from the output of the encoder. Each word of ' +
    'the translation looks at the words of the source.',
  'Besides these, the decoder reads what it has written itself. It begins with <s>, predicts a ' +
    'token, reads it, predicts the next one, until it predicts </s>.',
  'Try: press a word on the left. Often, the strongest line leads to the word that it translates.'],
  decoder: ['A decoder reads the beginning that you type, and then what it has written ' +
    'itself: it predicts a token, reads it, and predicts the next one, until it predicts </s>. ' +
    'It knows nothing else.',
  'Try: press a token on the left to see which earlier tokens it looks at.'],
  encoder: ['An encoder does not write. It reads the whole text at once and computes a vector ' +
    'for each token that also says what surrounds it. For a <mask> it has only the surroundings, ' +
    'and that is how it learns language: by guessing hidden words.',
  'Try: press a token on the left to see which tokens it looks at.'],
};

// The part that the last stop turns off. Rotary and ALiBi positions change little in a short text.
const missingTexts = {
  positions: 'The positions are off now: the model knows which tokens the text has, but not in ' +
    'which order.',
  residual: 'The residual connections are off now: each sub-layer replaces the vector of a token ' +
    'instead of adding to it.',
  scale: 'The scaling is off now, and the weights of attention are too sharp.',
};
function missingPart(config) {
  const missing = missingIn(config);
  const added = !['rotary', 'alibi'].includes(config.positions);
  return ['positions', 'residual', 'scale'].find((part) =>
    !missing.includes(part) && (part !== 'positions' || added)) ?? 'positions';
}

const tourStops = [
  { title: 'Text becomes tokens', at: '#source-tokens', state: { view: 'attention' },
    text: (page) => ['The model reads neither letters nor words but tokens, pieces of text from ' +
      'a fixed list, its vocabulary. The line marked here shows how your text is cut.',
    `${tokensText(page)}The number below a token is its id, its place in the vocabulary. These ` +
      'numbers are all that the model receives.'] },

  { title: 'Why pieces of words', at: '#source', state: { view: 'attention' },
    text: (page) => [['A list of all words would be endless and would still lack the name of ' +
      'your street. With single letters, every sentence would be very long. ',
    explained('subword', 'Subwords'), ' are between the two: ' +
      `this vocabulary has ${thousands(page.config.source_vocabulary ||
        page.config.target_vocabulary)} tokens. A frequent word is one token, a rare word is ` +
      'several, and most vocabularies can spell any text, if need be byte by byte.'],
    'Try: type a long or an invented word here, and watch the tokens below.'] },

  { title: 'Tokens become vectors', at: '#stage-x',
    state: (page) => ({ view: 'values', kind: reader(page), layer: 0, head: 0, query: 1,
      number: '' }),
    text: ({ config, kind }) => [`Each id is replaced by ${config.d_model} numbers: the ` +
      'embedding of the token. They are learned in training; tokens that are used alike get ' +
      'similar numbers. ' +
      'The bars marked here are the vector of one token: bars that point up are positive ' +
      'numbers, bars that point down are negative ones.',
    'Attention, which comes next, does not know which token comes first. ' +
      `${positionTexts[config.positions] ?? positionTexts.sinusoid}`,
    `Try: choose another token from the list \u201c${queryName(reader({ kind }))}\u201d at the ` +
      'top of this view.'] },

  { title: 'What a head looks at', at: '#lines',
    state: (page) => ({ view: 'attention', kind: reader(page), drawing: 'lines', query: 1,
      number: '', ...clearestHead(page, reader(page)) }),
    text: () => ['Alone, the token \u201cbank\u201d may be a river bank or a savings bank. So ' +
      'every token looks at the others and takes over a part of what they know: this is ' +
      'attention. What looks in this way is called a head.',
    'On the left is the token that looks, on the right are the tokens that it looks at. The ' +
      'stronger the line, the larger is the weight; the weights of a token add up to 1.',
    'Try: press other tokens on the left. The arrow keys choose other heads and layers.'] },

  { title: 'Scores, scaling, softmax', at: '#numbers',
    state: (page) => ({ view: 'values', kind: reader(page), query: 1, number: '' }),
    text: ({ config }) => ['Where do the weights come from? A head computes three vectors of ' +
      'each token: a query (what do I look for?), a key (what do I offer?) and a value (what ' +
      'do I pass on?). Read the table from left to right:',
    ['The ', explained('dot product'), ' of the query and a key is a score: large if the two ' +
      `fit. It is divided by \u221a${config.d_k}, since dot products of long vectors are large. ` +
      'The softmax makes ' +
      'positive weights of the scores that add up to 1. The output of the head is the mean of ' +
      'the values with these weights.'],
    'Try: press a row of the table. The numbers below it show the arithmetic.'] },

  { title: 'Why several heads', at: '#heads',
    state: (page) => ({ view: 'attention', kind: reader(page), query: '', number: '' }),
    text: (page) => [`Each layer has ${page.config.heads} heads, and there are ${page.layers} ` +
      'layers. Each head has its own matrices for queries, keys and values, and so it can look ' +
      'for something else: the neighbour, the noun of an adjective, the end of the sentence. ' +
      'Nobody tells it what; it follows from the training.',
    'The outputs of all heads are joined and mixed. A feed-forward network then transforms each ' +
      'token by itself, and the next layer looks at the result.',
    'Try: press the small maps, and look for one with a clear pattern.'] },

  { title: 'Why the causal mask', at: '#matrix', kinds: ['encoder-decoder', 'decoder'],
    state: { view: 'attention', kind: 'decoder', drawing: 'matrix', query: '', number: '' },
    text: (page) => ['The decoder predicts one token after the other. Each row of this map is ' +
      'one prediction, each column a token that the decoder has read before. The upper right ' +
      'half is empty: those tokens are not known yet.',
    'In training they are known: the whole correct output is the input, so that all predictions ' +
      'can be learned at once. Without the mask, the model would learn to copy the next token ' +
      'instead of predicting it. The mask therefore sets the scores of later tokens to ' +
      '\u2212\u221e, which the softmax turns into weight 0.',
    ['Try: ', element('button', { type: 'button', id: 'show-masked', onclick: () =>
      page.guide.show('#numbers th.masked', { view: 'values', query: 1, number: '' }) },
    'show the column \u201cMasked\u201d'), ' of the view \u201cFollow one number\u201d.']] },

  { title: 'Why an encoder has no mask', at: '#matrix', kinds: ['encoder'],
    state: { view: 'attention', kind: 'encoder', drawing: 'matrix', query: '', number: '' },
    text: () => ['Each row of this map is a token that looks, each column a token that it looks ' +
      'at. The whole map is filled: the text is known from the beginning, so each token may look ' +
      'to the left and to the right.',
    'A model that writes text needs a causal mask, which hides the tokens that are not written ' +
      'yet. Instead, an encoder learns from words that are hidden in the text.'] },

  { title: (page) => (page.kind === 'encoder' ? 'What the encoder reads'
    : 'What the decoder reads'), at: '#lines',
  state: (page) => ({ view: 'attention', kind: page.kinds.at(-1), drawing: 'lines', query: '',
    number: '', ...clearestHead(page, page.kinds.at(-1)) }),
  text: (page) => readsText[page.kind] },

  { title: 'How the next token is chosen', at: '#candidates',
    state: (page) => ({ view: 'hand', beam: 1, step: page.kind === 'encoder' ? 0 : 1 }),
    text: (page) => ['At the end, the vector of the last token is compared with the embedding of ' +
      'every token of the vocabulary. A softmax turns the results into probabilities. Here are ' +
      'the ten likeliest tokens.',
    page.kind === 'encoder' ? 'The likeliest token takes the place of the mask.'
      : 'The simplest search takes the likeliest one each time. A beam search keeps several ' +
        'outputs and chooses the one with the best total; move the slider to see its tree.',
    page.kind === 'encoder' ? 'Try: press another token.' : 'Try: press a token that is not the ' +
      'first. The model must continue from your choice.'] },

  { title: 'What if a part is missing?', at: '#outcome',
    state: ({ config }) => ({ view: 'changes', off: missingPart(config) }),
    text: ({ config }) => [missingTexts[missingPart(config)] + ' Compare the two outputs.',
    'Press a switch to turn off a head, a sub-layer or another part. Some heads can be missing ' +
      'without any change, others cannot. This is how one finds out what a part of a network ' +
      'is for. Reset brings everything back.',
    'The address of this page holds all that you change: copy it to share what you found.'] },
];
