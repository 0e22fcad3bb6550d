// @ts-check
import { readGateway } from './api.js';
import { Bar } from './charts.js';
import { writeCount, writeExact } from './format.js';
import { Badge, Card, Empty, Head, Id, Skeleton, Table, Time, useFollowed } from './parts.js';
import { html } from './preact.js';
import { addressOf, Link } from './router.js';

/** @import { Answers, ViewProps } from './types.d.ts' */

/** @param {{ used: number, most: number | undefined, of: string }} props */
function Share({ used, most, of }) {
  if (most === undefined || most === 0) return html`<span class="faint">no bound</span>`;
  const share = used / most;
  return html`<span class="share"><${Bar} share=${share} tone=${share > 0.9 ? 'bad' : share > 0.7 ? 'wait' : 'good'} label=${`${of}: ${Math.floor(100 * share)} %`} />${Math.floor(100 * share)} %</span>`;
}

/** @param {{ service: Answers['service'] }} props */
function Limits({ service: { limits, refusals, clients, since } }) {
  const refusedBy = new Map(refusals.map((refusal) => [refusal.limit, refusal]));
  return html`<${Card} title="Limits in force" side=${html`<span class="faint">calls a minute and client; counted since ${writeExact(since)}</span>`}>
    <${Table} caption="Limits in force" head=${['Limit', 'Most', 'Refused, last minute', 'Last hour']} numbers=${[1, 2, 3]} rows=${Object.entries(
      limits,
    ).map(([name, most]) => {
      const { lastMinute = 0, lastHour = 0 } = refusedBy.get(name) ?? {};
      return [name, most === 0 ? 'none' : writeCount(most), lastMinute, lastHour];
    })} /></${Card}>
    <${Card} title="Clients nearest to a limit">${
      clients.length === 0
        ? html`<${Empty} title="Nobody is near to one">Who calls often shows here.</${Empty}>`
        : html`<${Table} caption="Clients nearest to a limit" head=${['Client', 'Limit', 'In use', 'Most', 'Share']} numbers=${[2, 3]} rows=${clients.map(({ client, limit, used, most }) => [html`<code>${client}</code>`, limit, used, writeCount(most), html`<${Share} used=${used} most=${most} of=${`${limit} of ${client}`} />`])} />`
    }</${Card}>`;
}

/** @param {{ service: Answers['service'] }} props */
function Budgets({ service: { budgets, waiting, disk } }) {
  const gigabytes = (/** @type {number} */ bytes) => `${(bytes / 1e9).toFixed(1)} GB`;
  return html`<${Card} title="Budgets in use">
    <${Table} caption="Budgets in use" head=${['Budget', 'In use', 'Most', 'Share', 'Ended to make room']} numbers=${[1, 2, 4]} rows=${budgets.map(({ name, used, most, ended }) => [name, writeCount(used), most === undefined ? 'none' : writeCount(most), html`<${Share} used=${used} most=${most} of=${name} />`, ended])} />
    <dl class="facts"><dt>Calls that wait</dt><dd>${waiting}</dd>${disk && html`<dt>Free disk</dt><dd>${gigabytes(disk.freeBytes)}; below ${gigabytes(disk.leastFreeBytes)} nothing new is taken</dd>`}</dl>
  </${Card}>`;
}

