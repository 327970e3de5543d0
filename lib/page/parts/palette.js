// Colours, computed in OKLab (Ottosson 2020), where equal steps look equal. The sequential palette
// goes from the background to dark blue, in the dark theme to light yellow. Its lightness is
// linear, so it stays ordered in greyscale and for colour-blind readers.

function srgb(lightness, a, b) {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return linear.map((x) => {
    const encoded = x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
    return Math.round(255 * Math.min(1, Math.max(0, encoded)));
  });
}

function fromHue(lightness, chroma, degrees) {
  const angle = (degrees * Math.PI) / 180;
  return srgb(lightness, chroma * Math.cos(angle), chroma * Math.sin(angle));
}

function css(rgb) {
  return `rgb(${rgb.join(' ')})`;
}

// 256 colours from 0, close to the background, to 1: {lightness, a, b} of both ends; the middle is
// shifted to green, since it would be grey.
const sequenceEnds = {
  light: [{ lightness: 0.985, a: -0.004, b: 0.016 }, { lightness: 0.27, a: 0.01, b: -0.12 }],
  dark: [{ lightness: 0.25, a: 0.0, b: -0.045 }, { lightness: 0.94, a: -0.02, b: 0.16 }],
};
const sequences = {};
for (const [theme, [from, to]] of Object.entries(sequenceEnds)) {
  sequences[theme] = Array.from({ length: 256 }, (_, i) => {
    const share = i / 255;
    const between = (key) => from[key] + share * (to[key] - from[key]);
    const bend = 0.07 * Math.sin(Math.PI * share);
    return srgb(between('lightness'), between('a') - bend, between('b'));
  });
}

function currentTheme() {
  return document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light';
}

// The colour of a value from 0 to 1, as [red, green, blue].
function shade(share) {
  return sequences[currentTheme()][Math.round(255 * Math.min(1, Math.max(0, share)))];
}

// Whether text on that colour must be light.
function isDarkShade(share) {
  const [red, green, blue] = shade(share);
  return 0.299 * red + 0.587 * green + 0.114 * blue < 140;
}

// Categorical colours. Neighbours differ in lightness too.
const hues = [255, 55, 160, 345, 95, 215, 25, 300];
const lightnesses = { light: [0.5, 0.62, 0.6, 0.58, 0.7, 0.66, 0.48, 0.45],
  dark: [0.72, 0.78, 0.76, 0.72, 0.88, 0.82, 0.66, 0.68] };
function colourOf(index) {
  const turn = Math.floor(index / hues.length);
  const lightness = lightnesses[currentTheme()][index % hues.length] - 0.06 * (turn % 3);
  return css(fromHue(lightness, 0.14, hues[index % hues.length] + 22 * turn));
}
