// Sentences and their attention: maps of tokens or words, single heads or means of them.

// A matrix of weights: row i attends to column j with values[i * columns + j].
class AttentionMap {
  constructor(rows, columns, values) {
    this.rows = rows;
    this.columns = columns;
    this.values = values;
  }

  at(row, column) {
    return this.values[row * this.columns + column];
  }

  row(row) {
    return this.values.subarray(row * this.columns, (row + 1) * this.columns);
  }

  largest() {
    return this.values.reduce((most, x) => Math.max(most, x), 0);
  }
}

function meanOf(maps) {
  const sum = new Float32Array(maps[0].values.length);
  for (const map of maps) map.values.forEach((x, i) => { sum[i] += x / maps.length; });
  return new AttentionMap(maps[0].rows, maps[0].columns, sum);
}

// Columns of a word are added and rows averaged (Clark et al. 2019), so that rows still sum to 1.
// groups: for each token the number of its word.
function mergedMap(map, rowGroups, columnGroups) {
  const rows = rowGroups.at(-1) + 1;
  const columns = columnGroups.at(-1) + 1;
  const tokens = new Float32Array(rows);
  for (const group of rowGroups) ++tokens[group];
  const values = new Float32Array(rows * columns);
  for (let i = 0; i < map.rows; ++i) {
    for (let j = 0; j < map.columns; ++j) {
      values[rowGroups[i] * columns + columnGroups[j]] += map.at(i, j) / tokens[rowGroups[i]];
    }
  }
  return new AttentionMap(rows, columns, values);
}

// One side of a map: its labels, and for each token the number of its unit. words: {starts, words}.
function unitsOf(tokens, words) {
  if (!words) return { labels: tokens, groups: tokens.map((_, i) => i) };
  const groups = [];
  words.starts.forEach((start, word) => {
    const end = words.starts[word + 1] ?? tokens.length;
    for (let token = start; token < end; ++token) groups[token] = word;
  });
  return { labels: words.words, groups };
}

class Sentence {
  constructor(record) {
    this.record = record;
    this.decoded = new Map();
  }

  // {rows, columns} of a kind of attention, both from unitsOf(). The rows of decoder and cross are
  // the tokens predicted.
  sides(kind, byWords) {
    const side = (list) => unitsOf(this.record[list], byWords ? this.record.words[list] : null);
    if (kind === 'encoder') return { rows: side('source'), columns: side('source') };
    return { rows: side('target'), columns: side(kind === 'decoder' ? 'input' : 'source') };
  }

  // The log P and rank of each target token; words have the sum of their tokens' log P and no rank.
  // null if the page does not include them.
  likelihoods(byWords) {
    const { log_p: logP, rank, target, words } = this.record;
    if (!logP) return null;
    const { labels, groups } = unitsOf(target, byWords ? words.target : null);
    const out = labels.map((label) => ({ label, logP: 0 }));
    logP.forEach((x, i) => {
      out[groups[i]].logP += x;
      if (!byWords) out[i].rank = rank[i];
    });
    return out;
  }

  decode(name, kindPlace, convert) {
    const key = `${name} ${kindPlace}`;
    if (!this.decoded.has(key)) this.decoded.set(key, convert(this.record[name][kindPlace]));
    return this.decoded.get(key);
  }

  // The map of one head. The places are indices into the page's lists of kinds, layers and heads.
  map(kindPlace, layerPlace, headPlace, byWords) {
    const { kind } = data.kinds[kindPlace];
    const tokens = this.sides(kind, false);
    const rows = tokens.rows.labels.length;
    const columns = tokens.columns.labels.length;
    const all = this.decode('weights', kindPlace, sharesOf);
    const start = (layerPlace * data.heads.length + headPlace) * rows * columns;
    const map = new AttentionMap(rows, columns, all.subarray(start, start + rows * columns));
    if (!byWords) return map;
    const merged = this.sides(kind, true);
    return mergedMap(map, merged.rows.groups, merged.columns.groups);
  }

  // Queries, keys or values (name: q, k, v) of one head: an array for each row of that side.
  vectors(name, kindPlace, layerPlace, headPlace) {
    const all = this.decode(name, kindPlace, (layers) => layers.map(numbersOf))[layerPlace];
    const width = name === 'v' ? data.d_v : data.d_k;
    const rows = all.length / width / data.heads.length;
    const start = headPlace * rows * width;
    return Array.from({ length: rows }, (_, i) =>
      all.subarray(start + i * width, start + (i + 1) * width));
  }
}
