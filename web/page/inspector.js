// The turn inspector: what the engine's records say, as they change. It gets
// numbers and times, no texts.

const el = (tag, className, text) => {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
};

const seconds = (ms) => (ms / 1000).toFixed(1) + ' s';
const outcomes = {
  sent: 'good', stopped: 'calm', superseded: 'dropped', stale: 'dropped', withdrawn: 'dropped', failed: 'bad', lease_lost: 'bad',
};
const mostEvents = 60;

export class Inspector {
  constructor(root) {
    this.root = root;
    this.last = null;
    this.events = [];
    this.renewals = 0;
    this.onClose = () => {};
    this.build();
    setInterval(() => this.tick(), 100);
  }

  build() {
    const head = el('div', 'head');
    head.append(el('h2', '', 'Turn inspector'), el('code', 'key'), el('span', 'grow'));
    const close = el('button', 'icon', '×');
    close.type = 'button';
    close.setAttribute('aria-label', 'Close');
    close.onclick = () => this.onClose();
    head.append(close);
    this.keyBox = head.querySelector('.key');
    this.numbers = el('dl', 'numbers');
    this.timer = this.card('Timer', 'when the person counts as finished');
    this.lease = this.card('Lease', 'the right to work on the conversation');
    this.input = this.card('Input', 'messages without an answer, by number');
    this.outbox = this.card('Outbox', 'committed, on its way to the screen');
    this.journal = this.card('Journal', 'what became of each generation');
    this.stream = this.card('Events', 'newest first');
    this.root.replaceChildren(head, this.numbers, ...[this.timer, this.lease, this.input, this.outbox, this.journal, this.stream].map((c) => c.box));
  }

  card(title, why) {
    const box = el('section', 'card');
    const h = el('h3', '', title);
    const body = el('div', 'card-body');
    h.append(el('small', '', why));
    box.append(h, body);
    return { box, body };
  }

  now() { return Date.now() + this.skew; }

  show(f) {
    this.skew = Date.parse(f.now) - Date.now();
    this.note(this.last, f);
    if (f.lease && this.last?.lease && f.lease.epoch === this.last.lease.epoch) {
      if (f.lease.expiry !== this.last.lease.expiry) this.renewals++;
    } else {
      this.renewals = 0;
    }
    this.last = f;
    this.keyBox.textContent = f.key ?? '';
    this.fill(f);
    this.tick();
  }

  fill(f) {
    const pairs = [
      ['version', f.version], ['answered', f.answered], ['generation', f.generation],
      ['restarts', f.restarts + ' / ' + f.policy.max_restarts], ['failures', f.failures], ['turns', f.turns],
    ];
    this.numbers.replaceChildren(...pairs.map(([k, v]) => {
      const d = el('div');
      d.append(el('dt', '', k), el('dd', '', String(v)));
      return d;
    }));
    this.fillInput(f);
    this.fillOutbox(f);
    this.fillJournal(f);
  }

  fillInput(f) {
    const body = el('div', 'chips');
    for (const m of f.waiting) {
      const inSnapshot = f.lease?.snapshot.includes(m.id);
      const chip = el('span', 'chip ' + (inSnapshot ? 'snap' : ''), '#' + m.id);
      chip.append(el('small', '', ' v' + m.version + (m.edited ? ' edited' : '') + (inSnapshot ? ' · in the snapshot' : '')));
      body.append(chip);
    }
    if (!f.waiting.length) body.append(el('span', 'none', f.rest ? 'resting: ' + f.rest : 'nothing waits'));
    this.input.body.replaceChildren(body);
  }

  fillOutbox(f) {
    const items = f.outbox.map((r) => {
      const line = el('div', 'line');
      line.append(el('b', '', r.notice ? 'notice ' + r.notice : r.revision ? 'revision' : 'answer'), el('span', 'dim', r.generation ? ' of generation ' + r.generation : ''));
      for (const p of r.parts) line.append(' ', el('span', 'chip ' + p, p));
      return line;
    });
    this.outbox.body.replaceChildren(...(items.length ? items : [el('span', 'none', 'empty')]));
  }

  fillJournal(f) {
    const rows = f.journal.slice(0, 12).map((j) => {
      const line = el('div', 'line');
      line.append(el('span', 'chip ' + (outcomes[j.outcome] ?? ''), j.outcome.replace('_', ' ')), el('span', '', ' generation ' + j.generation + ', version ' + j.version));
      const more = [j.reason, j.took_ms ? seconds(j.took_ms) : '', j.id ? 'error ' + j.id : ''].filter(Boolean).join(' · ');
      if (more) line.append(el('span', 'dim', ' · ' + more));
      return line;
    });
    this.journal.body.replaceChildren(...(rows.length ? rows : [el('span', 'none', 'no generation yet')]));
  }

