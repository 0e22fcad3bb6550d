// @ts-check
import { ageOf, Plot, Table } from './parts.js';
import { html } from './preact.js';

/** The queue at one look. @param {import('./types.d.ts').ViewProps} props */
export function Overview({ stats }) {
  if (stats === undefined) return html`<p>Reading the queue…</p>`;
  const total = (/** @type {import('@prism-gateway/protocol').RequestStatus} */ status) =>
    stats.chains.reduce((sum, chain) => sum + chain[status], 0);
  const tiles = [
    ...[
      ['Pending', total('pending')],
      ['Processing', total('processing')],
      ['Succeeded', total('success')],
      ['Failed', total('failed')],
    ],
    ...[
      ['Oldest pending', ageOf(stats.oldestPendingAt)],
      ['Oldest claimed', ageOf(stats.oldestProcessingAt)],
    ],
  ];
  return html`<h2>Queue</h2>
    <dl class="tiles">${tiles.map(([name, value]) => html`<div class="tile"><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <${Plot} title="Last hour, by minute" parts=${stats.minutes} grid=${{ stepMs: 60_000, count: 60 }} />
    <${Plot} title="Last week, by hour" parts=${stats.hours} grid=${{ stepMs: 3_600_000, count: 168 }} />
    <h2>Chains</h2>
    <${Table} caption="Requests by chain" head=${['Chain', 'Pending', 'Processing', 'Succeeded', 'Failed']}
      rows=${stats.chains.map((chain) => [chain.chainName ?? 'all others', chain.pending, chain.processing, chain.success, chain.failed])} />`;
}
