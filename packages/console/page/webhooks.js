// @ts-check
import { callGateway, readGateway } from './api.js';
import { FormDialog, Menu } from './dialog.js';
import { writeCount } from './format.js';
import { Badge, Card, Copy, Empty, Head, Id, Skeleton, Table, Time, useFollowed } from './parts.js';
import { html, useEffect, useState } from './preact.js';
import { addressOf, go, Link } from './router.js';

/** @import { Act, Answers, ViewProps } from './types.d.ts' */
/** @typedef {Answers['webhooks']['webhooks'][number]} Webhook */

const EVENTS = ['request.created', 'request.claimed', 'request.released', 'request.succeeded', 'request.failed'];
/** Chosen until somebody chooses others. */
const SHOWN_FIRST = ['request.succeeded', 'request.failed'];
const STATES = /** @type {const} */ ([
  ['', 'All'],
  ['waiting', 'Waiting'],
  ['delivered', 'Delivered'],
  ['failed', 'Failed'],
]);
/** How soon to look again while something waits to be sent, in milliseconds: no move of the queue says that it was. */
const LOOK_AGAIN_MS = 1000;

/** Looks again for as long as something waits. @param {boolean} isWaiting @param {unknown} value what was found @param {() => void} again */
function useSettled(isWaiting, value, again) {
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setTimeout(again, LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [isWaiting, value]);
}

/** @param {Webhook} webhook */
const stateOf = ({ enabled, failingSince }) =>
  !enabled ? 'disabled' : failingSince === undefined ? 'active' : 'failing';

/** @param {string} webhookId @param {string} [rest] */
const pathOf = (webhookId, rest = '') => `admin/webhooks/${webhookId}${rest}`;

/** @param {Webhook} webhook @param {(secret: string) => void} showSecret @returns {Act[]} */
function actsOn({ webhookId, url, enabled }, showSecret) {
  const rotate = async () => {
    const { secret } = /** @type {{ secret: string }} */ (
      await callGateway(pathOf(webhookId, '/rotate'), { method: 'POST' })
    );
    showSecret(secret);
  };
  const change = () => callGateway(pathOf(webhookId), { method: 'PATCH', json: { enabled: !enabled } });
  return [
    enabled
      ? {
          word: 'Disable',
          title: 'Disable this webhook?',
          effect: `${url} gets nothing any more, and events are not kept for it meanwhile.`,
          run: change,
          danger: true,
        }
      : {
          word: 'Enable',
          title: 'Enable this webhook?',
          effect: `${url} gets events again, and what waits too.`,
          run: change,
        },
    {
      word: 'New secret',
      title: 'Give it a new secret?',
      effect: 'The new one is shown once. The one before signs for a day more.',
      run: rotate,
    },
    {
      word: 'Remove',
      title: 'Remove this webhook?',
      effect: `${url} gets nothing any more, and what waits for it is lost.`,
      danger: true,
      run: () => callGateway(pathOf(webhookId), { method: 'DELETE' }),
    },
  ];
}

/** @param {{ close: () => void, added: (secret: string) => void }} props */
function Register({ close, added }) {
  const submit = async (/** @type {FormData} */ form) => {
    const given = ['chainName', 'signer', 'label'].map((name) => [name, form.get(name)?.toString().trim() ?? '']);
    const json = {
      url: form.get('url')?.toString().trim(),
      events: form.getAll('events'),
      ...Object.fromEntries(given.filter(([, value]) => value !== '')),
    };
    added(/** @type {{ secret: string }} */ (await callGateway('admin/webhooks', { method: 'POST', json })).secret);
  };
  return html`<${FormDialog} title="Register a webhook" word="Register" submit=${submit} close=${close}>
    <label>URL<input name="url" type="url" required autocomplete="off" placeholder="https://example.org/hooks/prism" /></label>
    <fieldset><legend>Events</legend>${EVENTS.map((event) => html`<label class="check"><input type="checkbox" name="events" value=${event} defaultChecked=${SHOWN_FIRST.includes(event)} />${event}</label>`)}</fieldset>
    <label>Only of this chain<input name="chainName" autocomplete="off" /></label>
    <label>Only of this signer<input name="signer" spellcheck=${false} autocomplete="off" /></label>
    <label>Label<input name="label" maxlength="200" autocomplete="off" /></label>
  </${FormDialog}>`;
}