  // tick moves what depends on the time.
  tick() {
    if (this.root.hidden || !this.last) return;
    this.tickTimer();
    this.tickLease();
  }

  tickTimer() {
    const t = this.last.timer;
    if (!t) {
      this.timer.body.replaceChildren(el('span', 'none', 'not armed · debounce ' + seconds(this.last.policy.debounce_ms) + ', cap ' + seconds(this.last.policy.max_wait_ms)));
      return;
    }
    const now = this.now();
    const [first, due, cap] = [t.first, t.due, t.cap].map((s) => Date.parse(s));
    const whole = Math.max(cap, due) - first || 1;
    const bar = el('div', 'bar');
    const done = el('div', 'done');
    done.style.width = Math.min(100, Math.max(0, (now - first) / whole * 100)) + '%';
    const mark = el('div', 'mark');
    mark.style.left = Math.min(100, (due - first) / whole * 100) + '%';
    bar.append(done, mark);
    const text = el('div', 'line');
    if (due > now) {
      text.append(el('b', '', 'due in ' + seconds(due - now)), el('span', 'dim', ' · ' + t.reason + ' · armed for version ' + t.armed + ' · cap in ' + seconds(Math.max(0, cap - now))));
    } else {
      text.append(el('b', '', 'fired'), el('span', 'dim', ' · ' + t.reason + ' · armed for version ' + t.armed + ' · goes with the commit'));
      done.style.width = mark.style.left;
    }
    this.timer.body.replaceChildren(text, bar);
  }

  tickLease() {
    const l = this.last.lease;
    if (!l) {
      this.lease.body.replaceChildren(el('span', 'none', 'nobody is at work'));
      return;
    }
    const now = this.now();
    const text = el('div', 'line');
    const doing = l.delivering ? 'delivering' : l.cancelled ? 'cancelled: ' + l.cancelled : 'generating';
    text.append(el('span', 'chip ' + (l.cancelled ? 'dropped' : 'busy'), doing), el('b', '', ' epoch ' + l.epoch),
      el('span', 'dim', ' · generation ' + l.generation + ' · snapshot of version ' + l.version + (l.protected ? ' · protected' : '') + (l.revises ? ' · rewrites turn ' + l.revises : '')));
    const bar = el('div', 'bar');
    const done = el('div', 'done');
    done.style.width = Math.min(100, Math.max(0, (Date.parse(l.expiry) - now) / this.last.policy.lease_ttl_ms * 100)) + '%';
    bar.append(done);
    const more = el('div', 'line dim', 'for ' + seconds(Math.max(0, now - Date.parse(l.started))) + ' · expires in ' + seconds(Math.max(0, Date.parse(l.expiry) - now)) + ' · renewed ' + this.renewals + '×');
    this.lease.body.replaceChildren(text, bar, more);
  }

  // note turns the difference of two views into lines.
  note(a, b) {
    if (!a) return;
    const say = (text, kind = '') => this.events.unshift({ at: new Date(), text, kind });
    for (const m of b.waiting) if (!a.waiting.some((o) => o.id === m.id)) say('message #' + m.id + ' stored: version ' + m.version);
    if (b.version > a.version && b.waiting.length <= a.waiting.length) say('version ' + a.version + ' → ' + b.version);
    if (b.timer && a.timer && b.timer.due !== a.timer.due) say('timer moved: ' + b.timer.reason);
    else if (b.timer && !a.timer) say('timer armed: ' + b.timer.reason);
    else if (!b.timer && a.timer) say('timer gone');
    this.noteLease(a.lease, b.lease, say);
    const known = new Set(a.journal.map((j) => j.at + j.generation + j.outcome));
    for (const j of [...b.journal].reverse()) {
      if (!known.has(j.at + j.generation + j.outcome)) say('generation ' + j.generation + ' ' + j.outcome.replace('_', ' ') + (j.reason ? ': ' + j.reason : ''), outcomes[j.outcome]);
    }
    this.events.length = Math.min(this.events.length, mostEvents);
    this.stream.body.replaceChildren(...this.events.map((e) => {
      const line = el('div', 'line ' + e.kind);
      line.append(el('time', 'dim', e.at.toTimeString().slice(0, 8)), ' ' + e.text);
      return line;
    }));
  }

  noteLease(a, b, say) {
    if (b && b.epoch !== a?.epoch) say('lease taken: epoch ' + b.epoch + ', generation ' + b.generation + ', snapshot of ' + b.snapshot.length + (b.snapshot.length === 1 ? ' message' : ' messages'));
    else if (b && a && b.cancelled && !a.cancelled) say('call cancelled: ' + b.cancelled, 'dropped');
    else if (b && a && b.delivering && !a.delivering) say('answer committed, first part claimed');
    else if (b && a && b.expiry !== a.expiry) say('lease renewed');
    else if (!b && a) say('lease released');
  }
}