/** @param {{ service: Answers['service'], explorers: Answers['stats']['explorers'] }} props */
function Settings({
  service: { claimLeaseSeconds, maxOpenClaims, maxBodyBytes, maxBatchSize, chains, key },
  explorers,
}) {
  return html`<${Card} title="Settings"><dl class="facts">
    <dt>Claim lease</dt><dd>${claimLeaseSeconds === 0 ? 'off' : `${claimLeaseSeconds} s`}</dd>
    <dt>Open claims</dt><dd>${maxOpenClaims === 0 ? 'any number' : `at most ${writeCount(maxOpenClaims)} a relayer`}</dd>
    <dt>Body</dt><dd>at most ${writeCount(maxBodyBytes)} bytes</dd><dt>Batch</dt><dd>at most ${maxBatchSize} entries</dd>
    <dt>Chains</dt><dd>${chains.join(', ') || 'any'}</dd>
    <dt>Explorers</dt><dd>${Object.keys(explorers).join(', ') || html`none: set <code>EXPLORER_URLS</code>`}</dd>
    <dt>Your key</dt><dd><code>${key.keyId}</code>, ${key.mayAct ? 'which may act' : 'for reading'}</dd>
  </dl></${Card}>`;
}

/** Limits, budgets, settings and the other programs. @param {ViewProps} props */
export function System({ stats, onFault }) {
  const pace = { leastMs: 900, everyMs: 5000 };
  const { value: service } = useFollowed(() => readGateway('service', 'admin/service'), 'system', onFault, pace);
  if (stats === undefined || service === undefined) return html`<${Head} title="System" /><${Skeleton} rows=${12} />`;
  const { programs, explorers } = stats;
  return html`<${Head} title="System"><${Link} to=${addressOf('audit')}>Audit log</${Link}></${Head}>
    <${Limits} service=${service} /><${Budgets} service=${service} />
    <div class="two"><${Settings} service=${service} explorers=${explorers} />
    <${Card} title="Other programs">${
      programs.length === 0
        ? html`<${Empty} title="None is named">Set <code>STATUS_URLS</code>, so that relayers, payments and monitors are shown.</${Empty}>`
        : html`<${Table} caption="Other programs" head=${['Program', 'State', 'What is wrong']} rows=${programs.map(
            ({ name, status, error }) => {
              const wrong = [...(error === undefined ? [] : [`No status: ${error}`]), ...(status?.faults ?? [])];
              return [
                name,
                html`<${Badge} status=${wrong.length === 0 ? 'well' : 'down'} />`,
                html`<span class="why">${wrong.join('; ') || '–'}</span>`,
              ];
            },
          )} />`
    }</${Card}></div>`;
}

/** The administrators' acts. @param {ViewProps} props */
export function Audit({ route, labels, onFault }) {
  const [target, after] = [route.query.get('target') ?? '', route.query.get('after') ?? ''];
  const { value } = useFollowed(
    () => readGateway('audit', 'admin/audit', { query: { limit: '50', lastKey: after, target } }),
    `audit ${target} ${after}`,
    onFault,
  );
  const nameTarget = (/** @type {string} */ name) => {
    if (/^0x/.test(name))
      return html`<${Link} to=${addressOf('relayers', { id: name })}>${labels.get(name.toLowerCase()) ?? html`<code>${name}</code>`}</${Link}>`;
    if (/^[0-9a-f]{8}-/.test(name))
      return html`<${Id} id=${name} to=${addressOf('requests', { id: name })} label="request id" />`;
    return html`<${Id} id=${name} label="target" />`;
  };
  const rows = (value?.items ?? []).map(({ at, act, target: name, reason = '', keyId }) => [
    html`<${Time} at=${at} />`,
    act,
    nameTarget(name),
    html`<span class="why">${reason}</span>`,
    html`<code>${keyId}</code>`,
  ]);
  return html`<${Head} title="Audit log" />
    ${value === undefined && html`<${Skeleton} rows=${12} />`}
    ${value !== undefined && rows.length === 0 && html`<${Empty} title="No act yet">What administrators do is listed here, with the id of the key.</${Empty}>`}
    ${rows.length > 0 && html`<${Table} caption="Acts of administrators, newest first" head=${['When', 'Act', 'Done to', 'Reason', 'Key']} rows=${rows} />`}
    ${value?.lastKey && html`<div class="pager"><${Link} to=${addressOf('audit', { query: { target, after: value.lastKey } })}>Older →</${Link}></div>`}`;
}
