// @ts-check
import { readGateway } from './api.js';
import { Bar, Chart, depthOf, fillParts, waitOf } from './charts.js';
import { readAmount, writeAmount, writeCount, writeDuration, writePercent, zoneOf } from './format.js';
import { Card, Empty, Head, Skeleton, Table, Time, useFollowed } from './parts.js';
import { html } from './preact.js';
import { addressOf, Link } from './router.js';
import { evaluateState } from './state.js';

/** @import { Answers, ViewProps, Worry, Program } from './types.d.ts' */

/** Least times between two reads: what is asked beside the stats moves more slowly. */
const [SIDE_MS, SAMPLE_MS] = [5000, 15_000];
const SPANS = new Map([
  ['hour', { stepMs: 60_000, count: 60, word: 'Last hour' }],
  ['week', { stepMs: 3_600_000, count: 168, word: 'Last week' }],
]);

/** @param {{ worries: readonly Worry[] }} props */
function State({ worries }) {
  if (worries.length === 0)
    return html`<section class="state good" aria-label="State"><h2>All is well</h2><p>Requests are carried out, and nothing waits for you.</p></section>`;
  return html`<section class="state bad" aria-label="State">
    <h2>${worries.length === 1 ? 'One thing needs you' : `${worries.length} things need you`}</h2>
    <ul>${worries.slice(0, 6).map(({ text, todo, view, id, query }) => html`<li><${Link} to=${addressOf(view, { ...(id && { id }), ...(query && { query }) })}>${text}</${Link}><span>${todo}</span></li>`)}</ul>
    ${worries.length > 6 && html`<p>and ${worries.length - 6} more.</p>`}
  </section>`;
}

/** @param {{ name: string, value: unknown, note?: unknown, to?: string }} props */
function Tile({ name, value, note, to }) {
  const inside = html`<span class="tile-name">${name}</span><strong>${value}</strong><span class="tile-note">${note}</span>`;
  return to === undefined
    ? html`<div class="tile">${inside}</div>`
    : html`<${Link} to=${to} class="tile">${inside}</${Link}>`;
}

/** @param {readonly number[]} sorted @param {number} share */
const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];

/** Failures by reason, without what differs from one to the next. @param {Answers['requests']['items']} failed */
function groupReasons(failed) {
  const groups = Map.groupBy(failed, ({ errorMessage = '' }) =>
    errorMessage
      .replaceAll(/0x[0-9a-f]{8,}/gi, '0x…')
      .replaceAll(/\d{4,}/g, 'N')
      .slice(0, 120),
  );
  return [...groups]
    .map(([reason, items]) => ({ reason, count: items.length, newest: items[0] }))
    .sort((one, other) => other.count - one.count);
}

/** @param {{ failed: Answers['requests']['items'] | undefined }} props */
function Reasons({ failed }) {
  if (failed === undefined) return html`<${Skeleton} rows=${4} />`;
  if (failed.length === 0) return html`<${Empty} title="No failures">Nothing that is kept has failed.</${Empty}>`;
  const groups = groupReasons(failed);
  return html`<ul class="bars">${groups.slice(0, 6).map(
    ({ reason, count, newest }) => html`<li key=${reason}>
      <${Link} to=${addressOf('requests', { id: newest?.requestId ?? '' })}>${reason || 'no reason given'}</${Link}><span class="number">${count}</span>
      <${Bar} share=${count / failed.length} tone="bad" label=${`${count} of ${failed.length}`} />
    </li>`,
  )}</ul><p class="faint">Of the newest ${failed.length} failures.</p>`;
}

/** @param {{ programs: readonly Program[], labels: ReadonlyMap<string, string> }} props */
function Money({ programs, labels }) {
  const rows = programs.flatMap(({ name, status }) =>
    (status?.chains ?? []).flatMap(({ chainName, spentEther, earnedCredits }) =>
      spentEther === undefined
        ? []
        : [
            [
              labels.get(String(status?.relayer).toLowerCase()) ?? name,
              chainName,
              `${writeAmount(spentEther)} ETH`,
              `${writeAmount(earnedCredits ?? 0)} credits`,
            ],
          ],
    ),
  );
  if (rows.length === 0)
    return html`<${Empty} title="No relayer shows what it spends">Name their status pages: <code>STATUS_URLS=relayer=http://127.0.0.1:9464/status</code></${Empty}>`;
  return html`<${Table} caption="Spent and earned by relayer" head=${['Relayer', 'Chain', 'Spent', 'Earned']} rows=${rows} numbers=${[2, 3]} />`;
}

/** @param {{ stats: Answers['stats'], span: string }} props */
function Charts({ stats, span }) {
  const grid = SPANS.get(span) ?? { stepMs: 60_000, count: 60, word: '' };
  const parts = fillParts(span === 'week' ? stats.hours : stats.minutes, grid);
  const open = stats.chains.reduce((sum, { pending, processing }) => sum + pending + processing, 0);
  const depths = depthOf(parts, open);
  const xs = parts.map(({ start }) => start / 1000);
  const lines = /** @type {const} */ ([
    ['Posted', 'busy', 'posts'],
    ['Succeeded', 'good', 'success'],
    ['Failed', 'bad', 'failed'],
  ]);
  return html`<div class="charts">
    <${Chart} title=${span === 'week' ? 'Requests an hour' : 'Requests a minute'} xs=${xs} series=${lines.map(([label, tone, name]) => ({ label, tone, values: parts.map((part) => part[name]) }))} />
    <${Chart} title="Open requests" xs=${xs} series=${[{ label: 'Pending and in progress', tone: 'wait', values: depths, isArea: true }]} />
    <${Chart} title="Age of the oldest, served in order" xs=${xs} seconds=${true} series=${[{ label: 'Wait', tone: 'admin', values: waitOf(parts, depths, grid.stepMs), isArea: true }]} />
  </div>`;
}

