// @ts-check
import { callGateway, readGateway } from './api.js';
import { ageOf, Confirm, Table, useFollowed } from './parts.js';
import { html, useEffect, useState } from './preact.js';

/** @typedef {import('@prism-gateway/protocol/webhooks').WebhookBody} Webhook */

const EVENTS = ['request.created', 'request.claimed', 'request.released', 'request.succeeded', 'request.failed'];
/** Chosen until somebody chooses others. */
const SHOWN_FIRST = ['request.succeeded', 'request.failed'];

/** How soon to look again while something waits to be sent, in milliseconds: no move of the queue tells that it was. */
const LOOK_AGAIN_MS = 1000;
/** The act after which a webhook is no more. */
const REMOVE = 'Remove';

/** Looks again for as long as something waits. @param {boolean} isWaiting @param {unknown} value what was found @param {() => void} again */
function useSettled(isWaiting, value, again) {
  useEffect(() => {
    if (!isWaiting) return undefined;
    const timer = setTimeout(again, LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [isWaiting, value]);
}

/** What is the matter with a webhook. @param {Webhook} webhook */
function tellState({ enabled, disabledReason, failingSince, dropped }) {
  const lost = dropped > 0 ? `; ${dropped} dropped` : '';
  if (!enabled) return `disabled${disabledReason === undefined ? '' : `: ${disabledReason}`}${lost}`;
  return `${failingSince === undefined ? 'active' : `failing for ${ageOf(failingSince)}`}${lost}`;
}

/** @param {string} webhookId @param {string} [rest] */
const pathOf = (webhookId, rest = '') => `admin/webhooks/${webhookId}${rest}`;

/**
 * @param {Webhook} webhook
 * @param {(secret: string) => void} showSecret
 * @returns {import('./types.d.ts').Act[]}
 */
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
          question: `Tell ${url} nothing any more? Events are not kept for it meanwhile.`,
          run: change,
        }
      : { word: 'Enable', question: `Tell ${url} again, of what waits too?`, run: change },
    {
      word: 'New secret',
      question: `Give the webhook to ${url} a new secret? The one before signs for a day more.`,
      run: rotate,
    },
    {
      word: REMOVE,
      question: `Remove the webhook to ${url}, with all that waits for it?`,
      run: () => callGateway(pathOf(webhookId), { method: 'DELETE' }),
    },
  ];
}

/** The form that registers a receiver. @param {{ added: (secret: string) => void, onFault: import('./types.d.ts').OnFault }} props */
function Register({ added, onFault }) {
  const submit = async (/** @type {SubmitEvent & { target: HTMLFormElement }} */ event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const given = ['chainName', 'signer', 'label'].map((name) => [name, form.get(name)?.toString().trim() ?? '']);
    const filters = Object.fromEntries(given.filter(([, value]) => value !== ''));
    const json = { url: form.get('url')?.toString().trim(), events: form.getAll('events'), ...filters };
    await callGateway('admin/webhooks', { method: 'POST', json }).then((answer) => {
      event.target.reset();
      added(/** @type {{ secret: string }} */ (answer).secret);
    }, onFault);
  };
  return html`<form onSubmit=${submit}>
    <div class="row">
      <label>URL<input name="url" type="url" required size="44" autocomplete="off" /></label>
      <label>Chain<input name="chainName" autocomplete="off" /></label>
      <label>Signer<input name="signer" spellcheck=${false} autocomplete="off" /></label>
      <label>Label<input name="label" maxlength="200" autocomplete="off" /></label>
    </div>
    <fieldset class="row">
      <legend>Events</legend>
      ${EVENTS.map((event) => html`<label class="check"><input type="checkbox" name="events" value=${event} checked=${SHOWN_FIRST.includes(event)} />${event}</label>`)}
    </fieldset>
    <button type="submit" class="primary">Register</button>
  </form>`;
}

