// @ts-check
import { readGateway } from './api.js';
import { explorerLink } from './params.js';
import { Badge, Empty, Head, Id, RelayerName, Skeleton, Time, Transaction, useFollowed } from './parts.js';
import { html, useEffect, useRef, useState } from './preact.js';
import { addressOf, go, Link } from './router.js';

/** @import { Answers, ViewProps } from './types.d.ts' */
/** @typedef {Answers['requests'] & { from: string }} Page */

const STATUSES = /** @type {const} */ ([
  ['', 'All'],
  ['pending', 'Pending'],
  ['processing', 'In progress'],
  ['success', 'Succeeded'],
  ['failed', 'Failed'],
]);
/** How far back a range goes, in milliseconds. */
const RANGES = new Map([
  ['1h', { word: 'Last hour', ms: 3_600_000 }],
  ['24h', { word: 'Last 24 hours', ms: 86_400_000 }],
  ['7d', { word: 'Last 7 days', ms: 7 * 86_400_000 }],
  ['30d', { word: 'Last 30 days', ms: 30 * 86_400_000 }],
]);
/** Parameters of a list in the page's address, and the gateway's names for them. */
const FILTERS = ['status', 'chain', 'signer', 'relayer', 'tx', 'from', 'to', 'range', 'order', 'after', 'id'];

/** @param {URLSearchParams} query */
const readFilter = (query) => Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? '']));

