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

/** Limits, budgets, and the other programs. @param {import('./types.d.ts').ViewProps} props */
export function Service({ onFault }) {
  const { value } = useFollowed(readBoth, 'service', onFault);
  if (value === undefined) return html`<p>Reading the settings…</p>`;
  const { limits, budgets, chains, explorers, ...settings } = value.service;
  const facts = [
    ...Object.entries(settings),
    ...[
      ['chains', chains.join(', ') || 'any'],
      ['explorers', Object.keys(explorers).join(', ') || 'none: set EXPLORER_URLS'],
    ],
  ];
  return html`<h2>Limits in force</h2>
    <${Table} caption="Calls a minute and client" head=${['Limit', 'Most']} rows=${Object.entries(limits).map(([name, most]) => [name, most === 0 ? 'none' : most])} />
    <h2>Budgets in use</h2>
    <${Table} caption="Bounds on what strangers send, of this process" head=${['Budget', 'In use', 'Ended to make room']} rows=${budgets.map(({ name, used, ended }) => [name, used, ended])} />
    <h2>Settings</h2>
    <dl class="story">${facts.map(([name, text]) => html`<dt>${name}</dt><dd>${text}</dd>`)}</dl>
    <h2>Other programs</h2>
    ${value.programs.length === 0 && html`<p>None is named: set <code>STATUS_URLS</code> to show relayers and the payment relayer here.</p>`}
    ${value.programs.map((program) => html`<${Program} program=${program} />`)}`;
}
