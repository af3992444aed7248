// One line on a page whose origin is in web.origins puts the chat into its
// corner:  <script src="https://chat.example.com/widget.js" async></script>
// data-label names the button, data-open="true" opens the chat at once.
(() => {
  const script = document.currentScript;
  const base = new URL('.', script.src);
  const style = (e, rules) => { for (const [k, v] of Object.entries(rules)) e.style.setProperty(k, v, 'important'); };

  const button = document.createElement('button');
  button.type = 'button';
  button.setAttribute('aria-label', script.dataset.label || 'Chat');
  button.setAttribute('aria-expanded', 'false');
  style(button, {
    position: 'fixed', right: '20px', bottom: '20px', width: '56px', height: '56px', 'border-radius': '28px', border: '0', padding: '0',
    background: '#0f766e', cursor: 'pointer', 'z-index': '2147483000', 'box-shadow': '0 6px 24px rgba(0,0,0,.25)',
  });
  const image = document.createElement('img');
  image.alt = '';
  image.src = new URL('icon.svg', base).href;
  style(image, { width: '34px', height: '34px', display: 'block', margin: 'auto' });
  button.append(image);

  let frame = null;
  const toggle = () => {
    if (!frame) {
      frame = document.createElement('iframe');
      frame.src = new URL('embed', base).href;
      frame.title = script.dataset.label || 'Chat';
      frame.allow = 'clipboard-write';
      style(frame, {
        position: 'fixed', right: '20px', bottom: '88px', width: 'min(400px, calc(100vw - 40px))', height: 'min(640px, calc(100vh - 120px))',
        border: '0', 'border-radius': '16px', 'z-index': '2147483000', 'box-shadow': '0 12px 48px rgba(0,0,0,.3)', 'color-scheme': 'normal',
      });
      document.body.append(frame);
    } else {
      style(frame, { display: frame.style.display === 'none' ? 'block' : 'none' });
    }
    button.setAttribute('aria-expanded', String(frame.style.display !== 'none'));
  };
  button.onclick = toggle;
  const place = () => {
    document.body.append(button);
    if (script.dataset.open === 'true') toggle();
  };
  if (document.body) place(); else addEventListener('DOMContentLoaded', place);
})();
