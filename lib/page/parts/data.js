// What the tool wrote into the page: JSON, whose long arrays are base64 of little-endian numbers.

const data = JSON.parse(document.getElementById('data').textContent);

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// Unsigned 16-bit parts of 1.
function sharesOf(base64) {
  const units = new Uint16Array(bytesOf(base64).buffer);
  return Float32Array.from(units, (unit) => unit / 65535);
}

// Signed 16-bit multiples of array.scale.
function numbersOf(array) {
  const units = new Int16Array(bytesOf(array.data).buffer);
  return Float32Array.from(units, (unit) => unit * array.scale);
}
