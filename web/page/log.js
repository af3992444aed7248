// What the conversation looks like. The order is that of the ids, which the
// server gives; a message that comes again replaces what it was.
import { markdown } from './markdown.js';
import { language, word } from './words.js';

const el = (tag, className, text) => {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
};

const paths = {
  edit: 'M4 20l1-4L16.5 4.5a2.1 2.1 0 0 1 3 3L8 19z',
  copy: 'M9 9h10v11H9zM15 9V4H5v11h4',
  regenerate: 'M20 11a8 8 0 1 0-2.3 5.7M20 4v7h-7',
};

function icon(name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', paths[name]);
  svg.append(path);
  return svg;
}

export class Log {
  constructor(list, unsentList, draft, scroll, on) {
    Object.assign(this, { list, unsentList, draftBox: draft, scroll, on, shown: new Map(), places: new Map(), waitingUnsent: [], draft: null, editingID: 0 });
    this.wasAtBottom = true;
    scroll.addEventListener('scroll', () => { this.wasAtBottom = this.atBottom(); }, { passive: true });
    this.last = { phase: 'idle', waiting: [], buffered: [], rewriting: [] };
  }

  clear() {
    this.shown.clear();
    this.list.replaceChildren();
    this.dropDraft();
  }

  blank() { return this.shown.size === 0 && this.waitingUnsent.length === 0; }

  atBottom() { return this.scroll.scrollHeight - this.scroll.scrollTop - this.scroll.clientHeight < 80; }

  bottom() { this.scroll.scrollTop = this.scroll.scrollHeight; }

  // stick stays at the end when the window changes, as when a phone's keyboard
  // opens.
  stick() { if (this.wasAtBottom) this.bottom(); }

  keep(change) {
    const stick = this.atBottom();
    change();
    if (stick) this.bottom();
  }

  history(messages, state) {
    this.keep(() => {
      for (const m of messages) this.put(m);
      if (messages.some((m) => m.from === 'bot' && !m.gone)) this.dropDraft();
      this.unsent(this.waitingUnsent, state, this.linked);
      this.mark();
    });
  }

  put(m) {
    const old = this.shown.get(m.id);
    if (old && old.m.seq >= m.seq) return;
    if (m.gone) {
      old?.e.remove();
      this.shown.delete(m.id);
      return;
    }
    const e = this.build(m);
    if (old) {
      old.e.replaceWith(e);
    } else {
      let after = this.list.lastElementChild;
      while (after && Number(after.dataset.id) > m.id) after = after.previousElementSibling;
      if (after) after.after(e); else this.list.prepend(e);
    }
    this.shown.set(m.id, { m, e });
  }

  build(m) {
    const e = el('li', 'message ' + m.from);
    e.dataset.id = m.id;
    e.append(el('span', 'who', word(m.from === 'user' ? 'you' : m.from) + ': '));
    if (m.quotes && this.shown.has(m.quotes)) {
      const text = this.shown.get(m.quotes).m.text ?? '';
      e.append(el('div', 'quotes', word('quoted') + ' «' + (text.length > 60 ? text.slice(0, 60) + '…' : text) + '»'));
    }
    const body = el('div', 'body');
    body.dir = 'auto';
    body.title = new Date(m.at).toLocaleString(language());
    if (m.from === 'bot') body.append(markdown(m.text)); else body.textContent = m.text;
    e.append(body);
    const foot = el('div', 'foot');
    foot.append(el('span', 'place'));
    if (m.edited && m.from === 'user') foot.append(el('span', 'edited', word('edited')));
    if (m.from === 'bot') foot.append(this.tool('copy', () => this.copy(m.text)));
    for (const b of m.buttons ?? []) foot.append(this.button(m, b));
    if (m.from === 'user') foot.append(this.tool('edit', () => this.on.edit(m)));
    e.append(foot);
    return e;
  }

  tool(name, act) {
    const b = el('button', 'tool ' + name);
    b.type = 'button';
    b.title = word(name);
    b.setAttribute('aria-label', word(name));
    b.append(icon(name));
    b.onclick = act;
    return b;
  }

  button(m, b) {
    const press = () => this.on.press(m.id, b.do, b.page);
    if (b.do === 'regenerate') {
      const again = this.tool('regenerate', press);
      again.title = word('again');
      again.setAttribute('aria-label', word('again'));
      return again;
    }
    const e = el('button', 'tool text', b.label);
    e.type = 'button';
    if (b.do === 'page') e.setAttribute('aria-label', b.label === '◀' ? word('previous') : b.label === '▶' ? word('next') : word('pageOf', b.label));
    e.onclick = press;
    return e;
  }

