// @ts-check
import { callGateway, readGateway } from './api.js';
import { Bar, Spark } from './charts.js';
import { FormDialog, Menu } from './dialog.js';
import { shorten, writeAmount, writeCount, writeDuration, writePercent } from './format.js';
import { Badge, Empty, Head, Id, Skeleton, Time, useFollowed } from './parts.js';
import { html, useState } from './preact.js';
import { addressOf, Link } from './router.js';

/** @import { Act, Answers, Finding, Program, ViewProps, WatchedAccount } from './types.d.ts' */

/** @typedef {Answers['relayers']['relayers'][number]} Relayer */
/** Of a relayer that has done nothing yet. */
const NO_RECORD = { address: '', openClaims: 0, success: 0, failed: 0, conflicts: 0 };

/** @param {Relayer} relayer @returns {Act[]} */
function actsOn({ address, label, suspendedAt }) {
  const path = `admin/relayers/${address}`;
  const name = label ?? shorten(address);
  const post = (/** @type {string} */ act, /** @type {unknown} */ json) =>
    callGateway(`${path}/${act}`, { method: 'POST', ...(json !== undefined && { json }) });
  return [
    suspendedAt === undefined
      ? {
          ...{ word: 'Suspend', title: `Suspend ${name}?`, needs: 'Why, which it is shown', danger: true },
          effect:
            'Its calls are refused until it is resumed. What it holds stays its own: release it, so that others take it.',
          run: (/** @type {string} */ reason) => post('suspend', { reason }),
        }
      : {
          word: 'Resume',
          title: `Resume ${name}?`,
          effect: 'It may list, claim and report again at once.',
          run: () => post('resume', undefined),
        },
    {
      ...{ word: 'Release all', title: `Release all that ${name} holds?` },
      effect:
        'Every request that it holds is pending again, so that others may take it. A transaction that it has submitted may still be mined.',
      run: () => post('release', undefined),
    },
    {
      ...{ word: 'Remove', title: `Take ${name} off the whitelist?`, danger: true },
      effect:
        'It is refused from the next call on. What it has claimed stays claimed until its lease ends, or you release it.',
      run: () => callGateway(path, { method: 'DELETE' }),
    },
  ];
}

/** @param {{ relayer: Relayer, acts: Answers['audit']['items'] }} props */
function Suspension({ relayer: { address, suspendedAt, suspendReason }, acts }) {
  if (suspendedAt === undefined) return null;
  const act = acts.find(
    ({ act: name, target }) => name === 'relayers.suspend' && target.toLowerCase() === address.toLowerCase(),
  );
  return html`<p class="note bad">Suspended <${Time} at=${suspendedAt} />${act && html` by key <code>${act.keyId}</code>`}: ${suspendReason}</p>`;
}

/** @param {{ findings: readonly Finding[] }} props */
function Findings({ findings }) {
  if (findings.length === 0) return null;
  return html`<details class="findings"><summary>${findings.length} ${findings.length === 1 ? 'finding' : 'findings'} of the watchtower</summary>
    <ul>${findings.map(({ requestId, text, kind, foundAtMs }) => html`<li><strong>${kind.replaceAll(/([A-Z])/g, ' $1').toLowerCase()}</strong> <${Time} at=${foundAtMs} /><br />${text} <${Link} to=${addressOf('requests', { id: requestId })}>Request</${Link}></li>`)}</ul>
  </details>`;
}

/** @param {{ name: string, ms: number | undefined, most: number }} props */
const Pace = ({ name, ms, most }) =>
  html`<div class="pace"><span>${name}</span><${Bar} tone="busy" share=${(ms ?? 0) / Math.max(1, most)} label=${`${name}: ${ms === undefined ? 'unknown' : writeDuration(ms)}`} /><span class="number">${ms === undefined ? '–' : writeDuration(ms)}</span></div>`;

/** @param {{ account: WatchedAccount | undefined }} props */
function Gas({ account }) {
  if (account === undefined) return null;
  return html`<div class="gas"><span>${writeAmount(account.ether)} ETH ${account.isLow && html`<${Badge} status="low" />`}</span>
    <${Spark} points=${account.course} label=${`Ether of late, now ${account.ether}`} /><p class="faint">${account.reach}</p></div>`;
}

/**
 * @param {{ relayer: Relayer, record: typeof NO_RECORD & { medianMs?: number, p95Ms?: number, lastSeenAt?: string }, slowest: number, maxOpenClaims: number,
 *   acts: Answers['audit']['items'], findings: readonly Finding[], account: WatchedAccount | undefined, menu: unknown, isChosen: boolean }} props
 */