/** @param {{ stats: Answers['stats'], succeeded: Answers['requests']['items'] | undefined }} props */
function Tiles({ stats, succeeded }) {
  const total = (/** @type {'pending' | 'processing'} */ status) =>
    stats.chains.reduce((sum, chain) => sum + chain[status], 0);
  const [good, bad] = [
    stats.minutes.reduce((sum, one) => sum + one.success, 0),
    stats.minutes.reduce((sum, one) => sum + one.failed, 0),
  ];
  const times = (succeeded ?? [])
    .map(({ createdAt, updatedAt }) => Date.parse(updatedAt) - Date.parse(createdAt))
    .sort((one, other) => one - other);
  const write = (/** @type {number | undefined} */ ms) => (ms === undefined ? '–' : writeDuration(ms));
  const chains = stats.programs.flatMap(({ status }) => status?.chains ?? []);
  const spent = chains.reduce((sum, { spentEther = '0' }) => sum + readAmount(spentEther), 0);
  const earned = chains.reduce((sum, { earnedCredits = '0' }) => sum + readAmount(earnedCredits), 0);
  const age = (/** @type {string | undefined} */ at) => (at === undefined ? 'none' : html`oldest <${Time} at=${at} />`);
  return html`<div class="tiles">
    <${Tile} name="Pending" value=${writeCount(total('pending'))} note=${age(stats.oldestPendingAt)} to=${addressOf('requests', { query: { status: 'pending' } })} />
    <${Tile} name="In progress" value=${writeCount(total('processing'))} note=${age(stats.oldestProcessingAt)} to=${addressOf('requests', { query: { status: 'processing' } })} />
    <${Tile} name="Success, last hour" value=${good + bad === 0 ? '–' : writePercent(good / (good + bad))} note=${`${writeCount(good)} done, ${writeCount(bad)} failed`} to=${addressOf('requests', { query: { status: 'failed' } })} />
    <${Tile} name="POST to success" value=${write(quantile(times, 0.5))} note=${times.length === 0 ? 'no successes yet' : `p99 ${write(quantile(times, 0.99))}, newest ${times.length}`} />
    <${Tile} name="Spent" value=${`${writeAmount(spent)} ETH`} note=${`earned ${writeAmount(earned)} credits`} to=${addressOf('relayers')} />
  </div>`;
}

/** Is all well, and if not, what is to be done? @param {ViewProps} props */
export function Overview({ stats, relayers, labels, route, onFault }) {
  const side = useFollowed(() => readGateway('webhooks', 'admin/webhooks'), 'side', onFault, {
    leastMs: SIDE_MS,
    everyMs: SIDE_MS,
  }).value;
  const sample = useFollowed(
    async () => {
      const read = (/** @type {string} */ status) =>
        readGateway('requests', 'admin/requests', { query: { status, order: 'desc', limit: '100' } });
      const [succeeded, failed] = await Promise.all([read('success'), read('failed')]);
      return { succeeded: succeeded.items, failed: failed.items };
    },
    'sample',
    onFault,
    { leastMs: SAMPLE_MS, everyMs: SAMPLE_MS },
  ).value;
  const span = route.query.get('span') ?? 'hour';
  const head = html`<${Head} title="Overview"><nav class="segments" aria-label="Span of time">${[...SPANS].map(
    ([name, { word }]) =>
      html`<${Link} to=${addressOf('overview', { query: { span: name === 'hour' ? '' : name } })} aria-current=${name === span ? 'true' : null}>${word}</${Link}>`,
  )}</nav></${Head}>`;
  if (stats === undefined || side === undefined) return html`${head}<${Skeleton} rows=${12} />`;
  const worries = evaluateState({ stats, relayers, webhooks: side.webhooks, now: Date.now() });
  return html`${head}
    <${State} worries=${worries} />
    <${Tiles} stats=${stats} succeeded=${sample?.succeeded} />
    <${Charts} stats=${stats} span=${span} />
    <p class="faint zone">Charts are in your time zone, ${zoneOf()}.</p>
    <div class="two">
      <${Card} title="Failures by reason"><${Reasons} failed=${sample?.failed} /></${Card}>
      <${Card} title="Money"><${Money} programs=${stats.programs} labels=${labels} /></${Card}>
    </div>
      <${Card} title="Chains">${
        stats.chains.length === 0
          ? html`<${Empty} title="No requests yet">What users post shows here at once.</${Empty}>`
          : html`<${Table} caption="Requests by chain" head=${['Chain', 'Pending', 'In progress', 'Succeeded', 'Failed']} numbers=${[1, 2, 3, 4]}
              rows=${stats.chains.map(({ chainName, pending, processing, success, failed }) => [
                chainName === null
                  ? 'all others'
                  : html`<${Link} to=${addressOf('requests', { query: { chain: chainName } })}>${chainName}</${Link}>`,
                ...[pending, processing, success, failed].map(writeCount),
              ])} />`
      }</${Card}>`;
}
