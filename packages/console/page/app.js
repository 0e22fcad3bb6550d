// @ts-check
import { callGateway, dropKey, keepKey, readGateway, readKey } from './api.js';
import { Audit } from './audit.js';
import { followQueue } from './follow.js';
import { Overview } from './overview.js';
import { html, render, useEffect, useState } from './preact.js';
import { Queue } from './queue.js';
import { Relayers } from './relayers.js';
import { Service } from './service.js';
import { Webhooks } from './webhooks.js';

const views = { Overview, Queue, Relayers, Webhooks, Service, Audit };

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

const NOTHING_SAID = { text: '', isFault: false };

/** The views, once there is a key. @param {{ leave: () => void }} props */
function Console({ leave }) {
  const [view, setView] = useState(/** @type {keyof typeof views} */ ('Overview'));
  const [said, say] = useState(NOTHING_SAID);
  const [lost, setLost] = useState('');
  const [stats, setStats] = useState(/** @type {import('./types.d.ts').Answers['stats'] | undefined} */ (undefined));
  const [service, setService] = useState(
    /** @type {import('./types.d.ts').Answers['service'] | undefined} */ (undefined),
  );
  /** @type {import('./types.d.ts').OnFault} */
  const onFault = (error) => {
    if (error?.status === 401) leave();
    else if (error !== undefined) say({ text: error.message, isFault: true });
    else say(NOTHING_SAID);
  };
  useEffect(() => {
    readGateway('service', 'admin/service').then(setService, onFault);
    return followQueue({
      onStats: setStats,
      onFault: (error) => (error?.status === 401 ? leave() : setLost(error?.message ?? '')),
    });
  }, []);
  const go = (/** @type {keyof typeof views} */ name) => {
    say(NOTHING_SAID);
    setView(name);
  };
  return html`<header>
      <h1>Prism Gateway</h1>
      <nav aria-label="Views">
        ${Object.keys(views).map((name) => html`<button aria-current=${name === view ? 'page' : null} onClick=${() => go(/** @type {keyof typeof views} */ (name))}>${name}</button>`)}
      </nav>
      <button onClick=${leave}>Forget the key</button>
    </header>
    <main>
      <p class=${said.isFault || lost ? 'status fault' : 'status'} role="status">${lost || said.text}</p>
      <${views[view]} stats=${stats} explorers=${service?.explorers ?? {}} maxOpenClaims=${service?.maxOpenClaims ?? 0} onFault=${onFault} tell=${(/** @type {string} */ text) => say({ text, isFault: false })} />
    </main>`;
}

function App() {
  const [isIn, setIn] = useState(readKey() !== '');
  if (!isIn) return html`<${SignIn} enter=${() => setIn(true)} />`;
  const leave = () => {
    dropKey();
    setIn(false);
  };
  return html`<${Console} leave=${leave} />`;
}

render(html`<${App} />`, /** @type {Element} */ (document.querySelector('#app')));