function RelayerCard({ relayer, record, slowest, maxOpenClaims, acts, findings, account, menu, isChosen }) {
  const { address, label, suspendedAt } = relayer;
  const { success, failed, openClaims, conflicts, medianMs, p95Ms, lastSeenAt } = record;
  const ended = success + failed;
  return html`<section class=${isChosen ? 'card chosen' : 'card'} aria-label=${`Relayer ${label ?? address}`}>
    <div class="card-head"><div><h2>${label ?? shorten(address)}</h2><${Id} id=${address} label="address" /></div>
      <${Badge} status=${suspendedAt === undefined ? 'active' : 'suspended'} />${menu}</div>
    <${Suspension} relayer=${relayer} acts=${acts} />
    <div class="rate"><strong>${ended === 0 ? '–' : writePercent(success / ended)}</strong><span class="faint">${writeCount(success)} done, ${writeCount(failed)} failed, ${writeCount(conflicts)} lost to rivals</span>
      <${Bar} share=${ended === 0 ? 0 : success / ended} label=${`Success: ${success} of ${ended}`} /></div>
    <${Pace} name="median" ms=${medianMs} most=${slowest} /><${Pace} name="p95" ms=${p95Ms} most=${slowest} />
    <dl class="facts">
      <dt>Holds</dt><dd><${Link} to=${addressOf('requests', { query: { relayer: address, status: 'processing' } })}>${writeCount(openClaims)}${maxOpenClaims === 0 ? '' : ` of ${writeCount(maxOpenClaims)}`}</${Link}></dd>
      <dt>Last call</dt><dd><${Time} at=${lastSeenAt} /></dd>
      <dt>Requests</dt><dd><${Link} to=${addressOf('requests', { query: { relayer: address } })}>all of its own</${Link}></dd>
    </dl>
    <${Gas} account=${account} />
    <${Findings} findings=${findings} />
  </section>`;
}

/** The other programs' accounts of relayers. @param {readonly Program[]} programs */
function readKnown(programs) {
  const findings = programs.flatMap(({ status }) => (status?.chains ?? []).flatMap((chain) => chain.findings ?? []));
  const accounts = programs.flatMap(({ status }) => status?.accounts ?? []);
  return {
    findingsOf: (/** @type {string} */ address) =>
      findings.filter(({ relayer }) => relayer.toLowerCase() === address.toLowerCase()),
    accountOf: (/** @type {string} */ address) =>
      accounts.find(({ account }) => account.toLowerCase() === address.toLowerCase()),
  };
}

/** @param {{ close: () => void, done: () => void }} props */
function AddRelayer({ close, done }) {
  const submit = async (/** @type {FormData} */ form) => {
    const [address, label] = ['address', 'label'].map((name) => form.get(name)?.toString().trim() ?? '');
    await callGateway('admin/relayers', { method: 'POST', json: { address, ...(label !== '' && { label }) } });
    done();
  };
  return html`<${FormDialog} title="Put a relayer on the whitelist" word="Add" submit=${submit} close=${close}>
    <p>It may list, claim and report from then on. A known address gets the new label.</p>
    <label>Address<input name="address" required size="44" spellcheck=${false} autocomplete="off" /></label>
    <label>Label<input name="label" maxlength="200" autocomplete="off" /></label>
  </${FormDialog}>`;
}

/** The whitelist, and how each relayer does; the one that was asked for comes first. @param {ViewProps} props */
export function Relayers({ route, stats, service, relayers, mayAct, ask, announce, readRelayers, onFault }) {
  const [isAdding, setAdding] = useState(false);
  const side = useFollowed(
    () => readGateway('audit', 'admin/audit', { query: { limit: '100' } }),
    'relayers',
    onFault,
    { leastMs: 900, everyMs: 5000 },
  );
  const add =
    mayAct && html`<button type="button" class="primary" onClick=${() => setAdding(true)}>Add a relayer</button>`;
  const done = () => {
    announce('Done: added.');
    readRelayers();
  };
  const head = html`<${Head} title="Relayers">${add}</${Head}>${isAdding && html`<${AddRelayer} close=${() => setAdding(false)} done=${done} />`}`;
  if (stats === undefined || side.value === undefined) return html`${head}<${Skeleton} rows=${10} />`;
  const acts = side.value.items;
  const { findingsOf, accountOf } = readKnown(stats.programs);
  const records = new Map(stats.relayers.map((one) => [one.address.toLowerCase(), one]));
  const slowest = Math.max(1, ...stats.relayers.map(({ p95Ms = 0 }) => p95Ms));
  const isChosen = (/** @type {Relayer} */ { address }) => address.toLowerCase() === route.id.toLowerCase();
  const sorted = relayers.toSorted((one, other) => Number(isChosen(other)) - Number(isChosen(one)));
  const again = () => {
    readRelayers();
    side.again();
  };
  if (sorted.length === 0)
    return html`${head}<${Empty} title="No relayer yet">Add the address of a relayer: until then nothing is carried out.</${Empty}>`;
  return html`${head}<div class="cards">${sorted.map(
    (
      relayer,
    ) => html`<${RelayerCard} key=${relayer.address} relayer=${relayer} record=${records.get(relayer.address.toLowerCase()) ?? NO_RECORD} slowest=${slowest}
      maxOpenClaims=${service?.maxOpenClaims ?? 0} acts=${acts} findings=${findingsOf(relayer.address)} account=${accountOf(relayer.address)} isChosen=${isChosen(relayer)}
      menu=${mayAct && html`<${Menu} label=${`Acts on ${relayer.label ?? relayer.address}`} acts=${actsOn(relayer)} ask=${(/** @type {Act} */ act) => ask(act, again)} />`} />`,
  )}</div>`;
}