  async copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      this.on.toast(word('copied'));
    } catch { /* the browser does not allow it */ }
  }

  // unsent shows what the server has not acknowledged, below everything else.
  unsent(frames, state, linked) {
    this.linked = linked;
    this.waitingUnsent = frames.filter((f) => f.type === 'message');
    const known = new Set([...this.shown.values()].map((s) => s.m.client_msg_id));
    this.keep(() => {
      this.unsentList.replaceChildren(...this.waitingUnsent.filter((f) => !known.has(f.client_msg_id)).map((f) => {
        const e = el('li', 'message user unsent');
        const body = el('div', 'body', f.text);
        body.dir = 'auto';
        const foot = el('div', 'foot');
        foot.append(el('span', 'place', word(linked === 'online' ? 'sending' : 'held')));
        e.append(el('span', 'who', word('you') + ': '), body, foot);
        return e;
      }));
      document.getElementById('empty').hidden = !this.blank();
    });
    this.state(state);
  }

  lastOfUser() {
    let found = null;
    for (const { m } of this.shown.values()) if (m.from === 'user' && (!found || m.id > found.id)) found = m;
    return found;
  }

  place(id, text) {
    this.places.set(id, text);
    this.mark();
  }

  state(s) {
    const was = this.last;
    this.last = s;
    if (this.draft && s.phase !== 'generating') {
      if (s.redoing) this.discard(); else if (s.phase !== 'delivering') this.dropDraft();
    } else if (this.draft && s.generation !== this.draft.generation) {
      this.dropDraft();
    }
    if (s.phase === 'generating' && !this.draft && s.rewriting.length === 0) this.preview({ generation: s.generation, text: '' }, s);
    if (was.phase === 'idle' && s.phase !== 'idle') this.bottom();
    this.mark();
  }

  // mark says under messages what becomes of them.
  mark() {
    const s = this.last;
    const last = this.lastOfUser()?.id;
    for (const { m, e } of this.shown.values()) {
      const place = e.querySelector('.place');
      let text = '';
      if (s.buffered.includes(m.id)) text = this.places.get(m.id) ?? word('buffered', s.buffered.indexOf(m.id) + 1);
      else if (s.redoing && s.waiting.includes(m.id) && this.places.has(m.id)) text = this.places.get(m.id);
      else if (s.rewriting.includes(m.id)) text = word('rewriting');
      if (place.textContent !== text) place.textContent = text;
      e.classList.toggle('waiting', s.waiting.includes(m.id));
      e.classList.toggle('rewriting', s.rewriting.includes(m.id));
      e.classList.toggle('editing', m.id === this.editingID);
      e.classList.toggle('last', m.id === last);
    }
  }

  editing(id) {
    this.editingID = id;
    this.mark();
  }

  // preview shows what the model has written so far. Whatever becomes of it, it
  // is no message.
  preview(f, state) {
    if (state.phase !== 'generating' && f.text === '') return;
    this.keep(() => {
      if (!this.draft || this.draft.generation !== f.generation) {
        this.dropDraft();
        this.draft = { generation: f.generation };
        this.draftBox.className = 'message bot draft';
        this.draftBox.hidden = false;
      }
      const body = el('div', 'body');
      body.dir = 'auto';
      if (f.text.trim()) {
        body.append(markdown(f.text));
      } else {
        body.className = 'body thinking';
        body.append(el('span', 'who', word('thinking')), el('i'), el('i'), el('i'));
      }
      this.draftBox.replaceChildren(body);
    });
  }

  // discard lets a draft that is not wanted any more be seen to go.
  discard() {
    const ghost = this.draftBox.cloneNode(true);
    const empty = this.draftBox.querySelector('.thinking');
    this.dropDraft();
    if (empty) return;
    ghost.removeAttribute('id');
    ghost.classList.add('discarded');
    ghost.append(el('div', 'foot', word('discarded')));
    this.draftBox.before(ghost);
    setTimeout(() => ghost.remove(), 2_500);
  }

  dropDraft() {
    this.draft = null;
    this.draftBox.hidden = true;
    this.draftBox.replaceChildren();
  }

  relabel() {
    const all = [...this.shown.values()];
    this.shown.clear();
    this.list.replaceChildren();
    for (const { m } of all.sort((a, b) => a.m.id - b.m.id)) this.put(m);
    this.mark();
  }
}
