// @ts-check
import { readGateway } from './api.js';
import { Table, useFollowed } from './parts.js';
import { html } from './preact.js';

const readBoth = async () => {
  const [service, { programs }] = await Promise.all([
    readGateway('service', 'admin/service'),
    readGateway('programs', 'admin/programs'),
  ]);
  return { service, programs };
};

/** @param {unknown} value */
const isList = (value) => Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null);

/** @param {unknown} value */
const show = (value) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value));

/** One of the operator's other programs, as it tells of itself. @param {{ program: import('@prism-gateway/protocol').ProgramList['programs'][number] }} props */
function Program({ program: { name, status, error } }) {
  if (status === undefined) return html`<h3>${name}</h3><p class="fault">No status: ${error}.</p>`;
  const entries = Object.entries(status);
  const lists = entries.filter(([, value]) => isList(value));
  const rest = entries.filter(([, value]) => !isList(value));
  const table = (/** @type {[string, unknown]} */ [title, value]) => {
    const items = /** @type {Record<string, unknown>[]} */ (value);
    const head = [...new Set(items.flatMap((item) => Object.keys(item)))];
    const rows = items.map((item) => head.map((column) => (item[column] === undefined ? '' : show(item[column]))));
    return html`<${Table} caption=${`${name}: ${title}`} head=${head} rows=${rows} /><br />`;
  };
  return html`<h3>${name}</h3>
    <dl class="story">${rest.map(([key, value]) => html`<dt>${key}</dt><dd><code>${show(value)}</code></dd>`)}</dl>
    ${lists.map(table)}`;
}

/** How much of a bound is used. @param {{ used: number, most: number | undefined, of: string }} props */
function Share({ used, most, of }) {
  if (most === undefined) return 'no bound';
  const share = Math.floor((100 * used) / most);
  return html`<meter min="0" max=${most} value=${used} aria-label=${of}></meter> ${share} %`;
}

/** Limits in force, and who is near to them. @param {{ service: import('./types.d.ts').Answers['service'] }} props */
function Limits({ service: { limits, refusals, clients, since } }) {
  const refusedBy = new Map(refusals.map((refusal) => [refusal.limit, refusal]));
  const rows = Object.entries(limits).map(([name, most]) => {
    const { lastMinute = 0, lastHour = 0 } = refusedBy.get(name) ?? {};
    return [name, most === 0 ? 'none' : most, lastMinute, lastHour];
  });
  const nearest = clients.map(({ client, limit, used, most }) => [
    html`<code>${client}</code>`,
    ...[limit, used, most],
    html`<${Share} used=${used} most=${most} of=${`${limit} of ${client}`} />`,
  ]);
  return html`<h2>Limits in force</h2>
    <${Table} caption="Calls a minute and client, and how many were refused (429)" head=${['Limit', 'Most', 'Refused, last minute', 'Last hour']} rows=${rows} />
    <br />
    <${Table} caption="Clients that are nearest to a limit" head=${['Client', 'Limit', 'In use', 'Most', 'Share']} rows=${nearest} />
    <p>Of the process that has answered, which counts since ${since}; what others have counted of the same clients is in it.</p>`;
}

/** Bounds on what strangers make the process keep. @param {{ service: import('./types.d.ts').Answers['service'] }} props */
function Budgets({ service: { budgets, waiting, disk } }) {
  const rows = budgets.map(({ name, used, most, ended }) => [
    ...[name, used, most ?? 'none'],
    html`<${Share} used=${used} most=${most} of=${name} />`,
    ended,
  ]);
  const gigabytes = (/** @type {number} */ bytes) => `${(bytes / 1e9).toFixed(1)} GB`;
  return html`<h2>Budgets in use</h2>
    <${Table} caption="Bytes that strangers make this process keep, and its connections" head=${['Budget', 'In use', 'Most', 'Share', 'Ended to make room']} rows=${rows} />
    <dl class="story">
      <dt>calls that wait</dt><dd>${waiting}</dd>
      ${disk && html`<dt>free disk</dt><dd>${gigabytes(disk.freeBytes)}; below ${gigabytes(disk.leastFreeBytes)} nothing new is taken</dd>`}
    </dl>`;
}

/** Limits, budgets, and the other programs. @param {import('./types.d.ts').ViewProps} props */
export function Service({ onFault }) {
  const { value } = useFollowed(readBoth, 'service', onFault);
  if (value === undefined) return html`<p>Reading the settings…</p>`;
  const { limits, clients, refusals, since, budgets, waiting, disk, chains, explorers, ...settings } = value.service;
  const facts = [
    ...Object.entries(settings),
    ...[
      ['chains', chains.join(', ') || 'any'],
      ['explorers', Object.keys(explorers).join(', ') || 'none: set EXPLORER_URLS'],
    ],
  ];
  return html`<${Limits} service=${value.service} />
    <${Budgets} service=${value.service} />
    <h2>Settings</h2>
    <dl class="story">${facts.map(([name, text]) => html`<dt>${name}</dt><dd>${text}</dd>`)}</dl>
    <h2>Other programs</h2>
    ${value.programs.length === 0 && html`<p>None is named: set <code>STATUS_URLS</code> to show relayers and the payment relayer here.</p>`}
    ${value.programs.map((program) => html`<${Program} program=${program} />`)}`;
}
