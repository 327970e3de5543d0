// The state of the page, light and dark colours, and the keyboard.

// The user's choices: named strings, stored in the URL after '#' so that a link restores the view.
// fields: {name: {fallback, check, longest}}; check(value) returns whether the value is valid; a
// longer one in the URL is cut.
class State {
  constructor(fields) {
    this.fields = fields;
    this.listeners = [];
    this.values = {};
    this.read();
    window.addEventListener('hashchange', () => {
      this.read();
      this.notify();
    });
  }

  read() {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const [name, field] of Object.entries(this.fields)) {
      const value = given.get(name)?.slice(0, field.longest) ?? null;
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
    this.notify();
  }

  // Writes the values that differ from their defaults into the URL.
  write() {
    const out = new URLSearchParams();
    for (const [name, field] of Object.entries(this.fields)) {
      if (this.values[name] !== field.fallback) out.set(name, this.values[name]);
    }
    const hash = out.toString().replaceAll('%2C', ',');
    try {
      history.replaceState(null, '', hash ? `#${hash}` : location.pathname + location.search);
    } catch {
      // Browsers refuse many calls in a short time: the link is then not updated.
    }
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  notify() {
    for (const listener of this.listeners) listener();
  }
}

function oneOf(values) {
  return (text) => values.map(String).includes(text);
}

// Dark or light: follows the system until the user presses the button; printing is always light.
const systemDark = window.matchMedia('(prefers-color-scheme: dark)');

class Theme {
  constructor(redraw) {
    this.chosen = '';
    this.printing = false;
    this.redraw = redraw;
    this.apply();
    systemDark.addEventListener('change', () => this.change());
    window.addEventListener('beforeprint', () => this.print(true));
    window.addEventListener('afterprint', () => this.print(false));
  }

  get dark() {
    return !this.printing && (this.chosen ? this.chosen === 'dark' : systemDark.matches);
  }

  apply() {
    document.documentElement.dataset.theme = this.dark ? 'dark' : 'light';
  }

  change() {
    this.apply();
    this.redraw();
  }

  print(printing) {
    this.printing = printing;
    this.change();
  }

  toggle() {
    this.chosen = this.dark ? 'light' : 'dark';
    this.change();
  }

  button() {
    return element('button', {
      type: 'button', id: 'theme', title: 'Light or dark (t)', onclick: () => this.toggle(),
    }, this.dark ? '\u2600 Light' : '\u263e Dark');
  }
}

// Keyboard shortcuts and the dialog that lists them.
class Keyboard {
  // keys: [{keys: ['ArrowLeft'], shown: '\u2190', what: 'previous head', run}]
  constructor(keys) {
    this.keys = keys;
    this.dialog = element('dialog', { id: 'help', 'aria-label': 'Keys' },
      element('h2', {}, 'Keys'),
      element('table', {}, keys.map(({ shown, what }) => element('tr', {},
        element('td', { class: 'text' },
          shown.split(' ').map((key) => [element('kbd', {}, key), ' '])),
        element('td', { class: 'text' }, what)))),
      element('p', {}, element('button', { type: 'button', onclick: () => this.dialog.close() },
        'Close')));
    document.body.append(this.dialog);
    document.addEventListener('keydown', (event) => this.press(event));
  }

  press(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || this.dialog.open) return;
    const focused = document.activeElement;
    if (focused?.matches('textarea, input[type="text"]')) return;
    const takesArrows = focused && ['INPUT', 'SELECT', 'TEXTAREA'].includes(focused.tagName);
    if (takesArrows && /^(Arrow|Home|End|Page)/.test(event.key)) return;
    if (focused?.tagName === 'SELECT' && event.key.length === 1) return;
    const found = this.keys.find((entry) => entry.keys.includes(event.key));
    if (!found) return;
    event.preventDefault();
    found.run(event.key);
  }

  help() {
    this.dialog.showModal();
  }

  button() {
    return element('button', {
      type: 'button', id: 'keys', title: 'Keys (?)', onclick: () => this.help(),
    }, '? Keys');
  }
}
