// @ts-check
import { callGateway, dropKey, keepKey, readGateway, readKey } from './api.js';
import { Confirm } from './dialog.js';
import { followQueue } from './follow.js';
import { Monitors } from './monitors.js';
import { Overview } from './overview.js';
import { Empty, Head, Icon } from './parts.js';
import { Payments } from './payments.js';
import { html, render, useEffect, useState } from './preact.js';
import { Relayers } from './relayers.js';
import { Request } from './request.js';
import { Requests } from './requests.js';
import { addressOf, Link, useRoute } from './router.js';
import { Search } from './search.js';
import { Audit, System } from './system.js';
import { Webhooks } from './webhooks.js';

/** @import { Act, Answers, OnFault } from './types.d.ts' */

const VIEWS = new Map(
  Object.entries({
    overview: { word: 'Overview', view: Overview, isFirst: true },
    requests: { word: 'Requests', view: Requests, isFirst: true },
    relayers: { word: 'Relayers', view: Relayers, isFirst: true },
    payments: { word: 'Payments', view: Payments, isFirst: true },
    monitors: { word: 'Monitors', view: Monitors, isFirst: false },
    webhooks: { word: 'Webhooks', view: Webhooks, isFirst: false },
    system: { word: 'System', view: System, isFirst: false },
    audit: { word: 'Audit', view: Audit, isFirst: false },
  }),
);

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
  return html`<main class="sign-in">
    <form class="card" onSubmit=${submit}>
      <${Mark} />
      <h1>Prism Gateway console</h1>
      <label>Admin key<input name="key" type="password" required autocomplete="off" /></label>
      <p class="fault" role="alert">${fault}</p>
      <button type="submit" class="primary">Enter</button>
      <p class="faint">The key stays in this tab, and is forgotten when you close it. A key of <code>ADMIN_READ_KEYS</code> reads and does nothing.</p>
    </form>
  </main>`;
}

const Mark = () =>
  html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><path class="mark-right" d="M16 3 30 28H2Z" /><path class="mark-left" d="M16 3 20 28H2Z" /></svg>`;

/** @param {{ view: string, leave: () => void, mayAct: boolean | undefined, isAway: boolean }} props */
function Side({ view, leave, mayAct, isAway }) {
  const [isMore, setMore] = useState(false);
  useEffect(() => {
    setMore(false);
    return undefined;
  }, [view]);
  const entry = (/** @type {[string, { word: string, isFirst: boolean }]} */ [name, { word, isFirst }]) =>
    html`<${Link} key=${name} class=${isFirst ? '' : 'later'} to=${addressOf(name)} aria-current=${name === view ? 'page' : null}><${Icon} name=${name} /><span>${word}</span></${Link}>`;
  return html`<header class="side">
    <p class="brand"><${Mark} /><span>Prism Gateway</span></p>
    <nav class=${isMore ? 'views more-open' : 'views'} aria-label="Views">${[...VIEWS].map(entry)}
      <button type="button" class="more" aria-expanded=${isMore} onClick=${() => setMore(!isMore)}><${Icon} name="more" /><span>More</span></button></nav>
    <div class="side-end">
      <p class=${isAway ? 'live away' : 'live'}>${isAway ? 'Away' : 'Live'}</p>
      ${mayAct === false && html`<p class="badge plain">Read-only key</p>`}
      <button type="button" class="quiet" onClick=${leave}><${Icon} name="leave" />Forget the key</button>
    </div>
  </header>`;
}

/** How long it stands there what was done. */
const SAID_MS = 8000;
const NOTHING_SAID = { text: '', isFault: false };

/** The views, once there is a key. @param {{ leave: () => void }} props */
function Console({ leave }) {
  const route = useRoute();
  const [said, say] = useState(NOTHING_SAID);
  const [lost, setLost] = useState('');
  const [stats, setStats] = useState(/** @type {Answers['stats'] | undefined} */ (undefined));
  const [service, setService] = useState(/** @type {Answers['service'] | undefined} */ (undefined));
  const [relayers, setRelayers] = useState(/** @type {Answers['relayers']['relayers'] | undefined} */ (undefined));
  const [asked, setAsked] = useState(
    /** @type {{ act: Act, done?: (() => void) | undefined } | undefined} */ (undefined),
  );
  /** @type {OnFault} */
  const onFault = (error) => {
    if (error?.status === 401) leave();
    else if (error !== undefined) say({ text: error.message, isFault: true });
    else say(NOTHING_SAID);
  };
  const readRelayers = () =>
    void readGateway('relayers', 'admin/relayers').then((found) => setRelayers(found.relayers), onFault);
  useEffect(() => {
    readGateway('service', 'admin/service').then(setService, onFault);
    readRelayers();
    return followQueue({
      onStats: setStats,
      onFault: (error) => (error?.status === 401 ? leave() : setLost(error?.message ?? '')),
    });
  }, []);
  const { view, id } = route;
  const known = VIEWS.get(view);
  useEffect(() => {
    if (said.isFault) say(NOTHING_SAID);
    document.title = `${id || known?.word || 'Console'} · Prism Gateway`;
    return undefined;
  }, [view, id]);
  useEffect(() => {
    if (said.text === '' || said.isFault) return undefined;
    const timer = setTimeout(() => say(NOTHING_SAID), SAID_MS);
    return () => clearTimeout(timer);
  }, [said]);
  const labels = new Map(
    (relayers ?? []).flatMap(({ address, label }) => (label === undefined ? [] : [[address.toLowerCase(), label]])),
  );
  const shown = view === 'requests' && id !== '' ? Request : known?.view;
  const announce = (/** @type {string} */ text) => say({ text, isFault: false });
  const ask = (/** @type {Act} */ act, /** @type {(() => void) | undefined} */ done) => setAsked({ act, done });
  const done = (/** @type {string} */ word) => {
    announce(`Done: ${word}.`);
    asked?.done?.();
  };
  return html`<${Side} view=${view} leave=${leave} mayAct=${service?.key.mayAct} isAway=${lost !== ''} />
    <main>
      <div class="top"><${Search} relayers=${relayers ?? []} /></div>
      <p class=${said.isFault || lost ? 'said fault' : 'said'} role="status">${lost || said.text}</p>
      ${
        shown === undefined || relayers === undefined
          ? relayers !== undefined &&
            html`<${Head} title="Not found" /><${Empty} title="There is no such view"><${Link} to=${addressOf('overview')}>To the overview</${Link}></${Empty}>`
          : html`<${shown} key=${`${view} ${view === 'requests' ? id : ''}`} route=${route} stats=${stats} service=${service} relayers=${relayers} labels=${labels} mayAct=${service?.key.mayAct === true}
              onFault=${onFault} announce=${announce} ask=${ask} readRelayers=${readRelayers} />`
      }
    </main>
    ${asked && html`<${Confirm} act=${asked.act} done=${done} close=${() => setAsked(undefined)} />`}`;
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