/** @param {{ secret: string, forget: () => void }} props */
const Secret = ({ secret, forget }) =>
  html`<section class="state wait" role="alert" aria-label="Secret"><h2>Its secret, which is shown this once</h2><p><code>${secret}</code> <${Copy} text=${secret} label="Copy the secret" /></p><button type="button" onClick=${forget}>I have kept it</button></section>`;

/** One webhook's deliveries. @param {{ webhook: Webhook, props: ViewProps }} props */
function Deliveries({ webhook, props: { route, mayAct, announce, onFault } }) {
  const status = route.query.get('status') ?? '';
  const after = route.query.get('after') ?? '';
  const path = pathOf(webhook.webhookId, '/deliveries');
  const read = () => readGateway('deliveries', path, { query: { status, lastKey: after, limit: '50' } });
  const { value: page, again } = useFollowed(read, `${path} ${status} ${after}`, onFault);
  const items = page?.items ?? [];
  useSettled(
    items.some((one) => one.status === 'waiting'),
    page,
    again,
  );
  const resend = async (/** @type {readonly string[]} */ ids) => {
    for (const id of ids) await callGateway(`${path}/${id}/resend`, { method: 'POST' });
    announce(`Sent once more: ${ids.length === 1 ? ids[0] : writeCount(ids.length)}.`);
    again();
  };
  const failed = items.filter((one) => one.status === 'failed').map(({ deliveryId }) => deliveryId);
  const at = (/** @type {Record<string, string>} */ query) => addressOf('webhooks', { id: webhook.webhookId, query });
  const side = html`<nav class="segments" aria-label="State">${STATES.map(([name, word]) => html`<${Link} to=${at({ status: name })} aria-current=${status === name ? 'true' : null}>${word}</${Link}>`)}</nav>
    ${mayAct && failed.length > 0 && html`<button type="button" onClick=${() => resend(failed).catch(onFault)}>Send all failed again</button>`}`;
  const rows = items.map(
    ({ deliveryId, event, requestId, status: stands, attempts, createdAt, lastError, lastStatus }) => [
      html`<${Badge} status=${stands} />`,
      event.replace('request.', ''),
      html`<${Id} id=${requestId} to=${addressOf('requests', { id: requestId })} label="request id" />`,
      ...[attempts, html`<${Time} at=${createdAt} />`],
      html`<span class="why">${lastError ?? (lastStatus === undefined ? '' : `answered ${lastStatus}`)}</span>`,
      mayAct &&
        stands !== 'waiting' &&
        html`<button type="button" class="small" onClick=${() => resend([deliveryId]).catch(onFault)} aria-label=${`Send again ${deliveryId}`}>Send again</button>`,
    ],
  );
  return html`<${Card} title="Deliveries" side=${side}>
    ${page === undefined && html`<${Skeleton} rows=${8} />`}
    ${page !== undefined && rows.length === 0 && html`<${Empty} title="No delivery">${status === '' ? 'The next event of its kinds shows here.' : 'None in this state.'}</${Empty}>`}
    ${rows.length > 0 && html`<${Table} caption="Deliveries" head=${['State', 'Event', 'Request', 'Tries', 'Made', 'Last answer', '']} numbers=${[3]} rows=${rows} keys=${items.map(({ deliveryId }) => deliveryId)} />`}
    ${page?.lastKey && html`<div class="pager"><${Link} to=${at({ status, after: page.lastKey })}>Older →</${Link}></div>`}
  </${Card}>`;
}

