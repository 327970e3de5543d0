// Two outputs side by side: before and after the changes, or of two models.

class CompareView {
  constructor(page) {
    this.page = page;
    this.head = element('div', {});
    this.outcome = element('div', { id: 'outcomes' });
    this.tokens = element('div', { class: 'scroll', tabindex: 0 });
    this.pickers = element('div', {});
    this.drawings = element('div', { class: 'columns' });
    this.node = element('div', {}, this.head, this.outcome, this.tokens, this.pickers,
      this.drawings);
  }

  draw() {
    const { page } = this;
    const outcomes = page.outcomes();
    rebuild(this.head, this.drawHead(outcomes));
    replaceChildren(this.outcome, drawOutcomes(outcomes));
    if (outcomes.length < 2) {
      for (const part of [this.tokens, this.pickers, this.drawings]) replaceChildren(part);
      return;
    }
    replaceChildren(this.tokens, this.drawTokens(outcomes));
    rebuild(this.pickers, drawPickers(page, 'compare', drawingChoice(page, 'compare-drawing')));
    const wide = this.node.clientWidth;
    const width = wide > 800 ? wide / 2 - 14 : Math.max(300, wide);
    replaceChildren(this.drawings, outcomes.map(({ name, result }) => element('section', {},
      element('h2', {}, name), this.drawHeadOf(result, width))));
  }

  drawHead(outcomes) {
    const { page } = this;
    const modes = [{ value: 'change', label: 'before and after the changes' },
      { value: 'models', label: 'two models', disabled: page.models.length < 2,
        title: page.models.length < 2 ? 'Give tx-attn-dump --live a second -m' : undefined }];
    return [choice('versus', 'Compare', modes, page.versus,
      (versus) => page.state.set({ versus })),
    outcomes.length < 2 ? element('p', {}, page.versus === 'models'
      ? 'The second model is not ready yet.'
      : 'Nothing is changed yet. Turn something off under \u201cChange the model\u201d, or ' +
        'choose another token under \u201cDecode by hand\u201d.') : null];
  }

  // One row for each output: its tokens with their log P.
  drawTokens(outcomes) {
    const steps = outcomes.map(({ result }) => result.steps);
    return element('table', { class: 'pairs', id: 'pairs' }, outcomes.map(({ name }, side) => [
      element('tr', {}, element('th', { class: 'text', scope: 'row' }, name),
        steps[side].map((step, i) => element('td', { class: 'text',
          title: sayPrediction(step) },
        step.token === steps[1 - side][i]?.token ? step.token : element('mark', {}, step.token),
        element('small', {}, decimal(step.logP, 2)))))]));
  }

  // The same place of another model may not exist.
  drawHeadOf(result, width) {
    const { page } = this;
    if (!result.attention[page.attentionKind]?.[page.layer]?.[page.head]) {
      return element('p', {}, 'This model has no such layer or head.');
    }
    return new HeadDrawing(page, result, width).draw();
  }
}
