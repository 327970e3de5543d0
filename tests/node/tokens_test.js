// Compares the tokens of pages of tx-attn-dump --live with those of tx-bpe encode.
//
//   tokens_test.js TEXT (MODEL PAGE)...
//
// The lines are those of TEXT, and some of unusual characters.
'use strict';
const { execFileSync } = require('child_process');
const { open, linesOf, check, run } = require('./live.js');

// U+2581, combining marks, compatibility forms, surrogate pairs, special tokens, spaces, controls.
const unusual = [
  ...`a e s the ing 12 3 ▁ ▁▁ ▁the @@ ä ß é é q̣̇ ｶﾞ ﬁ ① Ａ ½ ² … ™ Ⅷ ſ İ 각 각 ﷺ 猫 日本
    العربية שלום हिन्दी ไทย 😀 👩‍👩‍👧 🇩🇪 👍🏽 <s> </s> <unk> <pad> <0x41> <mask> <extra_id_0> >>fra<<
    &amp; http://a.b \\ " '`.split(/[ \n]+/),
  ...'   \t\0\x01\x7f\x85\xa0\u200b\u2003\u3000\ufeff\u2028\ufffd\u{10fffd}\u{10fffc}'];

// Whole numbers below `limit`, the same in every run.
let state = 1;
function draw(limit) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor(state / 2 ** 32 * limit);
}
const times = (count, make) => Array.from({ length: count }, make);

function unusualLines() {
  const ranges = [[14, 128], [128, 2048], [2048, 0xD800], [0xE000, 0x110000]];
  return [
    ...times(400, () => times([1, 2, 3, 5, 8, 13, 30][draw(7)],
      () => unusual[draw(unusual.length)]).join('')),
    ...times(100, () => times(1 + draw(8), () => {
      const [from, to] = ranges[draw(4)];
      return String.fromCodePoint(from + draw(to - from));
    }).join('')),
    'a'.repeat(2000), 'ab'.repeat(500), '猫'.repeat(300), `${'Ä'.repeat(100)} b`, ' the  house ',
    'the'];
}

async function checkTokens(model, file, lines) {
  const page = await open(file);
  const idsOf = async (line) => (await page.live.tokenize(line)).ids.join(' ');
  const wanted = execFileSync('tx-bpe', ['encode', '--ids', '-m', model],
    { input: lines.join('\n'), encoding: 'utf-8', stdio: 'pipe', maxBuffer: 1e8 }).split('\n');
  for (const [i, line] of lines.entries()) {
    const ids = await idsOf(line);
    check(ids === wanted[i], `${model}: ${JSON.stringify(line)} becomes ${ids}, not ${wanted[i]}`);
  }
  // What a field of the page can contain, but no line of a file: line breaks, half characters.
  for (const [text, same] of [['the\nhouse', 'the house'], ['the \ud800house', 'the \ufffdhouse'],
    [' \u3000\n ', '']]) {
    check(await idsOf(text) === await idsOf(same), `${model}: ${JSON.stringify(text)}`);
  }
  console.log(`${model}: ${lines.length} lines`);
  page.close();
}

run(async () => {
  const [text, ...files] = process.argv.slice(2);
  // tx-bpe skips blank lines.
  const lines = [...linesOf(text), ...unusualLines()].filter((line) => !/^[\s\x85]*$/.test(line));
  while (files.length) await checkTokens(...files.splice(0, 2), lines);
});
