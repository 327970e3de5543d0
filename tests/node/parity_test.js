// Compares pages of tx-attn-dump --live with tx-decode and tx-bpe.
//
//   parity_test.js (PAGE TEXT DECODED ENCODED SHARE)...
//
// For each line of TEXT: the page's greedy output and its log P (to 0.001) against the line of
// DECODED (tx-decode --json --beam 1, or texts alone), and the tokens of the line against ENCODED
// (tx-bpe encode). DECODED and ENCODED may be "-", for no comparison. SHARE is 1; below, for weights
// in f16, at least this share of the outputs must be equal, and log P to a thousandth. The first
// lines are also translated without WebAssembly. Prints the numbers of lines.
'use strict';
const { open, linesOf, check, run } = require('./live.js');

const plainLines = 3;  // without WebAssembly

async function checkOutputs({ live }, lines, decoded, share) {
  const different = [];
  let largest = 0;
  for (const [i, line] of lines.entries()) {
    const wanted = decoded[i], got = await live.translate(line, { beam: 1 });
    if (got.text !== wanted.text) {
      different.push(`line ${i + 1}: "${got.text}" instead of "${wanted.text}"`);
    } else if (wanted.log_p !== undefined) {
      const off = Math.abs(got.logP - wanted.log_p), { pieces } = wanted;
      largest = Math.max(largest, off);
      check(off <= 1e-3 * (share === 1 ? 1 : Math.max(1, Math.abs(wanted.log_p))),
        `line ${i + 1}: log P ${got.logP} instead of ${wanted.log_p}`);
      check(got.tokens.slice(0, pieces.length).join(' ') === pieces.join(' '),
        `line ${i + 1}: tokens ${got.tokens} instead of ${pieces}`);
    }
  }
  const equal = lines.length - different.length;
  check(equal >= share * lines.length, different.slice(0, 5).join('\n'));
  return `${equal} of ${lines.length} outputs equal, largest difference of log P `
    + largest.toExponential(1);
}

async function checkTokens({ live }, lines, encoded) {
  for (const [i, line] of lines.entries()) {
    const got = (await live.tokenize(line)).tokens.map(({ text }) => text).join(' ');
    check(got === encoded[i], `line ${i + 1}, "${line}": tokens ${got} instead of ${encoded[i]}`);
  }
  return `${lines.length} lines have equal tokens`;
}

async function checkPage(file, text, decodedFile, encodedFile, share) {
  const lines = linesOf(text), page = await open(file);
  const counted = (name) => {
    const other = linesOf(name);
    check(other.length === lines.length, `${other.length} lines in ${name}, not ${lines.length}`);
    return other;
  };
  if (decodedFile !== '-') {
    const decoded = counted(decodedFile).map((line) => (
      line.startsWith('{') ? JSON.parse(line) : { text: line }));
    console.log(`${file}: ${await checkOutputs(page, lines, decoded, Number(share))}`);
    const plain = await open(file, { prelude: 'globalThis.WebAssembly = undefined;' });
    await checkOutputs(plain, lines.slice(0, plainLines), decoded, Number(share));
    plain.close();
  }
  if (encodedFile !== '-') {
    console.log(`${file}: ${await checkTokens(page, lines, counted(encodedFile))}`);
  }
  page.close();
}

run(async () => {
  for (const words = process.argv.slice(2); words.length;) await checkPage(...words.splice(0, 5));
});
