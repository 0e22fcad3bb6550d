// @ts-check

import { onMove } from './follow.js';
import { shorten, writeAgo, writeExact } from './format.js';
import { html, useEffect, useState } from './preact.js';
import { addressOf, Link } from './router.js';

/** How a status is called and coloured; `Map`, since names may come from others. */
const TONES = new Map(
  Object.entries({
    ...{ pending: 'wait', processing: 'busy', success: 'good', failed: 'bad' },
    // Of payments.
    ...{ seen: 'wait', claimed: 'busy', buying: 'busy', bought: 'busy', transferring: 'busy', transferred: 'good' },
    ...{ completed: 'good', vanished: 'bad', held: 'bad', refused: 'bad' },
    // Of deliveries, relayers, webhooks and programs.
    ...{ waiting: 'wait', delivered: 'good', active: 'good', suspended: 'bad', failing: 'bad', disabled: 'bad' },
    ...{ low: 'bad', well: 'good', down: 'bad' },
  }),
);
const WORDS = new Map([
  ['processing', 'In progress'],
  ['success', 'Succeeded'],
]);

/** A status as a coloured badge with a word. @param {{ status: string, word?: string }} props */
export function Badge({ status, word }) {
  const text = word ?? WORDS.get(status) ?? `${status.slice(0, 1).toUpperCase()}${status.slice(1)}`;
  return html`<span class=${`badge ${TONES.get(status) ?? 'plain'}`}>${text}</span>`;
}

/** A time as people say it, with the exact one on hover. @param {{ at: string | number | undefined }} props */
export function Time({ at }) {
  if (at === undefined || at === '') return html`<span class="faint">–</span>`;
  return html`<time datetime=${new Date(at).toISOString()} title=${writeExact(at)}>${writeAgo(at)}</time>`;
}

/** Copies a text, and says so for a moment. @param {{ text: string, label: string, children?: unknown, class?: string }} props */
export function Copy({ text, label, children, class: look = 'copy' }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (/** @type {Event} */ event) => {
    event.stopPropagation();
    navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => undefined,
    );
  };
  return html`<button type="button" class=${look} onClick=${copy} title=${`${label}: ${text}`} aria-label=${isCopied ? 'Copied' : label}>${children ?? html`<${Icon} name=${isCopied ? 'check' : 'copy'} />`}${children && isCopied ? ' ✓' : ''}</button>`;
}

/** A short id, which copies the whole one. @param {{ id: string, to?: string | undefined, label?: string, class?: string }} props */
export function Id({ id, to, label = 'id', class: look = '' }) {
  const text = html`<code title=${id}>${shorten(id)}</code>`;
  return html`<span class="id">${to === undefined ? text : html`<${Link} to=${to} class=${look}>${text}</${Link}>`}<${Copy} text=${id} label=${`Copy ${label}`} /></span>`;
}

/** A relayer by its label, or else its address. @param {{ address: string, labels: ReadonlyMap<string, string> }} props */
export function RelayerName({ address, labels }) {
  const label = labels.get(address.toLowerCase());
  return html`<${Link} to=${addressOf('relayers', { id: address })} title=${address}>${label ?? html`<code>${shorten(address)}</code>`}</${Link}>`;
}

/** A transaction, linked to where it is shown. @param {{ hash: string, link: string | undefined }} props */
export function Transaction({ hash, link }) {
  const text = html`<code title=${hash}>${shorten(hash)}</code>`;
  return html`<span class="id">${link === undefined ? text : html`<a href=${link} target="_blank" rel="noopener noreferrer">${text}<${Icon} name="out" /></a>`}<${Copy} text=${hash} label="Copy transaction" /></span>`;
}

