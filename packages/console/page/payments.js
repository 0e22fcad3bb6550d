// @ts-check
import { readGateway } from './api.js';
import { Bar } from './charts.js';
import { readAmount, writeAgo, writeAmount, writeCount, zoneOf } from './format.js';
import { Badge, Card, Copy, Empty, Head, Id, Skeleton, Table, Time, useFollowed } from './parts.js';
import { html } from './preact.js';
import { TimeLine } from './request.js';
import { addressOf, go, Link } from './router.js';

/** @import { Program, ProgramStatus, Tone, ViewProps } from './types.d.ts' */

const UNDER_WAY = new Set(['claimed', 'buying', 'bought', 'transferring', 'transferred', 'vanished']);

/** Alerts that are reported and not over, and what waits to be delivered. @param {{ status: ProgramStatus }} props */
export function Alerts({ status: { conditions = [], mail = [], faults = [], warnings = [] } }) {
  const rows = [
    ...faults.map((fault) => html`<li class="bad">${fault}</li>`),
    ...warnings.map((warning) => html`<li class="wait">${warning}</li>`),
    ...conditions.map(
      ({ name, since }) => html`<li class="bad">${name}${since && html`, since <${Time} at=${since} />`}</li>`,
    ),
    ...mail.map(
      ({ channel, count, sinceMs }) =>
        html`<li class="wait">${count} ${count === 1 ? 'alert waits' : 'alerts wait'} for ${channel}, the oldest from ${writeAgo(sinceMs)}</li>`,
    ),
  ];
  if (rows.length === 0) return html`<p class="calm">Nothing is wrong, and every alert was delivered.</p>`;
  return html`<ul class="alerts">${rows}</ul>`;
}

/** @param {{ name: string, used: string, most: string, unit: string }} props */
function Limit({ name, used, most, unit }) {
  const share = readAmount(used) / Math.max(Number.MIN_VALUE, readAmount(most));
  return html`<div class="limit"><span>${name}</span><span class="number">${writeAmount(used)} of ${writeAmount(most)} ${unit}</span>
    <${Bar} share=${share} tone=${share > 0.9 ? 'bad' : share > 0.7 ? 'wait' : 'good'} label=${`${name}: ${used} of ${most} ${unit}`} /></div>`;
}

/** One payment relayer. @param {{ program: Program }} props */
function PaymentRelayer({ program: { name, status = {} } }) {
  const { counts = {}, today, treasury, payments = [], owner } = status;
  const count = (/** @type {(state: string) => boolean} */ isIt) =>
    Object.entries(counts).reduce((sum, [state, many]) => sum + (isIt(state) ? many : 0), 0);
  const tiles = /** @type {const} */ ([
    ['Under way', count((state) => UNDER_WAY.has(state))],
    ['Waiting', count((state) => state === 'seen' || state === 'given back')],
    ['Held', count((state) => state === 'held')],
    ['Refused', count((state) => state === 'refused')],
    ['Completed today', today?.completed ?? 0],
  ]);
  return html`<h2 class="program">${name} <span class="faint">${owner}</span></h2>
    <div class="tiles">${tiles.map(([word, many]) => html`<div class="tile"><span class="tile-name">${word}</span><strong>${writeCount(many)}</strong></div>`)}</div>
    <div class="three">
      <${Card} title="Treasury">${treasury === undefined ? html`<p class="fault">Its node does not answer.</p>` : html`<dl class="facts"><dt>Stablecoins</dt><dd>${treasury.stablecoins}</dd><dt>Credits</dt><dd>${treasury.credits}</dd><dt>Ether</dt><dd>${treasury.ether}</dd></dl>`}</${Card}>
      <${Card} title="Limits of today">${today && html`<${Limit} name="Stablecoins" used=${today.stablecoins} most=${today.stablecoinLimit} unit="USD" /><${Limit} name="Credits" used=${today.credits} most=${today.creditLimit} unit="credits" /><p class="faint">The day is of UTC, ${today.day}.</p>`}</${Card}>
      <${Card} title="Alerts"><${Alerts} status=${status} /></${Card}>
    </div>
    <${Card} title="Payments under way, held and refused">${
      payments.length === 0
        ? html`<${Empty} title="Nothing is under way">Every payment that was listed is paid.</${Empty}>`
        : html`<${Table} caption="Payments" head=${['State', 'Payment', 'Stablecoins', 'Credits', 'Listed', 'In this state', 'Why']} numbers=${[2, 3]} keys=${payments.map(({ payment }) => payment)}
            rows=${payments.map(({ payment, state, stablecoins, credits, listed, since, reason }) => [
              html`<${Badge} status=${state} />`,
              html`<${Id} id=${payment} to=${addressOf('payments', { id: payment })} label="payment intent" />`,
              ...[
                stablecoins,
                credits,
                html`<${Time} at=${listed} />`,
                html`<${Time} at=${since} />`,
                html`<span class="why">${reason}</span>`,
              ],
            ])} />`
    }</${Card}>`;
}

/** A person's choices about a payment, by command. @param {string} payment @param {string} state */
function commandsFor(payment, state) {
  const command = (/** @type {string} */ act, /** @type {string} */ effect) => ({
    line: `npx prism payments ${act.replace(' ', ` ${payment} `)}${act.includes(' ') ? '' : ` ${payment}`} --who NAME --why 'REASON'`,
    effect,
  });
  if (state === 'held')
    return [
      command('release', 'It is tried again.'),
      command('close --refunded', 'Its money went back to the card: it is never paid.'),
    ];
  if (state === 'refused')
    return [
      command('release', 'It is looked at as if for the first time.'),
      command('close --refunded', 'Its money went back to the card: it is never paid.'),
    ];
  if (state === 'seen' || state === 'given back')
    return [command('hold', 'It is not begun until somebody releases it.')];
  return [];
}

