// @ts-check
import { callGateway, dropKey, keepKey, readKey } from './api.js';
import { Overview } from './overview.js';
import { html, render, useState } from './preact.js';
import { Queue } from './queue.js';
import { Relayers } from './relayers.js';

const views = { Overview, Queue, Relayers };

/** Asks for the key. @param {{ enter: () => void }} props */
function SignIn({ enter }) {
  const [fault, setFault] = useState('');
  const submit = async (/** @type {SubmitEvent & { target: HTMLFormElement }} */ event) => {
    event.preventDefault();
    keepKey(new FormData(event.target).get('key')?.toString() ?? '');
    await callGateway('admin/stats').then(enter, (error) => {
      dropKey();
      setFault(error.message);
    });
  };
  return html`<main>
    <h1>Prism Gateway console</h1>
    <form class="row" onSubmit=${submit}>
      <label>Admin key<input name="key" type="password" required autocomplete="off" /></label>
      <button type="submit" class="primary">Enter</button>
    </form>
    <p class="fault" role="alert">${fault}</p>
    <p>The key stays in this tab, and is forgotten when you close it.</p>
  </main>`;
}

function App() {
  const [isIn, setIn] = useState(readKey() !== '');
  const [view, setView] = useState(/** @type {keyof typeof views} */ ('Overview'));
  const [said, say] = useState({ text: '', isFault: false });
  if (!isIn) return html`<${SignIn} enter=${() => setIn(true)} />`;
  /** @type {import('./types.d.ts').OnFault} */
  const onFault = (error) => {
    if (error.status === 401) {
      dropKey();
      setIn(false);
    } else say({ text: error.message, isFault: true });
  };
  const go = (/** @type {keyof typeof views} */ name) => {
    say({ text: '', isFault: false });
    setView(name);
  };
  const leave = () => {
    dropKey();
    setIn(false);
  };
  return html`<header>
      <h1>Prism Gateway</h1>
      <nav aria-label="Views">
        ${Object.keys(views).map((name) => html`<button aria-current=${name === view ? 'page' : null} onClick=${() => go(/** @type {keyof typeof views} */ (name))}>${name}</button>`)}
      </nav>
      <button onClick=${leave}>Forget the key</button>
    </header>
    <main>
      <p class=${said.isFault ? 'status fault' : 'status'} role="status">${said.text}</p>
      <${views[view]} onFault=${onFault} tell=${(/** @type {string} */ text) => say({ text, isFault: false })} />
    </main>`;
}

render(html`<${App} />`, /** @type {Element} */ (document.querySelector('#app')));
