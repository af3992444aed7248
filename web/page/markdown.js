// Markdown to nodes. A model's text becomes elements of this list and texts,
// never HTML: there is no way from it into innerHTML, and none to an attribute
// but the address of a link, whose scheme is checked.

export function markdown(source) {
  const root = document.createDocumentFragment();
  blocks(root, source.replace(/\r\n?/g, '\n').split('\n'), 0);
  return root;
}

const mostDepth = 8; // of quotes and lists within each other

function make(parent, tag, ...texts) {
  const e = document.createElement(tag);
  for (const t of texts) inline(e, t);
  parent.append(e);
  return e;
}

const fence = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/;
const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const rule = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const quote = /^ {0,3}> ?/;
const item = /^( {0,7})([-*+]|\d{1,9}[.)])\s+(.*)$/;
const divider = /^ *\|? *:?-+:? *(\| *:?-+:? *)*\|? *$/;

function blocks(parent, lines, depth) {
  for (let i = 0; i < lines.length;) {
    const line = lines[i];
    let m;
    if (!line.trim()) {
      i++;
    } else if ((m = fence.exec(line))) {
      i = code(parent, lines, i, m);
    } else if ((m = heading.exec(line))) {
      make(parent, 'h' + Math.min(m[1].length + 2, 6), m[2]); // the page has h1 and h2 of its own
      i++;
    } else if (rule.test(line)) {
      make(parent, 'hr');
      i++;
    } else if (quote.test(line) && depth < mostDepth) {
      const inner = [];
      while (i < lines.length && quote.test(lines[i])) inner.push(lines[i++].replace(quote, ''));
      blocks(make(parent, 'blockquote'), inner, depth + 1);
    } else if (item.test(line) && depth < mostDepth) {
      i = list(parent, lines, i, depth);
    } else if (line.includes('|') && i + 1 < lines.length && lines[i + 1].includes('-') && divider.test(lines[i + 1])) {
      i = table(parent, lines, i);
    } else {
      i = paragraph(parent, lines, i);
    }
  }
}

function code(parent, lines, i, m) {
  const text = [];
  const end = new RegExp('^ {0,3}' + m[1][0] + '{' + m[1].length + ',}\\s*$');
  for (i++; i < lines.length && !end.test(lines[i]); i++) text.push(lines[i]);
  const pre = document.createElement('pre');
  const inner = document.createElement('code');
  inner.textContent = text.join('\n');
  if (m[2]) pre.dataset.language = m[2].slice(0, 20);
  pre.tabIndex = 0; // it scrolls
  pre.append(inner);
  parent.append(pre);
  return i + 1;
}

function list(parent, lines, i, depth) {
  const first = item.exec(lines[i]);
  const ordered = /\d/.test(first[2]);
  const indent = first[1].length;
  const e = document.createElement(ordered ? 'ol' : 'ul');
  if (ordered && parseInt(first[2], 10) !== 1) e.start = parseInt(first[2], 10);
  while (i < lines.length) {
    const m = item.exec(lines[i]);
    if (!m || m[1].length > indent + 1 || m[1].length < indent || /\d/.test(m[2]) !== ordered) break;
    const inner = [m[3]];
    const width = m[1].length + m[2].length + 1;
    for (i++; i < lines.length; i++) {
      const next = item.exec(lines[i]);
      const lead = lines[i].length - lines[i].trimStart().length;
      if (next && next[1].length <= indent + 1) break;
      if (!lines[i].trim()) {
        const after = lines[i + 1] ?? '';
        if (!after.trim() || after.length - after.trimStart().length < 2 && !item.test(after)) break;
        if (item.test(after) && item.exec(after)[1].length <= indent + 1) continue;
        inner.push('');
      } else if (lead >= 2 || !inner.includes('') && !fence.test(lines[i]) && !heading.test(lines[i])) {
        inner.push(lines[i].slice(Math.min(lead, width)));
      } else {
        break;
      }
    }
    const li = document.createElement('li');
    const task = /^\[([ xX])\]\s+/.exec(inner[0]);
    if (task) inner[0] = (task[1] === ' ' ? '☐ ' : '☑ ') + inner[0].slice(task[0].length);
    blocks(li, inner, depth + 1);
    if (li.childElementCount && li.firstElementChild.tagName === 'P') li.firstElementChild.replaceWith(...li.firstElementChild.childNodes);
    e.append(li);
  }
  parent.append(e);
  return i;
}

const cells = (line) => line.trim().replace(/^\||\|$/g, '').split(/(?<!\\)\|/).map((c) => c.trim().replace(/\\\|/g, '|'));

