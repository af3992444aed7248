// The connection. It keeps what is not acknowledged, sends it one by one and
// again after a reconnect, and asks for the history after what it has. It
// decides nothing about what is shown: see docs/web-protocol.md.

const version = 1;
const beat = 20_000; // between two pings
const silence = 45_000; // after which a connection counts as dead, at the earliest
const slowest = 15_000; // between two tries
const storeName = 'lastword.unsent';

export class Link {
  // on has a function for each type of frame, and: change(state), unsent().
  constructor(path, language, on) {
    Object.assign(this, { path, language, on, seq: 0, session: '', tries: 0, state: 'connecting', take: false, heard: 0, pinged: 0, sent: '' });
    this.unsent = this.load();
    setInterval(() => this.beat(), 5_000);
    addEventListener('online', () => this.wake());
    addEventListener('offline', () => this.wake());
    document.addEventListener('visibilitychange', () => { if (!document.hidden) this.wake(); });
    this.connect();
  }

  // What is not acknowledged outlives the page.
  load() {
    try {
      const list = JSON.parse(localStorage.getItem(storeName) ?? '[]');
      return Array.isArray(list) ? list.filter((f) => f && f.client_msg_id) : [];
    } catch { return []; }
  }

  save() {
    try { localStorage.setItem(storeName, JSON.stringify(this.unsent)); } catch { /* no storage: it lives as long as the page */ }
    this.on.unsent();
  }

  change(state) {
    if (this.state === state) return;
    this.state = state;
    this.on.change(state);
  }

  connect() {
    clearTimeout(this.timer);
    this.leave();
    const address = new URL(this.path, location.href);
    address.protocol = address.protocol.replace('http', 'ws');
    const socket = new WebSocket(address);
    this.socket = socket;
    this.heard = Date.now();
    this.open = false;
    this.sent = '';
    socket.onopen = () => {
      this.raw({ type: 'hello', after: this.seq, session: this.session, take_over: this.take, language: this.language });
      this.take = false;
    };
    socket.onmessage = (e) => {
      this.heard = Date.now();
      let frame;
      try { frame = JSON.parse(e.data); } catch { return; }
      if (frame.v === version) this.receive(frame);
    };
    socket.onclose = (e) => {
      if (this.socket !== socket) return;
      this.socket = null;
      this.open = false;
      this.sent = '';
      if (e.code === 4009) {
        this.change('elsewhere');
        return;
      }
      this.change('offline');
      this.later();
    };
  }

  later() {
    const wait = Math.min(slowest, 400 * 2 ** Math.min(this.tries++, 6));
    this.timer = setTimeout(() => this.connect(), wait * (0.75 + Math.random() / 2));
  }

  leave() {
    const old = this.socket;
    this.socket = null;
    if (old) {
      old.onmessage = old.onclose = old.onopen = null;
      old.close();
    }
  }

  takeOver() {
    this.take = true;
    this.tries = 0;
    this.change('connecting');
    this.connect();
  }

  receive(frame) {
    switch (frame.type) {
      case 'welcome':
        this.open = true;
        this.tries = 0;
        this.session = frame.session;
        this.change('online');
        this.on.welcome(frame);
        this.next();
        return;
      case 'history':
        if (frame.fresh) this.seq = 0;
        this.on.history(frame);
        this.seq = Math.max(this.seq, frame.last);
        return;
      case 'message_ack':
        this.done(frame.client_msg_id);
        if (frame.duplicate) this.raw({ type: 'history', after: this.seq }); // what became of it, it does not guess
        this.on.message_ack(frame);
        return;
      case 'message_nack':
        this.refused(frame);
        return;
    }
    this.on[frame.type]?.(frame);
  }

  refused(frame) {
    if (frame.code === 'too_fast' || frame.code === 'try_later') {
      setTimeout(() => { this.sent = ''; this.next(); }, frame.retry_after_ms || 1_500);
      return;
    }
    const lost = this.unsent.find((f) => f.client_msg_id === (frame.client_msg_id || this.sent));
    this.done(frame.client_msg_id || this.sent);
    this.on.message_nack(frame, lost);
  }

  done(id) {
    this.unsent = this.unsent.filter((f) => f.client_msg_id !== id);
    if (this.sent === id) this.sent = '';
    this.save();
    this.next();
  }

  // post keeps a frame until it is acknowledged.
  post(frame) {
    const bytes = crypto.getRandomValues(new Uint8Array(12));
    frame.client_msg_id = Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
    this.unsent.push(frame);
    this.save();
    this.next();
    return frame.client_msg_id;
  }

  // next sends the oldest frame that is not acknowledged, one at a time: so they
  // arrive in the order in which they were written.
  next() {
    if (!this.open || this.sent || !this.unsent.length) return;
    this.sent = this.unsent[0].client_msg_id;
    this.raw(this.unsent[0]);
  }

  raw(frame) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ v: version, ...frame }));
  }

  beat() {
    if (!this.socket) return;
    const now = Date.now();
    if (this.pinged > this.heard) { // not answered; in a background tab this is looked at once a minute
      if (now - this.pinged > silence - beat) this.lost();
    } else if (this.open && now - this.heard > beat) {
      this.pinged = now;
      this.raw({ type: 'ping', n: now });
    } else if (!this.open && now - this.heard > silence) {
      this.lost();
    }
  }

  lost() {
    this.leave();
    this.open = false;
    this.change('offline');
    this.later();
  }

  // wake looks at once whether the connection is still there.
  wake() {
    if (this.state === 'elsewhere') return;
    if (!navigator.onLine && this.socket) {
      this.lost();
    } else if (!this.socket) {
      this.tries = 0;
      this.connect();
    } else if (this.open) {
      const asked = Date.now();
      this.raw({ type: 'ping', n: asked });
      setTimeout(() => { if (this.socket && this.heard < asked) this.lost(); }, 3_000);
    }
  }
}
