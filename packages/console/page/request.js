// @ts-check
import { callGateway, readGateway } from './api.js';
import { shorten, writeDuration, writeExact } from './format.js';
import { decodeRevert, explainParam, explorerLink, flattenParams } from './params.js';
import {
  Badge,
  Card,
  Copy,
  Empty,
  Head,
  Id,
  RelayerName,
  Skeleton,
  Table,
  Time,
  Transaction,
  useFollowed,
} from './parts.js';
import { html, useState } from './preact.js';
import { addressOf, go, Link } from './router.js';
import { describeNow, describeStory } from './story.js';

/** @import { Act, Answers, StoryEvent, ViewProps } from './types.d.ts' */

/** The act after which there is no such request. */
const REMOVE = 'Remove for good';
/** Params that are shown before one asks for all: a batch may have hundreds. */
const SHOWN_PARAMS = 24;

/** @param {Answers['request']} record @param {boolean} isSuspended whether its relayer is @returns {Act[]} */
function actsOn({ requestId, status, claimedBy = '' }, isSuspended) {
  const path = `admin/requests/${requestId}`;
  const post = (/** @type {string} */ act, /** @type {unknown} */ json) =>
    callGateway(`${path}/${act}`, { method: 'POST', ...(json !== undefined && { json }) });
  const purge = {
    ...{ word: REMOVE, title: 'Remove this request for good?', danger: true },
    effect: 'Its record is gone, for its signer too, and nothing brings it back. What the chain has done stays done.',
    run: () => callGateway(path, { method: 'DELETE' }),
  };
  if (status !== 'processing') {
    const reopen = {
      ...{ word: 'Put back to pending', title: 'Put this request back to pending?' },
      effect: isSuspended
        ? `Its failure is taken back, and any other relayer may carry it out. ${shorten(claimedBy)}, which is suspended, may not.`
        : `That is for a false failure alone: suspend ${shorten(claimedBy)} first, or the gateway refuses it.`,
      run: () => post('reopen', undefined),
    };
    return status === 'failed' ? [reopen, purge] : [purge];
  }
  return [
    {
      ...{ word: 'Release', title: 'Release this request?' },
      effect: `${shorten(claimedBy)} loses its claim, and the request is pending again: any relayer may take it, this one too. If it has submitted a transaction already, that one may still be mined.`,
      run: () => post('release', undefined),
    },
    {
      ...{ word: 'Fail', title: 'End this request as failed?', danger: true, needs: 'Why, which the user sees' },
      effect: `A report of ${shorten(claimedBy)} is refused from then on. The user sees that it has failed, and may sign anew.`,
      run: (/** @type {string} */ errorMessage) => post('fail', { errorMessage }),
    },
  ];
}

/** Reads all that anybody knows of a request. @param {string} requestId */
async function readParts(requestId) {
  const record = await readGateway('request', `requests/${encodeURIComponent(requestId)}`);
  const id = record.requestId;
  const [{ programs }, { items: acts }, { webhooks }] = await Promise.all([
    readGateway('stats', 'admin/stats', { query: { about: id } }),
    readGateway('audit', 'admin/audit', { query: { target: id, limit: '100' } }),
    readGateway('webhooks', 'admin/webhooks'),
  ]);
  const lists = await Promise.all(
    webhooks.map(async ({ webhookId, url }) => {
      const query = { requestId: id, limit: '100' };
      const { items } = await readGateway('deliveries', `admin/webhooks/${webhookId}/deliveries`, { query }).catch(
        () => ({ items: [] }),
      );
      return items.map((delivery) => ({ ...delivery, url }));
    }),
  );
  return { record, programs, acts, deliveries: lists.flat() };
}

/** The events as a drawn line. @param {{ events: readonly StoryEvent[], now: string | undefined, link: (hash: string) => string | undefined }} props */
export function TimeLine({ events, now, link }) {
  return html`<ol class="timeline">
    ${events.map(({ at, title, tone, text, txHash }, i) => {
      const before = events[i - 1];
      const gap = before === undefined ? 0 : Date.parse(at) - Date.parse(before.at);
      return html`<li key=${`${at} ${title} ${txHash}`} class=${tone}>
        ${before !== undefined && html`<span class="gap">${gap < 1 ? '' : `+ ${writeDuration(gap)}`}</span>`}
        <div class="event"><strong>${title}</strong><${Time} at=${at} /></div>
        ${text && html`<p>${text}</p>`}
        ${txHash && html`<p><${Transaction} hash=${txHash} link=${link(txHash)} /></p>`}
      </li>`;
    })}
    ${now && html`<li class="now"><div class="event"><strong>Now</strong></div><p>${now}</p></li>`}
  </ol>`;
}

/** How long it was where. @param {{ record: Answers['request'] }} props */
function Spans({ record: { status, createdAt, claimedAt, updatedAt } }) {
  const end = status === 'success' || status === 'failed' ? Date.parse(updatedAt) : Date.now();
  const [posted, claimed] = [Date.parse(createdAt), claimedAt === undefined ? end : Date.parse(claimedAt)];
  const spans = [
    { word: 'waited', tone: 'wait', ms: claimed - posted },
    ...(claimedAt === undefined
      ? []
      : [
          {
            word: status === 'processing' ? 'in progress for' : 'carried out in',
            tone: status === 'failed' ? 'bad' : status === 'success' ? 'good' : 'busy',
            ms: end - claimed,
          },
        ]),
  ];
  const total = Math.max(1, end - posted);
  return html`<div class="spans">
    <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">${spans.map(({ tone, ms }, i) => html`<rect class=${tone} x=${i === 0 ? 0 : (100 * (claimed - posted)) / total} width=${Math.max(1, (100 * ms) / total)} height="8" />`)}</svg>
    <ul class="legend">${spans.map(({ word, tone, ms }) => html`<li class=${`dot ${tone}`}>${word} ${writeDuration(ms)}</li>`)}</ul>
  </div>`;
}