/** @type {ReadonlyMap<string, Tone>} */
const TONES = new Map([
  ['held', 'bad'],
  ['refused', 'bad'],
  ['completed', 'good'],
  ['transferred', 'good'],
  ['vanished', 'bad'],
]);

/** @param {{ story: NonNullable<ProgramStatus['story']>, name: string }} props */
function PaymentStory({ story: { payment, events, calls }, name }) {
  const { payment: id = '', state = '', reason = '', ...facts } = payment;
  const line = events.map(({ at, event }) => {
    const [first = '', ...why] = event.replace(/^listed: /, '').split(': ');
    const tone = TONES.get(first) ?? (/ has /.test(first) ? 'admin' : 'busy');
    return { at, tone, title: first.slice(0, 1).toUpperCase() + first.slice(1), text: why.join(': ') };
  });
  const commands = commandsFor(id, state);
  return html`<nav class="crumbs" aria-label="Where"><${Link} to=${addressOf('payments')}>Payments</${Link}></nav>
    <${Head} title=${html`<${Badge} status=${state} /> <code>${id}</code>`}><${Copy} class="" text=${location.href} label="Copy link">Copy link</${Copy}></${Head}>
    ${reason && state !== 'completed' && html`<section class="state bad" aria-label="Why"><h2>Why it is ${state}</h2><p>${reason}</p></section>`}
    ${commands.length > 0 && html`<${Card} title="What you can do"><p>A payment moves money: a person decides, by name, on the machine of the payment relayer.</p>${commands.map(({ line: text, effect }) => html`<div class="command"><code>${text}</code><${Copy} text=${text} label="Copy the command" /><span class="faint">${effect}</span></div>`)}</${Card}>`}
    <div class="split">
      <${Card} title="Story"><${TimeLine} events=${line} now=${undefined} link=${() => undefined} /></${Card}>
      <${Card} title="Facts"><dl class="facts"><dt>Relayer</dt><dd>${name}</dd>${Object.entries(facts)
        .filter(([, value]) => value !== '')
        .map(
          ([what, value]) =>
            html`<dt>${what}</dt><dd>${/^\d{4}-\d\d-\d\dT/.test(value) ? html`<${Time} at=${value} />` : /^0x\w{40,}$/.test(value) ? html`<${Id} id=${value} label=${what} />` : value}</dd>`,
        )}</dl></${Card}>
    </div>
    ${
      calls.length > 0 &&
      html`<${Card} title="Calls to the chain"><${Table} caption="Calls to the chain" head=${['Call', 'State', 'Stablecoins', 'Credits', 'Gas', 'Transaction']} numbers=${[2, 3, 4]}
      rows=${calls.map(({ call, state: stands, stablecoins, credits, gas, transaction = '' }) => [call, stands, stablecoins, credits, gas, transaction && html`<${Id} id=${transaction} label="transaction" />`])} /></${Card}>`
    }
    <p class="faint zone">Times are in your time zone, ${zoneOf()}.</p>`;
}

/** Payments, and the story of one. @param {ViewProps} props */
export function Payments({ route, stats, onFault }) {
  const read = async () =>
    route.id === '' ? undefined : await readGateway('stats', 'admin/stats', { query: { about: route.id } });
  const pace = { leastMs: 900, everyMs: 5000 };
  const { value: about } = useFollowed(read, `payments ${route.id}`, onFault, pace);
  const value = route.id === '' ? stats : about;
  const find = (/** @type {SubmitEvent & { target: HTMLFormElement }} */ event) => {
    event.preventDefault();
    const id = new FormData(event.target).get('id')?.toString().trim() ?? '';
    if (id !== '') go(addressOf('payments', { id }));
  };
  if (value === undefined) return html`<${Head} title="Payments" /><${Skeleton} rows=${10} />`;
  const programs = value.programs.filter(({ status }) => status?.program === 'payments');
  const found = programs.find(({ status }) => status?.story !== undefined);
  if (found?.status?.story !== undefined)
    return html`<${PaymentStory} story=${found.status.story} name=${found.name} />`;
  const head = html`<${Head} title="Payments"><form class="inline" onSubmit=${find}><label><span class="unseen">Payment intent</span><input name="id" placeholder="pi_…" spellcheck=${false} autocomplete="off" /></label><button type="submit">Show</button></form></${Head}>`;
  if (route.id !== '')
    return html`${head}<${Empty} title="No such payment">No payment relayer knows <code>${route.id}</code>. <${Link} to=${addressOf('payments')}>Show all</${Link}></${Empty}>`;
  const down = value.programs.filter(({ name, error }) => error !== undefined && /pay/i.test(name));
  if (programs.length + down.length === 0)
    return html`${head}<${Empty} title="No payment relayer is named">Name its status page: <code>STATUS_URLS=payments=http://127.0.0.1:9466/status</code></${Empty}>`;
  return html`${head}${down.map(({ name, error }) => html`<section class="state bad" aria-label=${name}><h2>${name}</h2><p>No status: ${error}.</p></section>`)}${programs.map((program) => html`<${PaymentRelayer} key=${program.name} program=${program} />`)}`;
}
