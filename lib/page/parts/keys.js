// The keyboard, and the list of its keys, both from one description.

class Keyboard {
  // keys: [{keys: ['ArrowLeft'], shown: '\u2190', what: 'head before', run}]
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