function table(parent, lines, i) {
  const box = document.createElement('div');
  box.className = 'table';
  box.tabIndex = 0;
  const t = document.createElement('table');
  const align = cells(lines[i + 1]).map((c) => (c.endsWith(':') ? (c.startsWith(':') ? 'center' : 'right') : 'left'));
  const row = (into, line, tag) => {
    const tr = document.createElement('tr');
    cells(line).slice(0, align.length).forEach((c, n) => { make(tr, tag, c).className = align[n]; });
    into.append(tr);
  };
  const head = document.createElement('thead');
  row(head, lines[i], 'th');
  const body = document.createElement('tbody');
  for (i += 2; i < lines.length && lines[i].includes('|'); i++) row(body, lines[i], 'td');
  t.append(head, body);
  box.append(t);
  parent.append(box);
  return i;
}

function paragraph(parent, lines, i) {
  const text = [lines[i++]];
  while (i < lines.length && lines[i].trim() && !fence.test(lines[i]) && !heading.test(lines[i]) && !quote.test(lines[i]) && !item.test(lines[i]) && !rule.test(lines[i])) {
    text.push(lines[i++]);
  }
  make(parent, 'p', text.join('\n'));
  return i;
}

// What can stand within a line, by the sign that it begins with. Each pattern is
// tried at that sign only and looks a bounded way ahead, so that no text takes
// long, whatever it is made of.
const codeSpan = [/(`+)([^`]|[^`][\s\S]{0,2000}?[^`])\1(?!`)/y, (e, m) => { const c = document.createElement('code'); c.textContent = m[2].trim(); e.append(c); }];
const named = [/!?\[((?:[^[\]]|\[[^[\]]{0,500}\]){0,1000})\]\(<?([^\s()<>]{0,2000}(?:\([^\s()]{0,500}\)[^\s()<>]{0,500}){0,4})>?(?:\s+["'][^)]{0,500}["'])?\)/y, (e, m, d) => link(e, m[2], m[1], d)];
const spans = {
  '\\': [[/\\([\\`*_{}[\]()#+\-.!~|<>])/y, (e, m) => e.append(m[1])]],
  '`': [codeSpan],
  '[': [named],
  '!': [named],
  '<': [[/<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/y, (e, m, d) => link(e, m[1], m[1], d)]],
  '~': [[/~~(?=\S)([\s\S]{0,1000}?\S)~~/y, (e, m, d) => nest(e, 'del', m[1], d)]],
  '*': [
    [/\*\*(?=\S)([\s\S]{0,1000}?\S)\*\*(?!\*)/y, (e, m, d) => nest(e, 'strong', m[1], d)],
    [/\*(?=[^\s*])((?:[^*]|\*\*){0,1000}?[^\s*])\*(?!\*)/y, (e, m, d) => nest(e, 'em', m[1], d)],
  ],
  _: [
    [/(?<!\w)__(?=\S)([\s\S]{0,1000}?\S)__(?!\w)/y, (e, m, d) => nest(e, 'strong', m[1], d)],
    [/(?<!\w)_(?=[^\s_])([^_]{0,1000}?[^\s_])_(?!\w)/y, (e, m, d) => nest(e, 'em', m[1], d)],
  ],
  h: [[/https?:\/\/[^\s<>"'`*]{0,2000}[^\s<>"'`*.,;:!?)\]]/y, (e, m, d) => link(e, m[0], null, d)]],
  '\n': [[/\n/y, (e) => e.append(document.createElement('br'))]],
};
const signs = /[\\`[!<~*_\n]|https?:\/\//g;

function inline(e, text, depth = 0) {
  let plain = '';
  for (let i = 0; i < text.length;) {
    signs.lastIndex = i;
    const at = depth < mostDepth ? signs.exec(text)?.index ?? text.length : text.length;
    plain += text.slice(i, at);
    i = at;
    let m = null;
    for (const [pattern, build] of spans[text[i]] ?? []) {
      pattern.lastIndex = i;
      if ((m = pattern.exec(text))) {
        if (plain) e.append(plain);
        plain = '';
        i += m[0].length;
        build(e, m, depth + 1);
        break;
      }
    }
    if (!m && i < text.length) plain += text[i++];
  }
  if (plain) e.append(plain);
}

function nest(parent, tag, text, depth) {
  const e = document.createElement(tag);
  inline(e, text, depth);
  parent.append(e);
}

// link makes a link of an address that a browser may open, and text of any
// other. Pictures become links: the page loads nothing from elsewhere.
function link(parent, address, label, depth) {
  let url = null;
  try { url = new URL(address); } catch { /* relative, or none */ }
  if (!url || !['http:', 'https:', 'mailto:'].includes(url.protocol)) {
    inline(parent, label ?? address, mostDepth);
    if (label && address) parent.append(' (' + address + ')');
    return;
  }
  const a = document.createElement('a');
  a.href = url.href;
  a.target = '_blank';
  a.rel = 'noopener noreferrer nofollow';
  if (label) inline(a, label, Math.max(depth, mostDepth - 1)); else a.append(address);
  parent.append(a);
}
