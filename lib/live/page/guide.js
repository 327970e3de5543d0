// The frame of the tour, whose stops are in tour.js. A stop shows a state of the page and a text.

class Guide {
  constructor(page) {
    this.page = page;
    this.stops = tourStops.filter(({ kinds }) => !kinds || kinds.includes(page.config.kind));
    this.place = null;
    this.node = element('aside', { id: 'tour', 'aria-label': 'Tour', hidden: true });
  }

  button() {
    return element('button', { type: 'button', id: 'tour-start', disabled: !this.stops.length,
      'aria-expanded': String(this.place !== null), title: 'What the page shows, step by step',
      onclick: () => this.go(this.place === null ? 0 : null) }, 'Tour');
  }

  go(place) {
    this.place = place;
    this.at = null;
    this.unfolded = false;
    const stop = this.stops[place];
    this.unseen = true;
    this.page.state.set({ ...unchanged, ...this.of(stop?.state ?? {}) });
    this.page.draw();
    if (stop) document.getElementById('tour-title').focus({ preventScroll: true });
  }

  // Shows another part of the page at the same stop.
  show(at, state) {
    this.at = at;
    this.unseen = true;
    this.page.state.set(state);
  }

  of(value) {
    return typeof value === 'function' ? value(this.page) : value;
  }

  // Outlines the part of the page that the stop is about, and scrolls to it until the model is
  // done.
  point() {
    for (const node of document.querySelectorAll('.pointed')) node.classList.remove('pointed');
    const at = this.at ?? this.stops[this.place]?.at, found = at && document.querySelector(at);
    if (!found) return;
    // An outline around the content of a part that scrolls would be cut.
    const node = found.matches('th') ? found : found.closest('.scroll') ?? found;
    node.classList.add('pointed');
    const large = node.getBoundingClientRect().height > innerHeight / 2;
    if (this.unseen) node.scrollIntoView({ block: large ? 'start' : 'nearest',
      inline: this.at ? 'center' : 'nearest' });
    this.unseen &&= this.page.status.dataset.state !== 'ready';
  }

  draw() {
    const stop = this.stops[this.place];
    this.node.hidden = !stop;
    document.body.classList.toggle('touring', Boolean(stop));
    if (!stop) {
      this.point();
      return replaceChildren(this.node);
    }
    const last = this.place === this.stops.length - 1;
    this.node.classList.toggle('unfolded', this.unfolded);
    rebuild(this.node,
      element('div', { class: 'bar' },
        element('span', { class: 'soft', id: 'tour-stop' },
          `Stop ${this.place + 1} of ${this.stops.length}`),
        element('button', { type: 'button', id: 'tour-back', disabled: this.place === 0,
          onclick: () => this.go(this.place - 1) }, '\u25c2 Back'),
        element('button', { type: 'button', id: 'tour-next',
          onclick: () => this.go(last ? null : this.place + 1) }, last ? 'Done' : 'Next \u25b8'),
        element('button', { type: 'button', id: 'tour-close', onclick: () => this.go(null) },
          'Close')),
      element('h2', { id: 'tour-title', tabindex: -1 }, this.of(stop.title)),
      this.of(stop.text).map((text) => element('p', {}, text)),
      // Only shown where the tour is below the page.
      element('button', { type: 'button', id: 'tour-more',
        'aria-expanded': String(this.unfolded), onclick: () => {
          this.unfolded = !this.unfolded;
          this.draw();
        } }, this.unfolded ? 'Less' : 'Read on'));
    this.point();
  }
}
