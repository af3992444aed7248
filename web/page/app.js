// The page: one module and its neighbours, as they are, without a build.
import { choose, language, languages, word } from './words.js';
import { Link } from './link.js';
import { Log } from './log.js';
import { Inspector } from './inspector.js';

const $ = (id) => document.getElementById(id);
const widget = location.pathname === '/embed';
const memory = {
  get(key) { try { return localStorage.getItem('lastword.' + key); } catch { return null; } },
  set(key, value) { try { localStorage.setItem('lastword.' + key, value); } catch { /* forgotten with the page */ } },
};

let state = { phase: 'idle', waiting: [], buffered: [], rewriting: [], redoing: false, generation: 0 };
let editing = 0; // id of the message that is being edited
let limit = 8000;

document.body.classList.toggle('widget', widget);

// --- colours and language ---

const dark = matchMedia('(prefers-color-scheme: dark)');
const paint = () => { document.documentElement.dataset.theme = memory.get('theme') ?? (dark.matches ? 'dark' : 'light'); };
paint();
dark.addEventListener('change', paint);
$('theme').onclick = () => {
  memory.set('theme', document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
  paint();
};

const asked = memory.get('language') ?? navigator.languages?.find((l) => languages.includes(l.slice(0, 2).toLowerCase())) ?? 'en';
$('language').value = choose(asked);
$('language').onchange = () => {
  memory.set('language', choose($('language').value));
  link.language = language();
  link.connect(); // the hello says which language notices are to have
  log.relabel();
  tell();
};

// --- what is shown ---

const log = new Log($('log'), $('unsent'), $('draft'), $('scroll'), {
  edit: beginEdit,
  press: (id, do_, page) => link.raw({ type: 'press', id, do: do_, page }),
  toast,
});

const inspector = new Inspector($('inspector'));

const link = new Link(widget ? '/socket?widget' : '/socket', language(), {
  change() { log.unsent(link.unsent, state, link.state); tell(); },
  unsent: () => log.unsent(link.unsent, state, link.state),
  welcome(f) {
    limit = f.max_message;
    $('inspect').hidden = !f.inspector;
    if (f.inspector && memory.get('inspector') !== 'off' && innerWidth >= 900) watch(true);
    if (!$('inspector').hidden) link.raw({ type: 'inspect', on: true });
  },
  history(f) {
    if (f.fresh) log.clear();
    log.history(f.messages, state);
    $('empty').hidden = !log.blank();
  },
  message_ack() {},
  message_nack(f, lost) {
    toast(word(f.code, f.limit), true);
    if (lost?.text && !$('text').value) {
      $('text').value = lost.text; // not lost: the person can shorten it
      grow();
    }
  },
  message_buffered(f) { log.place(f.id, f.together ? word('together') : word('buffered', f.position)); },
  state(f) {
    state = f;
    log.state(f);
    tell();
  },
  preview(f) { log.preview(f, state); },
  toast(f) { toast(f.text); },
  inspect(f) { inspector.show(f); },
});
log.unsent(link.unsent, state, link.state);

// tell says in the status line and by the dot how things are.
function tell() {
  const online = link.state === 'online';
  $('link').className = 'dot ' + link.state;
  $('link').textContent = online ? word('online') : link.state === 'elsewhere' ? word('elsewhere') : word(link.state === 'offline' ? 'offline' : 'connecting');
  $('elsewhere').hidden = link.state !== 'elsewhere';
  document.body.classList.toggle('away', link.state === 'elsewhere');
  $('form').inert = link.state === 'elsewhere'; // what is written belongs into the other window
  let text = '';
  if (link.state === 'offline') text = word('offline');
  else if (state.redoing && state.phase !== 'delivering') text = word('phase_redoing');
  else if (state.phase !== 'idle') text = word('phase_' + state.phase);
  if ($('status').textContent !== text) $('status').textContent = text;
  $('status').className = link.state === 'offline' ? 'offline' : state.phase;
  $('stop').hidden = !['waiting', 'generating', 'cancelling'].includes(state.phase);
}

let toasting;
function toast(text, bad) {
  if (!text) return;
  $('toast').textContent = text;
  $('toast').className = bad ? 'bad' : '';
  $('toast').hidden = false;
  clearTimeout(toasting);
  toasting = setTimeout(() => { $('toast').hidden = true; }, 4_000);
}

// --- writing ---

const commands = { '/new': 'reset', '/reset': 'reset', '/stop': 'stop', '/status': 'status' };

$('form').onsubmit = (e) => {
  e.preventDefault();
  const text = $('text').value.replace(/^(\s*\n)+|\s+$/g, '');
  if (!text.trim()) return;
  if ([...text].length > limit) {
    toast(word('too_long', limit), true);
    return;
  }
  const command = commands[text.trim().toLowerCase()];
  if (editing) link.post({ type: 'edit', id: editing, text });
  else if (command) link.post({ type: command });
  else link.post({ type: 'message', text });
  endEdit();
  log.bottom();
  $('text').focus();
};

$('text').onkeydown = (e) => {
  if (e.isComposing) return; // an input method is not done with the word
  if (e.key === 'Enter' && !e.shiftKey && !e.altKey && !matchMedia('(pointer: coarse)').matches) {
    e.preventDefault();
    $('form').requestSubmit();
  } else if (e.key === 'ArrowUp' && !$('text').value && log.lastOfUser()) {
    e.preventDefault();
    beginEdit(log.lastOfUser());
  }
};

addEventListener('keydown', (e) => {
  if (e.key !== 'Escape') return;
  if (editing) endEdit();
  else if (!$('stop').hidden) $('stop').click();
});

function grow() {
  $('text').style.height = 'auto';
  $('text').style.height = Math.min($('text').scrollHeight, innerHeight * 0.35) + 'px';
}
$('text').oninput = grow;

function beginEdit(message) {
  editing = message.id;
  $('editing').hidden = false;
  $('text').value = message.text;
  grow();
  $('text').focus();
  log.editing(editing);
}

function endEdit() {
  editing = 0;
  $('editing').hidden = true;
  $('text').value = '';
  grow();
  log.editing(0);
}
$('cancel').onclick = () => { endEdit(); $('text').focus(); };

$('stop').onclick = () => link.post({ type: 'stop', generation: state.generation });
$('reset').onclick = () => { link.post({ type: 'reset' }); $('text').focus(); };
$('take').onclick = () => { link.takeOver(); $('text').focus(); };

// --- the inspector ---

function watch(on) {
  $('inspector').hidden = !on;
  $('inspect').setAttribute('aria-expanded', String(on));
  document.body.classList.toggle('inspecting', on);
  link.raw({ type: 'inspect', on });
}
$('inspect').onclick = () => {
  const on = $('inspector').hidden;
  memory.set('inspector', on ? 'on' : 'off');
  watch(on);
};
new ResizeObserver(() => log.stick()).observe($('scroll'));

inspector.onClose = () => { memory.set('inspector', 'off'); watch(false); $('inspect').focus(); };

tell();