/** @param {{ params: Record<string, unknown> }} props */
function Params({ params }) {
  const [isWhole, setWhole] = useState(false);
  const rows = flattenParams(params);
  const shown = isWhole ? rows : rows.slice(0, SHOWN_PARAMS);
  return html`<${Table} caption="Params" head=${['Name', 'Value', 'Means']} rows=${shown.map(([path, value]) => [
    html`<code>${path}</code>`,
    html`<${Id} id=${value} label=${path} />`,
    explainParam(path.replace(/\[\d+\]$/, '').replace(/^.*\./, ''), value) ?? '',
  ])} />${rows.length > shown.length && html`<button type="button" onClick=${() => setWhole(true)}>Show all ${rows.length}</button>`}`;
}

/** The call that puts the same request in the queue again. @param {Answers['request']} record */
function writeCurl({ chainName, action, params }) {
  const body = JSON.stringify({ chainName, action, params }).replaceAll("'", "'\\''");
  return `curl -s '${new URL('../requests?once=true', import.meta.url)}' -H 'Content-Type: application/json' -d '${body}'`;
}

/** One request: what happened to it, and what to do now. @param {ViewProps} props */
export function Request({ route, relayers, labels, stats, mayAct, ask, onFault }) {
  const { value, again } = useFollowed(() => readParts(route.id), route.id, onFault, { leastMs: 900, everyMs: 5000 });
  if (value === undefined)
    return html`<${Head} title=${html`Request <code>${shorten(route.id)}</code>`} /><${Skeleton} rows=${14} />`;
  const parts = { ...value, labels };
  const { record } = value;
  const {
    requestId,
    status,
    chainName,
    action,
    signer,
    claimedBy,
    claimedAt,
    txHash,
    errorMessage,
    createdAt,
    updatedAt,
  } = record;
  const link = (/** @type {string} */ hash) => explorerLink(stats?.explorers ?? {}, chainName, hash);
  const isSuspended = relayers.some(
    ({ address, suspendedAt }) => suspendedAt !== undefined && address.toLowerCase() === claimedBy?.toLowerCase(),
  );
  const isOpen = status === 'pending' || status === 'processing';
  const decoded = errorMessage === undefined ? undefined : decodeRevert(errorMessage);
  const fact = (/** @type {string} */ name, /** @type {unknown} */ what) => html`<dt>${name}</dt><dd>${what}</dd>`;
  return html`<nav class="crumbs" aria-label="Where"><${Link} to=${addressOf('requests')}>Requests</${Link}></nav>
    <${Head} title=${html`<${Badge} status=${status} /> ${action.replace(/_FOR$/, '').replaceAll('_', ' ').toLowerCase()} <span class="faint">on</span> ${chainName}`}>
      <${Copy} class="" text=${location.href} label="Copy link">Copy link</${Copy}>
      <${Copy} class="" text=${writeCurl(record)} label="Copy as curl">Copy as curl</${Copy}>
      ${mayAct && actsOn(record, isSuspended).map((act) => html`<button type="button" class=${act.danger ? 'danger' : ''} onClick=${() => ask(act, act.word === REMOVE ? () => go(addressOf('requests')) : again)}>${act.word}</button>`)}
    </${Head}>
    ${errorMessage !== undefined && html`<section class="state bad" aria-label="Why it failed"><h2>Why it failed</h2><p>${errorMessage}</p>${decoded && html`<p>The contract said: <strong>${decoded}</strong></p>`}</section>`}
    <div class="split">
      <${Card} title="Story"><${Spans} record=${record} /><${TimeLine} events=${describeStory(parts)} now=${isOpen ? describeNow(parts, Date.now()) : undefined} link=${link} /></${Card}>
      <${Card} title="Facts"><dl class="facts">
        ${fact('Request', html`<${Id} id=${requestId} label="request id" />`)}
        ${fact('Signer', html`<${Id} id=${signer} to=${addressOf('requests', { query: { signer } })} label="signer" />`)}
        ${claimedBy && fact('Relayer', html`<${RelayerName} address=${claimedBy} labels=${labels} />`)}
        ${txHash && fact('Transaction', html`<${Transaction} hash=${txHash} link=${link(txHash)} />`)}
        ${fact('Posted', writeExact(createdAt))}
        ${claimedAt && fact('Claimed', writeExact(claimedAt))}
        ${fact(isOpen ? 'Last moved' : 'Ended', writeExact(updatedAt))}
        ${fact('Outcome', describeNow(parts, Date.now()))}
      </dl></${Card}>
    </div>
    <${Card} title="Params"><${Params} params=${record.params} /></${Card}>
    ${!value.programs.some(({ status: shown }) => shown?.program === 'relayer') && html`<${Empty} title="No relayer shows its side of it">Name the relayers' status pages, so that the story says why they leave a request and what they submit: <code>STATUS_URLS=relayer=http://127.0.0.1:9464/status</code></${Empty}>`}`;
}
