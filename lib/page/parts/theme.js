// Dark or light: as the system has it until a button says otherwise; paper is always light.

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