/** The first moment that the begin of a UUID of version 7 can be of, and the one after its last. @param {string} prefix at least eight hex digits */
export function rangeOfPrefix(prefix) {
  const digits = prefix.replaceAll('-', '').slice(0, 12);
  const from = Number.parseInt(digits.padEnd(12, '0'), 16);
  const to = Number.parseInt(digits.padEnd(12, 'f'), 16) + 1;
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

/** Reads one page of what an address asks for. @param {Record<string, string>} filter @returns {Promise<Answers['requests'] & { from: string }>} with the moment that its range begins at */
async function readPage({
  status = '',
  chain = '',
  signer = '',
  relayer = '',
  tx = '',
  order = '',
  after = '',
  id = '',
  range = '',
  ...times
}) {
  const back = RANGES.get(range);
  const from = back === undefined ? times.from : new Date(Date.now() - back.ms).toISOString();
  // A page further on is of the same range as the first: its key says so.
  const bounds =
    id === ''
      ? { from: after === '' || back === undefined ? (from ?? '') : (times.from ?? ''), to: times.to ?? '' }
      : rangeOfPrefix(id);
  const query = {
    status,
    chainName: chain,
    signer,
    relayer,
    txHash: tx,
    order: order || 'desc',
    lastKey: after,
    limit: id === '' ? '50' : '100',
    ...bounds,
  };
  const page = await readGateway('requests', 'admin/requests', { query });
  const { from: begin } = bounds;
  return id === ''
    ? { ...page, from: begin }
    : { ...page, from: begin, items: page.items.filter(({ requestId }) => requestId.startsWith(id.toLowerCase())) };
}

/** A time as a field of a form has it, in the viewer's zone. @param {string} iso */
function localTime(iso) {
  if (iso === '' || Number.isNaN(Date.parse(iso))) return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** @param {{ filter: Record<string, string>, set: (change: Record<string, string>) => void, chains: readonly string[] }} props */
function Filters({ filter, set, chains }) {
  const pick = (/** @type {string} */ name) => (/** @type {{ target: HTMLInputElement }} */ event) =>
    set({ [name]: event.target.value });
  const pickTime =
    (/** @type {string} */ name) =>
    (/** @type {{ target: HTMLInputElement }} */ { target }) =>
      set({ range: '', [name]: target.value === '' ? '' : new Date(target.value).toISOString() });
  const [isOwn, setOwn] = useState(filter.from !== '' || filter.to !== '');
  const chips = [
    ['signer', 'Signer'],
    ['relayer', 'Relayer'],
    ['tx', 'Transaction'],
    ['id', 'Id begins with'],
  ].filter(([name = '']) => filter[name]);
  return html`<div class="filters">
    <nav class="segments" aria-label="Status">${STATUSES.map(([status, word]) => html`<${Link} to=${addressOf('requests', { query: { ...filter, status, after: '' } })} aria-current=${filter.status === status ? 'true' : null}>${word}</${Link}>`)}</nav>
    <label><span class="unseen">Chain</span><select value=${filter.chain} onChange=${pick('chain')}>
      <option value="">All chains</option>
      ${[...new Set([...chains, ...(filter.chain ? [filter.chain] : [])])].map((name) => html`<option value=${name}>${name}</option>`)}
    </select></label>
    <label><span class="unseen">Time range</span><select value=${isOwn ? 'own' : filter.range} onChange=${(
      /** @type {{ target: HTMLInputElement }} */ { target },
    ) => {
      setOwn(target.value === 'own');
      if (target.value !== 'own') set({ range: target.value, from: '', to: '' });
    }}>
      <option value="">Any time</option>
      ${[...RANGES].map(([name, { word }]) => html`<option value=${name}>${word}</option>`)}
      <option value="own">From … to …</option>
    </select></label>
    <label><span class="unseen">Order</span><select value=${filter.order || 'desc'} onChange=${(/** @type {{ target: HTMLInputElement }} */ { target }) => set({ order: target.value === 'asc' ? 'asc' : '' })}>
      <option value="desc">Newest first</option><option value="asc">Oldest first</option>
    </select></label>
    ${
      isOwn &&
      html`<label>From<input type="datetime-local" value=${localTime(filter.from ?? '')} onChange=${pickTime('from')} /></label>
      <label>To<input type="datetime-local" value=${localTime(filter.to ?? '')} onChange=${pickTime('to')} /></label>`
    }
    ${chips.map(([name = '', word]) => html`<button type="button" class="chip" onClick=${() => set({ [name]: '' })} aria-label=${`Without ${word}`}>${word} <code>${filter[name]}</code> ×</button>`)}
  </div>`;
}

/** Moves among the rows by the arrow keys. @param {KeyboardEvent} event */
function step(event) {
  const by = new Map([
    ['ArrowDown', 1],
    ['ArrowUp', -1],
    ['j', 1],
    ['k', -1],
  ]).get(event.key);
  if (by === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  const links = [.../** @type {HTMLElement} */ (event.currentTarget).querySelectorAll('a.row-link')];
  const at = links.findIndex((link) => link.closest('tr')?.contains(document.activeElement));
  const next = /** @type {HTMLElement | undefined} */ (links[at === -1 ? 0 : at + by]);
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

/** @param {{ items: Answers['requests']['items'], labels: ReadonlyMap<string, string>, explorers: Record<string, string> }} props */
export function RequestTable({ items, labels, explorers }) {
  const open = (/** @type {string} */ requestId) => (/** @type {MouseEvent} */ event) => {
    // A button in a row does its own act.
    if (/** @type {Element} */ (event.target).closest('a, button') || String(getSelection()) !== '') return;
    go(addressOf('requests', { id: requestId }));
  };
  return html`<div class="scroll" role="group" aria-label="Requests" tabindex="0" onKeyDown=${step}>
    <table class="rows">
      <caption class="unseen">Requests</caption>
      <thead><tr>${['Status', 'Request', 'Action', 'Chain', 'Signer', 'Relayer', 'Transaction', 'Posted'].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${items.map(
        ({
          requestId,
          status,
          action,
          chainName,
          signer,
          claimedBy,
          txHash,
          createdAt,
        }) => html`<tr key=${requestId} onClick=${open(requestId)}>
          <td><${Badge} status=${status} /></td>
          <td><${Id} id=${requestId} to=${addressOf('requests', { id: requestId })} label="request id" class="row-link" /></td>
          <td>${action.replace(/_FOR$/, '').replaceAll('_', ' ').toLowerCase()}</td>
          <td>${chainName}</td>
          <td><${Id} id=${signer} to=${addressOf('requests', { query: { signer } })} label="signer" /></td>
          <td>${claimedBy ? html`<${RelayerName} address=${claimedBy} labels=${labels} />` : html`<span class="faint">–</span>`}</td>
          <td>${txHash ? html`<${Transaction} hash=${txHash} link=${explorerLink(explorers, chainName, txHash)} />` : html`<span class="faint">–</span>`}</td>
          <td><${Time} at=${createdAt} /></td>
        </tr>`,
      )}</tbody>
    </table>
  </div>`;
}

/**
 * The shown part of the rows: rows change where they stand, and new ones come in by themselves only if nobody is reading further down
 * or works in the table.
 *
 * @param {Page | undefined} page @param {unknown} key
 */
function useCalm(page, key) {
  const [shown, setShown] = useState(/** @type {{ key: unknown, page: Page } | undefined} */ (undefined));
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (page === undefined) return undefined;
    const isBusy = scrollY > 80 || place.current?.querySelector(':hover, :focus-within') !== null;
    if (shown === undefined || shown.key !== key || !isBusy) {
      setShown({ key, page });
      return undefined;
    }
    const now = new Map(page.items.map((item) => [item.requestId, item]));
    const { page: before } = shown;
    setShown({ key, page: { ...before, items: before.items.map((item) => now.get(item.requestId) ?? item) } });
    return undefined;
  }, [page, key]);
  const isSame = shown?.key === key;
  const known = new Set(isSame ? shown?.page.items.map(({ requestId }) => requestId) : []);
  const fresh = isSame ? (page?.items ?? []).filter(({ requestId }) => !known.has(requestId)).length : 0;
  return { place, shown: isSame ? shown?.page : undefined, fresh, showAll: () => page && setShown({ key, page }) };
}

/** Requests by any filter, newest first. @param {ViewProps} props */
export function Requests({ route, stats, labels, onFault }) {
  const filter = readFilter(route.query);
  const key = JSON.stringify(filter);
  const { value: page } = useFollowed(() => readPage(filter), key, onFault);
  const { place, shown, fresh, showAll } = useCalm(page, key);
  const set = (/** @type {Record<string, string>} */ change) =>
    go(addressOf('requests', { query: { ...filter, after: '', ...change } }));
  const chains = (stats?.chains ?? []).flatMap(({ chainName }) => chainName ?? []);
  const next = shown?.lastKey;
  const isFiltered = Object.values(filter).some((value) => value !== '');
  // A page further on goes by the same moment as the first one.
  const fixed = filter.range ? { from: shown?.from ?? '' } : {};
  return html`<${Head} title="Requests">${fresh > 0 && html`<button type="button" class="pill" onClick=${showAll}>${fresh} new</button>`}</${Head}>
    <${Filters} filter=${filter} set=${set} chains=${chains} />
    <div ref=${place}>
    ${shown === undefined && html`<${Skeleton} rows=${14} />`}
    ${shown !== undefined && shown.items.length > 0 && html`<${RequestTable} items=${shown.items} labels=${labels} explorers=${stats?.explorers ?? {}} />`}
    ${
      shown?.items.length === 0 &&
      html`<${Empty} title=${isFiltered ? 'No request matches' : 'No requests yet'}>${
        next
          ? 'None on this page; there may be more on the next.'
          : isFiltered
            ? html`<${Link} to=${addressOf('requests')}>Show all requests</${Link}>`
            : 'What users post shows here at once.'
      }</${Empty}>`
    }</div>
    <div class="pager">
      ${filter.after !== '' && html`<${Link} to=${addressOf('requests', { query: { ...filter, after: '' } })}>First page</${Link}>`}
      ${next && html`<${Link} to=${addressOf('requests', { query: { ...filter, ...fixed, after: next } })}>${filter.order === 'asc' ? 'Newer' : 'Older'} →</${Link}>`}
    </div>`;
}
