// @ts-check
import { Spark } from './charts.js';
import { writeAmount, writeCount } from './format.js';
import { explorerLink } from './params.js';
import { Badge, Card, Empty, Head, Id, RelayerName, Skeleton, Table, Time, Transaction } from './parts.js';
import { Alerts } from './payments.js';
import { html } from './preact.js';
import { addressOf } from './router.js';

/** @import { Program, ViewProps, WatchedAccount } from './types.d.ts' */

/** @param {{ account: WatchedAccount }} props */
function Account({ account: { chain, account, ether, stablecoins, isApproved, isLow, reach, at, course } }) {
  return html`<section class="card" aria-label=${`${account} on ${chain}`}>
    <div class="card-head"><div><h2>${chain}</h2><${Id} id=${account} label="account" /></div><${Badge} status=${isLow ? 'low' : 'well'} /></div>
    <p class="amount"><strong>${writeAmount(ether)}</strong> ETH</p>
    <${Spark} points=${course} label=${`Ether of late, now ${ether}`} />
    <p>${reach}</p>
    <dl class="facts">
      ${stablecoins !== undefined && html`<dt>Stablecoins</dt><dd>${writeAmount(stablecoins)}</dd>`}
      ${isApproved !== undefined && html`<dt>Exchange</dt><dd>${isApproved ? 'approved' : 'not approved'}</dd>`}
      <dt>Read</dt><dd><${Time} at=${at} /></dd>
    </dl>
  </section>`;
}

/** @param {{ program: Program }} props */
const GasMonitor = ({
  program: { name, status = {} },
}) => html`<h2 class="program">${name} <span class="faint">${status.limits}</span></h2>
  <div class="cards">${(status.accounts ?? []).map((account) => html`<${Account} key=${`${account.account} ${account.chain}`} account=${account} />`)}</div>
  ${(status.accounts ?? []).length === 0 && html`<${Empty} title="No account was read yet">The next look is a few minutes away at most.</${Empty}>`}
  <${Card} title=${`Alerts of ${name}`}><${Alerts} status=${status} /></${Card}>`;

/** @param {{ program: Program, props: ViewProps }} props */
function Watchtower({ program: { name, status = {} }, props: { labels, stats } }) {
  return html`<h2 class="program">${name} <span class="faint">${status.enforces ? 'suspends who lies' : 'alerts, and suspends nobody: set ENFORCE=true'}</span></h2>
    <${Card} title=${`Alerts of ${name}`}><${Alerts} status=${status} /></${Card}>
    ${(status.chains ?? []).map(({ chainName, requests = {}, findings = [], total = 0 }) => {
      const watched = Object.entries(requests)
        .map(([state, count]) => `${writeCount(count)} ${state}`)
        .join(', ');
      const rows = findings.map(({ kind, requestId, relayer, text, txHash, foundAtMs, isLie }) => [
        html`<${Badge} status=${isLie ? 'failing' : 'waiting'} word=${kind.replaceAll(/([A-Z])/g, ' $1').toLowerCase()} />`,
        html`<${Id} id=${requestId} to=${addressOf('requests', { id: requestId })} label="request id" />`,
        html`<${RelayerName} address=${relayer} labels=${labels} />`,
        html`<span class="why">${text}</span>`,
        txHash
          ? html`<${Transaction} hash=${txHash} link=${explorerLink(stats?.explorers ?? {}, chainName, txHash)} />`
          : '–',
        html`<${Time} at=${foundAtMs} />`,
      ]);
      return html`<${Card} title=${`Findings on ${chainName}`} side=${html`<span class="faint">watches ${watched || 'nothing yet'}</span>`}>${
        rows.length === 0
          ? html`<${Empty} title="No false report">Every report that was looked at is true.</${Empty}>`
          : html`<${Table} caption=${`Findings on ${chainName}`} head=${['What', 'Request', 'Relayer', 'Evidence', 'Transaction', 'Found']} rows=${rows} />${total > findings.length && html`<p class="faint">The newest ${findings.length} of ${total}.</p>`}`
      }</${Card}>`;
    })}`;
}

/** The gas monitor and the watchtower. @param {ViewProps} props */
export function Monitors(props) {
  if (props.stats === undefined) return html`<${Head} title="Monitors" /><${Skeleton} rows=${10} />`;
  const { programs } = props.stats;
  const of = (/** @type {string} */ kind) => programs.filter(({ status }) => status?.program === kind);
  const [monitors, towers] = [of('gas-monitor'), of('watchtower')];
  const down = programs.filter(({ name, error }) => error !== undefined && /gas|watch|monitor/i.test(name));
  return html`<${Head} title="Monitors" />
    ${down.map(({ name, error }) => html`<section class="state bad" aria-label=${name}><h2>${name}</h2><p>No status: ${error}.</p></section>`)}
    ${monitors.map((program) => html`<${GasMonitor} key=${program.name} program=${program} />`)}
    ${towers.map((program) => html`<${Watchtower} key=${program.name} program=${program} props=${props} />`)}
    ${monitors.length + towers.length + down.length === 0 && html`<${Empty} title="No monitor is named">Name their status pages: <code>STATUS_URLS=gas-monitor=http://127.0.0.1:9467/status,watchtower=http://127.0.0.1:9465/status</code></${Empty}>`}`;
}