/** @type {ReadonlyMap<string, string>} */
const ICONS = new Map([
  ['overview', 'M3 12h4l3-8 4 16 3-8h4'],
  ['requests', 'M4 6h16M4 12h16M4 18h10'],
  ['relayers', 'M12 3v4M12 17v4M3 12h4M17 12h4M12 8.5a3.5 3.5 0 1 1 0 7a3.5 3.5 0 0 1 0-7'],
  ['payments', 'M3 6h18v12H3zM3 10h18M7 15h4'],
  ['monitors', 'M12 4a8 8 0 0 1 8 8M12 8a4 4 0 0 1 4 4M4 20l8-8M12 11a1 1 0 1 0 0 2'],
  ['webhooks', 'M9 7a3 3 0 1 1 4 2.8L10 15M5 17a3 3 0 1 0 3 0h8M14 9l3 5a3 3 0 1 1-1 5'],
  ['system', 'M4 7h10M18 7h2M4 17h2M10 17h10M16 5v4M8 15v4'],
  ['audit', 'M6 3h9l4 4v14H6zM9 12h7M9 16h5'],
  ['more', 'M5 12h.01M12 12h.01M19 12h.01'],
  ['copy', 'M9 9h11v11H9zM5 15H4V4h11v1'],
  ['check', 'M5 13l4 4L19 7'],
  ['out', 'M14 5h5v5M19 5l-8 8M11 6H6v12h12v-5'],
  ['search', 'M11 4a7 7 0 1 1 0 14a7 7 0 0 1 0-14M16 16l5 5'],
  ['leave', 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9'],
]);

/** @param {{ name: string }} props */
export const Icon = ({ name }) =>
  html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${ICONS.get(name) ?? ''} /></svg>`;

/** Stands where there is nothing yet. @param {{ title: string, children?: unknown }} props */
export const Empty = ({ title, children }) =>
  html`<div class="empty"><p class="empty-title">${title}</p><div>${children}</div></div>`;

/** Stands where something is being read, as high as that will be. @param {{ rows?: number }} props */
export const Skeleton = ({ rows = 6 }) =>
  html`<div class="skeleton" role="status" aria-label="Loading">${Array.from({ length: rows }, (_, i) => html`<div key=${i}></div>`)}</div>`;

/** A part of a page. @param {{ title: string, side?: unknown, children?: unknown, class?: string }} props */
export const Card = ({ title, side, children, class: look = '' }) =>
  html`<section class=${`card ${look}`} aria-label=${title}><div class="card-head"><h2>${title}</h2>${side}</div>${children}</section>`;

/** A heading with what belongs beside it. @param {{ title: unknown, children?: unknown }} props */
export const Head = ({ title, children }) =>
  html`<div class="head"><h1>${title}</h1><div class="head-side">${children}</div></div>`;

/**
 * A table that scrolls by itself, by keyboard too.
 *
 * @param {{ caption: string, head: readonly string[], rows: readonly (readonly unknown[])[], numbers?: readonly number[], keys?: readonly string[] }} props
 */
export function Table({ caption, head, rows, numbers = [], keys }) {
  const look = (/** @type {number} */ i) => (numbers.includes(i) ? 'number' : '');
  return html`<div class="scroll" role="group" aria-label=${caption} tabindex="0">
    <table>
      <caption class="unseen">${caption}</caption>
      <thead><tr>${head.map((name, i) => html`<th scope="col" class=${look(i)}>${name}</th>`)}</tr></thead>
      <tbody>${rows.map((cells, row) => html`<tr key=${keys?.[row] ?? row}>${cells.map((cell, i) => html`<td class=${look(i)}>${cell}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`;
}

/**
 * Reads what a view shows, and again whenever the queue has moved. A fault is taken back once a read succeeds.
 *
 * @template T
 * @param {() => Promise<T>} read
 * @param {unknown} key what is read: another one begins anew
 * @param {import('./types.d.ts').OnFault} onFault
 * @param {{ leastMs?: number, everyMs?: number }} [pace] least time between two reads, and after which it is read in any case: other programs move without the queue
 */
export function useFollowed(read, key, onFault, { leastMs = 0, everyMs = 0 } = {}) {
  const [found, setFound] = useState(/** @type {{ key: unknown, value: T } | undefined} */ (undefined));
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isOver = false;
    let isFaulty = false;
    let readAt = Number.NEGATIVE_INFINITY;
    const look = () => {
      if (performance.now() - readAt < leastMs) return;
      readAt = performance.now();
      return read().then(
        (value) => {
          if (isOver) return;
          if (isFaulty) onFault(undefined);
          isFaulty = false;
          setFound({ key, value });
        },
        (error) => {
          if (isOver) return;
          isFaulty = true;
          onFault(error);
        },
      );
    };
    void look();
    const end = onMove(() => void look());
    const timer = everyMs === 0 ? undefined : setInterval(() => !document.hidden && void look(), everyMs);
    return () => {
      isOver = true;
      clearInterval(timer);
      end();
    };
  }, [key, turn]);
  // Data read with another key are not shown for this one.
  return { value: found?.key === key ? found?.value : undefined, again: () => setTurn(turn + 1) };
}
