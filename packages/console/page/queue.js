// @ts-check
import { callGateway, readGateway } from './api.js';
import { ageOf, Confirm, Table, useDialog, useFollowed } from './parts.js';
import { html, useState } from './preact.js';

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const NO_FILTER = { status: 'pending', chainName: '', signer: '', relayer: '' };

/** How long a request was where. @param {import('@prism-gateway/protocol').RequestRecord} record */
function tellStory({ status, createdAt, claimedAt, claimedBy, updatedAt }) {
  const lines = [`Stored ${createdAt}.`];
  if (claimedAt !== undefined)
    lines.push(`Claimed after ${(Date.parse(claimedAt) - Date.parse(createdAt)) / 1000} s by ${claimedBy}.`);
  if (status === 'pending') lines.push(`Waiting for ${ageOf(createdAt)}.`);
  if (status === 'processing') lines.push(`Held for ${ageOf(claimedAt)}.`);
  if (claimedAt !== undefined && (status === 'success' || status === 'failed'))
    lines.push(`Ended ${(Date.parse(updatedAt) - Date.parse(claimedAt)) / 1000} s later.`);
  return lines.join(' ');
}

/**
 * @param {import('@prism-gateway/protocol').RequestRecord} record
 * @returns {import('./types.d.ts').Act[]}
 */
function actsOn({ requestId, status }) {
  const path = `admin/requests/${requestId}`;
  if (status !== 'processing') {
    return [
      {
        word: 'Remove for good',
        question: `Remove ${requestId} for good?`,
        run: () => callGateway(path, { method: 'DELETE' }),
      },
    ];
  }
  return [
    {
      word: 'Release',
      question: `Give ${requestId} back, so that others may claim it?`,
      run: () => callGateway(`${path}/release`, { method: 'POST' }),
    },
    {
      ...{ word: 'Fail', question: `End ${requestId} as failed?`, needs: 'Why, which the user sees' },
      run: (errorMessage) => callGateway(`${path}/fail`, { method: 'POST', json: { errorMessage } }),
    },
  ];
}

/** @param {{ record: import('@prism-gateway/protocol').RequestRecord, close: () => void, ask: (act: import('./types.d.ts').Act) => void }} props */
function Story({ record, close, ask }) {
  const box = useDialog();
  const { params, ...fields } = record;
  const entry = (/** @type {[string, unknown]} */ [name, value]) =>
    html`<dt>${name}</dt><dd><code>${typeof value === 'object' ? JSON.stringify(value) : String(value)}</code></dd>`;
  return html`<dialog ref=${box} aria-labelledby="story-title" onClose=${close}>
    <h2 id="story-title">Request</h2>
    <p>${tellStory(record)}</p>
    <dl class="story">${Object.entries(fields).map(entry)}</dl>
    <h2>Params</h2>
    <dl class="story">${Object.entries(params).map(entry)}</dl>
    <div class="row">
      <button onClick=${() => box.current.close()}>Close</button>
      ${actsOn(record).map((act) => html`<button class="danger" onClick=${() => ask(act)}>${act.word}</button>`)}
    </div>
  </dialog>`;
}

/** @param {{ filter: typeof NO_FILTER, change: (filter: typeof NO_FILTER) => void, find: (id: string) => void }} props */
function Filters({ filter, change, find }) {
  const set = (/** @type {string} */ name) => (/** @type {{ target: HTMLInputElement }} */ event) =>
    change({ ...filter, [name]: event.target.value.trim() });
  const field = (/** @type {keyof typeof NO_FILTER} */ name, /** @type {string} */ label) =>
    html`<label>${label}<input value=${filter[name]} onChange=${set(name)} spellcheck=${false} autocomplete="off" /></label>`;
  const search = (/** @type {SubmitEvent & { target: HTMLFormElement }} */ event) => {
    event.preventDefault();
    find(new FormData(event.target).get('id')?.toString().trim() ?? '');
  };
  return html`<form class="row" role="search" onSubmit=${search}>
      <label>Find by id<input name="id" size="38" spellcheck=${false} autocomplete="off" /></label>
      <button type="submit">Find</button>
    </form>
    <div class="row">
      <label>Status<select value=${filter.status} onChange=${set('status')}>
        ${['', 'pending', 'processing', 'success', 'failed'].map((status) => html`<option value=${status}>${status || 'all'}</option>`)}
      </select></label>
      ${field('chainName', 'Chain')} ${field('signer', 'Signer')} ${field('relayer', 'Relayer')}
    </div>`;
}

/** Requests by filter, with the story of each. @param {{ onFault: import('./types.d.ts').OnFault, tell: (text: string) => void }} props */
export function Queue({ onFault, tell }) {
  const [filter, setFilter] = useState(NO_FILTER);
  const [pages, setPages] = useState(/** @type {string[]} */ ([]));
  const [shown, show] = useState(
    /** @type {import('@prism-gateway/protocol').RequestRecord | undefined} */ (undefined),
  );
  const [asked, ask] = useState(/** @type {import('./types.d.ts').Act | undefined} */ (undefined));
  const lastKey = pages.at(-1) ?? '';
  const query = { ...filter, limit: '50', lastKey };
  const { value, again } = useFollowed(
    () => readGateway('requests', 'admin/requests', query),
    JSON.stringify(query),
    onFault,
  );
  const open = (/** @type {string} */ id) =>
    readGateway('request', `requests/${encodeURIComponent(id)}`).then(show, onFault);
  const find = (/** @type {string} */ id) =>
    UUID.test(id) ? open(id) : onFault(new Error('Give the id of a request, as its answer has it.'));
  const { items = [], lastKey: nextKey = null } = value ?? {};
  const rows = items.map((item) => [
    html`<button onClick=${() => open(item.requestId)} aria-label=${`Show ${item.requestId}`}><code>${item.requestId}</code></button>`,
    ...[item.status, item.chainName, item.action, ageOf(item.createdAt), item.claimedBy ?? ''],
  ]);
  return html`<h2>Requests</h2>
    <${Filters} filter=${filter} find=${find} change=${(/** @type {typeof NO_FILTER} */ next) => {
      setPages([]);
      setFilter(next);
    }} />
    <${Table} caption="Requests, oldest first" head=${['Request', 'Status', 'Chain', 'Action', 'Age', 'Claimed by']} rows=${rows} />
    <div class="row">
      <button disabled=${pages.length === 0} onClick=${() => setPages(pages.slice(0, -1))}>Back</button>
      <button disabled=${nextKey === null} onClick=${() => nextKey !== null && setPages([...pages, nextKey])}>More</button>
    </div>
    ${shown && !asked && html`<${Story} record=${shown} close=${() => show(undefined)} ask=${ask} />`}
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