/** @param {{ webhook: Webhook, menu: unknown }} props */
function WebhookCard({ webhook, menu }) {
  const {
    webhookId,
    url,
    label,
    events,
    chainName,
    signer,
    waiting,
    dropped,
    deliveredAt,
    failingSince,
    disabledAt,
    disabledReason,
  } = webhook;
  return html`<section class="card" aria-label=${`Webhook ${label ?? url}`}>
    <div class="card-head"><div><h2><${Link} to=${addressOf('webhooks', { id: webhookId })}>${label ?? new URL(url).host}</${Link}></h2><code class="wrap">${url}</code></div><${Badge} status=${stateOf(webhook)} />${menu}</div>
    ${disabledReason && html`<p class="note bad">Disabled <${Time} at=${disabledAt} />: ${disabledReason}</p>`}
    ${failingSince && disabledReason === undefined && html`<p class="note bad">Nothing was delivered since <${Time} at=${failingSince} />, although it was tried.</p>`}
    <dl class="facts">
      <dt>Events</dt><dd>${events.map((event) => event.replace('request.', '')).join(', ')}</dd>
      <dt>Of</dt><dd>${[chainName, signer].filter(Boolean).join(', ') || 'all requests'}</dd>
      <dt>Waiting</dt><dd><${Link} to=${addressOf('webhooks', { id: webhookId, query: { status: 'waiting' } })}>${writeCount(waiting)}</${Link}>${dropped > 0 && `, ${writeCount(dropped)} dropped`}</dd>
      <dt>Last delivered</dt><dd><${Time} at=${deliveredAt} /></dd>
    </dl>
    <p><${Link} to=${addressOf('webhooks', { id: webhookId, query: { status: 'failed' } })}>Failed deliveries</${Link}></p>
  </section>`;
}

/** The webhooks, and what each was sent. @param {ViewProps} props */
export function Webhooks(props) {
  const { route, mayAct, ask, announce, onFault } = props;
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState('');
  const { value, again } = useFollowed(() => readGateway('webhooks', 'admin/webhooks'), 'webhooks', onFault);
  const webhooks = value?.webhooks ?? [];
  useSettled(
    webhooks.some(({ enabled, waiting }) => enabled && waiting > 0),
    value,
    again,
  );
  const added = (/** @type {string} */ shown) => {
    setSecret(shown);
    announce('Done: registered.');
    again();
  };
  const askFor = (/** @type {Act} */ act) =>
    ask(act, () => {
      if (act.word === 'Remove') go(addressOf('webhooks'));
      again();
    });
  const menu = (/** @type {Webhook} */ webhook) =>
    mayAct && html`<${Menu} label=${`Acts on ${webhook.url}`} acts=${actsOn(webhook, setSecret)} ask=${askFor} />`;
  const shownSecret = secret !== '' && html`<${Secret} secret=${secret} forget=${() => setSecret('')} />`;
  const chosen = webhooks.find(({ webhookId }) => webhookId === route.id);
  if (chosen !== undefined)
    return html`<nav class="crumbs" aria-label="Where"><${Link} to=${addressOf('webhooks')}>Webhooks</${Link}></nav><${Head} title=${chosen.label ?? new URL(chosen.url).host} />
      ${shownSecret}<${WebhookCard} webhook=${chosen} menu=${menu(chosen)} /><${Deliveries} webhook=${chosen} props=${props} />`;
  return html`<${Head} title="Webhooks">${mayAct && html`<button type="button" class="primary" onClick=${() => setAdding(true)}>Register a webhook</button>`}</${Head}>
    ${isAdding && html`<${Register} close=${() => setAdding(false)} added=${added} />`}${shownSecret}
    ${value === undefined && html`<${Skeleton} rows=${8} />`}
    ${value !== undefined && webhooks.length === 0 && html`<${Empty} title="No receivers">Register a URL, and it gets every request that succeeds or fails, signed.</${Empty}>`}
    <div class="cards">${webhooks.map((webhook) => html`<${WebhookCard} key=${webhook.webhookId} webhook=${webhook} menu=${menu(webhook)} />`)}</div>`;
}