/** What one webhook was sent. @param {{ webhook: Webhook, onFault: import('./types.d.ts').OnFault, tell: (text: string) => void }} props */
function Deliveries({ webhook, onFault, tell }) {
  const path = pathOf(webhook.webhookId, '/deliveries');
  const { value: page, again } = useFollowed(() => readGateway('deliveries', `${path}?limit=50`), path, onFault);
  useSettled(
    (page?.items ?? []).some(({ status }) => status === 'waiting'),
    page,
    again,
  );
  const resend = (/** @type {string} */ id) =>
    callGateway(`${path}/${id}/resend`, { method: 'POST' }).then(() => {
      tell(`Sent once more: ${id}.`);
      again();
    }, onFault);
  const rows = (page?.items ?? []).map(({ deliveryId, event, requestId, status, attempts, createdAt, ...last }) => [
    ...[deliveryId, event, html`<code>${requestId}</code>`, status, attempts, ageOf(createdAt)],
    last.lastError ?? last.lastStatus ?? '',
    status !== 'waiting' &&
      html`<button onClick=${() => resend(deliveryId)} aria-label=${`Send again ${deliveryId}`}>Send again</button>`,
  ]);
  return html`<h2>Deliveries</h2>
    <p>To <code>${webhook.url}</code>, newest first.</p>
    <${Table} caption="Deliveries" head=${['Id', 'Event', 'Request', 'Status', 'Tries', 'Age', 'Last answer', 'Acts']} rows=${rows} />`;
}

/** The webhooks, and what they were sent. @param {{ onFault: import('./types.d.ts').OnFault, tell: (text: string) => void }} props */
export function Webhooks({ onFault, tell }) {
  const [asked, ask] = useState(/** @type {import('./types.d.ts').Act | undefined} */ (undefined));
  const [shown, show] = useState(/** @type {string | undefined} */ (undefined));
  const [secret, setSecret] = useState('');
  const { value, again } = useFollowed(() => readGateway('webhooks', 'admin/webhooks'), 'webhooks', onFault);
  const webhooks = value?.webhooks ?? [];
  useSettled(
    webhooks.some(({ enabled, waiting }) => enabled && waiting > 0),
    value,
    again,
  );
  const rows = webhooks.map((webhook) => {
    const { webhookId, url, label, events, chainName, signer, waiting, deliveredAt } = webhook;
    const filters = [chainName, signer].filter((filter) => filter !== undefined).join(', ');
    const buttons = actsOn(webhook, setSecret).map(
      (act) => html`<button onClick=${() => ask(act)} aria-label=${`${act.word} ${url}`}>${act.word}</button> `,
    );
    return [
      html`<code>${url}</code>`,
      ...[label ?? '', events.map((event) => event.replace('request.', '')).join(', '), filters || 'all'],
      ...[tellState(webhook), waiting, ageOf(deliveredAt)],
      [
        html`<button onClick=${() => show(webhookId)} aria-label=${`Deliveries to ${url}`}>Deliveries</button> `,
        ...buttons,
      ],
    ];
  });
  const added = (/** @type {string} */ told) => {
    setSecret(told);
    tell('Registered.');
    again();
  };
  const chosen = webhooks.find(({ webhookId }) => webhookId === shown);
  return html`<h2>Webhooks</h2>
    <${Register} added=${added} onFault=${onFault} />
    ${secret !== '' && html`<p role="alert">The secret, which is told this once: <code>${secret}</code> <button onClick=${() => setSecret('')}>I have kept it</button></p>`}
    <${Table} caption="Webhooks" head=${['URL', 'Label', 'Events', 'Of', 'State', 'Waiting', 'Last delivered', 'Acts']} rows=${rows} />
    ${chosen && html`<${Deliveries} webhook=${chosen} onFault=${onFault} tell=${tell} />`}
    ${
      asked &&
      html`<${Confirm} question=${asked.question} word=${asked.word}
      act=${async () => {
        // With the webhook its deliveries go: whoever still read them would be told that there is no such webhook.
        if (asked.word === REMOVE) show(undefined);
        await asked.run('');
        tell(`Done: ${asked.word}.`);
        again();
      }} close=${() => ask(undefined)} />`
    }`;
}
