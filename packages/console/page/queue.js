// @ts-check
import { readGateway } from './api.js';
import { ageOf, Confirm, Table, useFollowed } from './parts.js';
import { html, useState } from './preact.js';
import { Story } from './story.js';

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;
const TX_HASH = /^0x[0-9a-f]{64}$/i;
const NO_FILTER = { status: 'pending', chainName: '', signer: '', relayer: '', txHash: '' };

/** @param {{ filter: typeof NO_FILTER, change: (filter: typeof NO_FILTER) => void, find: (what: string) => void }} props */
function Filters({ filter, change, find }) {
  const set = (/** @type {string} */ name) => (/** @type {{ target: HTMLInputElement }} */ event) =>
    change({ ...filter, [name]: event.target.value.trim() });
  const field = (/** @type {keyof typeof NO_FILTER} */ name, /** @type {string} */ label) =>
    html`<label>${label}<input value=${filter[name]} onChange=${set(name)} spellcheck=${false} autocomplete="off" /></label>`;
  const search = (/** @type {SubmitEvent & { target: HTMLFormElement }} */ event) => {
    event.preventDefault();
    find(new FormData(event.target).get('what')?.toString().trim() ?? '');
  };
  return html`<form class="row" role="search" onSubmit=${search}>
      <label>Find by id, signer or transaction<input name="what" size="48" spellcheck=${false} autocomplete="off" /></label>
      <button type="submit">Find</button>
    </form>
    <div class="row">
      <label>Status<select value=${filter.status} onChange=${set('status')}>
        ${['', 'pending', 'processing', 'success', 'failed'].map((status) => html`<option value=${status}>${status || 'all'}</option>`)}
      </select></label>
      ${field('chainName', 'Chain')} ${field('signer', 'Signer')} ${field('relayer', 'Relayer')}
    </div>`;
}

/** Requests by filter, with the story of each. @param {import('./types.d.ts').ViewProps} props */
export function Queue({ onFault, tell, explorers }) {
  const [filter, setFilter] = useState(NO_FILTER);
  const [pages, setPages] = useState(/** @type {string[]} */ ([]));
  const [shown, show] = useState(
    /** @type {import('@prism-gateway/protocol').RequestRecord | undefined} */ (undefined),
  );
  const [asked, ask] = useState(/** @type {import('./types.d.ts').Act | undefined} */ (undefined));
  const lastKey = pages.at(-1) ?? '';
  const query = { ...filter, limit: '50', lastKey };
  const { value, again } = useFollowed(
    () => readGateway('requests', 'admin/requests', { query }),
    JSON.stringify(query),
    onFault,
  );
  const change = (/** @type {typeof NO_FILTER} */ next) => {
    setPages([]);
    setFilter(next);
  };
  const open = (/** @type {string} */ id) =>
    readGateway('request', `requests/${encodeURIComponent(id)}`).then(show, onFault);
  const findTransaction = async (/** @type {string} */ txHash) => {
    const { items, count } = await readGateway('requests', 'admin/requests', { query: { txHash, limit: '2' } });
    if (count === 0) throw new Error('No request was reported with this transaction.');
    change({ ...NO_FILTER, status: '', txHash });
    if (count === 1) show(items[0]);
  };
  const find = (/** @type {string} */ what) => {
    if (UUID.test(what)) return open(what);
    if (ADDRESS.test(what)) return change({ ...NO_FILTER, status: '', signer: what });
    if (TX_HASH.test(what)) return findTransaction(what).catch(onFault);
    return onFault(new Error('Give the id of a request, the address of a signer, or the hash of a transaction.'));
  };
  const { items = [], lastKey: nextKey = null } = value ?? {};
  const rows = items.map((item) => [
    html`<button onClick=${() => open(item.requestId)} aria-label=${`Show ${item.requestId}`}><code>${item.requestId}</code></button>`,
    ...[item.status, item.chainName, item.action, ageOf(item.createdAt), item.claimedBy ?? ''],
  ]);
  return html`<h2>Requests</h2>
    <${Filters} filter=${filter} find=${find} change=${(/** @type {typeof NO_FILTER} */ next) => change({ ...next, txHash: '' })} />
    <${Table} caption=${filter.txHash === '' ? 'Requests, oldest first' : `Requests of transaction ${filter.txHash}`} head=${['Request', 'Status', 'Chain', 'Action', 'Age', 'Claimed by']} rows=${rows} />
    <div class="row">
      <button disabled=${pages.length === 0} onClick=${() => setPages(pages.slice(0, -1))}>Back</button>
      <button disabled=${nextKey === null} onClick=${() => nextKey !== null && setPages([...pages, nextKey])}>More</button>
    </div>
    ${shown && !asked && html`<${Story} record=${shown} explorers=${explorers} close=${() => show(undefined)} ask=${ask} />`}
    ${
      asked &&
      html`<${Confirm} question=${asked.question} word=${asked.word} needs=${asked.needs}
      act=${async (/** @type {string} */ text) => {
        await asked.run(text);
        tell(`Done: ${asked.word}.`);
        show(undefined);
        again();
      }}
      close=${() => ask(undefined)} />`
    }`;
}
