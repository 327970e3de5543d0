// What is shown, kept in the address behind '#', so that a link leads to the same picture.

// fields: {name: {fallback, check}}; check() tells whether a value can be shown, and may return a
// corrected one. Values are strings.
class State {
  constructor(fields) {
    this.fields = fields;
    this.listeners = [];
    this.values = {};
    this.read();
    window.addEventListener('hashchange', () => {
      this.read();
      this.tell();
    });
  }

  read() {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const [name, field] of Object.entries(this.fields)) {
      const value = given.get(name);
      this.values[name] = value !== null && field.check(value) ? value : field.fallback;
    }
  }

  get(name) {
    return this.values[name];
  }

  set(changes) {
    for (const [name, value] of Object.entries(changes)) {
      const text = String(value);
      if (this.fields[name].check(text)) this.values[name] = text;
    }
    this.write();
    this.tell();
  }

  // Only what differs from the usual stands in the address.
  write() {
    const out = new URLSearchParams();
    for (const [name, field] of Object.entries(this.fields)) {
      if (this.values[name] !== field.fallback) out.set(name, this.values[name]);
    }
    const hash = out.toString().replaceAll('%2C', ',');
    history.replaceState(null, '', hash ? `#${hash}` : location.pathname + location.search);
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  tell() {
    for (const listener of this.listeners) listener();
  }
}

function oneOf(values) {
  return (text) => values.map(String).includes(text);
}
