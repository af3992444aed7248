// What the page says, in three languages. What the program says in the chat is
// worded by the server.

const words = {
  en: {
    skip: 'Skip to the message box', language: 'Language', theme: 'Dark or light', reset: 'New conversation', inspector: 'Inspector',
    elsewhere: 'This chat is open in another window.', takeOver: 'Continue here',
    welcome: 'Write as you would to a person.', welcomeHint: 'In one message or in several: I answer when you have finished. You can add to what you wrote, or edit it, while I am answering.',
    log: 'Conversation', write: 'Message', send: 'Send', stop: 'Stop', cancel: 'Cancel', editing: 'Editing your message',
    edit: 'Edit', copy: 'Copy', copied: 'Copied', again: 'Another answer', edited: 'edited', you: 'You', bot: 'Answer', notice: 'Notice',
    online: 'Connected', connecting: 'Connecting…', offline: 'Connection lost. Trying again…',
    sending: 'sending…', held: 'not sent yet',
    too_long: 'This is too long: at most {n} characters.', empty: 'There is nothing in it.', conflict: 'This could not be sent.', unknown: 'That message cannot be edited.', bad_request: 'This could not be sent.',
    phase_waiting: 'Waiting until you have finished…', phase_generating: 'Answering…', phase_cancelling: 'Stopping…', phase_delivering: 'Answering…',
    phase_resting: 'Kept for your next message.', phase_redoing: 'Something newer came: the answer is being redone, with everything you wrote.',
    buffered: 'will be answered next, together with the rest · {n}', together: 'will be part of the answer', rewriting: 'is being rewritten…', discarded: 'discarded, because something newer came',
    thinking: 'Thinking…', pageOf: 'Answer {n}', previous: 'Previous answer', next: 'Next answer', quoted: 'In answer to',
  },
  ru: {
    skip: 'К полю сообщения', language: 'Язык', theme: 'Тёмная или светлая тема', reset: 'Новый разговор', inspector: 'Инспектор',
    elsewhere: 'Этот чат открыт в другом окне.', takeOver: 'Продолжить здесь',
    welcome: 'Пишите, как писали бы человеку.', welcomeHint: 'Одним сообщением или несколькими: я отвечу, когда вы закончите. Написанное можно дополнять и править, пока я отвечаю.',
    log: 'Разговор', write: 'Сообщение', send: 'Отправить', stop: 'Остановить', cancel: 'Отмена', editing: 'Правка сообщения',
    edit: 'Изменить', copy: 'Копировать', copied: 'Скопировано', again: 'Другой ответ', edited: 'изменено', you: 'Вы', bot: 'Ответ', notice: 'Уведомление',
    online: 'Соединение есть', connecting: 'Соединяюсь…', offline: 'Связь потеряна. Пробую снова…',
    sending: 'отправляется…', held: 'ещё не отправлено',
    too_long: 'Слишком длинно: не больше {n} знаков.', empty: 'Здесь ничего нет.', conflict: 'Отправить не удалось.', unknown: 'Это сообщение изменить нельзя.', bad_request: 'Отправить не удалось.',
    phase_waiting: 'Жду, пока вы закончите…', phase_generating: 'Отвечаю…', phase_cancelling: 'Останавливаю…', phase_delivering: 'Отвечаю…',
    phase_resting: 'Сохранено до следующего сообщения.', phase_redoing: 'Пришло новое: ответ переделывается с учётом всего, что вы написали.',
    buffered: 'ответ следующим, вместе с остальным · {n}', together: 'войдёт в ответ', rewriting: 'переписывается…', discarded: 'отброшено: пришло новое',
    thinking: 'Думаю…', pageOf: 'Ответ {n}', previous: 'Предыдущий ответ', next: 'Следующий ответ', quoted: 'В ответ на',
  },
  zh: {
    skip: '跳到输入框', language: '语言', theme: '深色或浅色', reset: '新对话', inspector: '检查器',
    elsewhere: '这个聊天已在另一个窗口打开。', takeOver: '在这里继续',
    welcome: '像跟朋友聊天一样写就行。', welcomeHint: '一条或几条都可以：等你说完我再回答。我回答的时候，你也可以补充或修改。',
    log: '对话', write: '消息', send: '发送', stop: '停止', cancel: '取消', editing: '正在修改消息',
    edit: '修改', copy: '复制', copied: '已复制', again: '换个回答', edited: '已修改', you: '你', bot: '回答', notice: '通知',
    online: '已连接', connecting: '正在连接…', offline: '连接断开，正在重试…',
    sending: '发送中…', held: '尚未发送',
    too_long: '太长了：最多 {n} 个字符。', empty: '内容为空。', conflict: '无法发送。', unknown: '这条消息不能修改。', bad_request: '无法发送。',
    phase_waiting: '等你说完…', phase_generating: '正在回答…', phase_cancelling: '正在停止…', phase_delivering: '正在回答…',
    phase_resting: '已保留到下一条消息。', phase_redoing: '有新消息：正在结合你写的全部内容重新回答。',
    buffered: '接下来与其余消息一起回答 · {n}', together: '会包含在回答里', rewriting: '正在重写…', discarded: '已作废：有新消息',
    thinking: '思考中…', pageOf: '回答 {n}', previous: '上一个回答', next: '下一个回答', quoted: '回复',
  },
};

export const languages = Object.keys(words);

let current = 'en';

// choose sets the language: what was chosen before, or what the browser asks
// for.
export function choose(tag) {
  const code = (tag || '').toLowerCase().split(/[-_]/)[0];
  current = words[code] ? code : 'en';
  document.documentElement.lang = current;
  for (const e of document.querySelectorAll('[data-word]')) e.textContent = word(e.dataset.word);
  for (const e of document.querySelectorAll('[data-label]')) {
    e.setAttribute('aria-label', word(e.dataset.label));
    if (e.tagName === 'BUTTON') e.title = word(e.dataset.label);
  }
  for (const e of document.querySelectorAll('[data-hint]')) e.placeholder = word(e.dataset.hint);
  return current;
}

export function word(key, n) {
  const text = words[current][key] ?? words.en[key] ?? key;
  return n === undefined ? text : text.replace('{n}', n);
}

export const language = () => current;
