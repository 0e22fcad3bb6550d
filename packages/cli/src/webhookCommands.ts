import { needWord, printAnswer } from './answers.ts';
import type { Command, CommandContext } from './command.ts';
import { CommandError } from './createAdminClient.ts';
import { plain, writeTable } from './writeTable.ts';

const pathOf = (webhookId: string, rest = '') => `/admin/webhooks/${encodeURIComponent(webhookId)}${rest}`;

/** A webhook's state in a word or two. */
function describeState({ enabled, disabledReason, failingSince, dropped }: Readonly<Record<string, unknown>>): string {
  const lost = Number(dropped) > 0 ? `; ${plain(dropped)} dropped` : '';
  if (enabled !== true) return `disabled${disabledReason === undefined ? '' : `: ${plain(disabledReason)}`}${lost}`;
  return `${failingSince === undefined ? 'active' : `failing since ${plain(failingSince)}`}${lost}`;
}

async function list({ call, json, print }: CommandContext): Promise<void> {
  const body = await call({ path: '/admin/webhooks' });
  if (json) return print(JSON.stringify(body));
  // The gateway answers with a list of records.
  const webhooks = (body.webhooks ?? []) as readonly Record<string, unknown>[];
  const rows = webhooks.map((webhook) => {
    const { webhookId, url, events, chainName, signer, waiting } = webhook;
    return [
      webhookId,
      url,
      Array.isArray(events) ? events.join(' ') : '',
      chainName,
      signer,
      waiting,
      describeState(webhook),
    ];
  });
  print(writeTable([['WEBHOOK', 'URL', 'EVENTS', 'CHAIN', 'SIGNER', 'WAITING', 'STATE'], ...rows]));
}

async function add(context: CommandContext): Promise<void> {
  const url = needWord(context, 'URL');
  const { events = '', chain: chainName, signer, label } = context.options;
  const kinds = events.split(',').flatMap((kind) => kind.trim() || []);
  const filters = { ...(chainName && { chainName }), ...(signer && { signer }), ...(label && { label }) };
  const body = await context.call({
    method: 'POST',
    path: '/admin/webhooks',
    json: { url, events: kinds, ...filters },
  });
  const secret = `Its secret, which is shown this once: ${plain(body.secret)}`;
  printAnswer(context, body, `Webhook ${plain(body.webhookId)} is registered.\n${secret}`);
}

async function listDeliveries(context: CommandContext): Promise<void> {
  const { call, options, json, print } = context;
  const { status, limit, after: lastKey } = options;
  const path = pathOf(needWord(context, 'WEBHOOK_ID'), '/deliveries');
  const body = await call({ path, query: { status, limit, lastKey } });
  if (json) return print(JSON.stringify(body));
  // The gateway answers with a page of records.
  const items = (body.items ?? []) as readonly Record<string, unknown>[];
  const rows = items.map(
    ({ deliveryId, event, requestId, status: state, attempts, createdAt, nextAttemptAt, ...last }) => [
      ...[deliveryId, event, requestId, state, attempts, createdAt, nextAttemptAt],
      last.lastError ?? last.lastStatus,
    ],
  );
  print(writeTable([['DELIVERY', 'EVENT', 'REQUEST', 'STATUS', 'TRIES', 'AT', 'NEXT', 'LAST ANSWER'], ...rows]));
  if (typeof body.lastKey === 'string') print(`There are more: --after ${plain(body.lastKey)}`);
}

async function resend(context: CommandContext): Promise<void> {
  const [webhookId, deliveryId, ...more] = context.words;
  if (webhookId === undefined || deliveryId === undefined || more.length > 0)
    throw new CommandError('COMMAND_USAGE', 'It takes WEBHOOK_ID and DELIVERY_ID. Try --help.');
  const path = pathOf(webhookId, `/deliveries/${encodeURIComponent(deliveryId)}/resend`);
  const body = await context.call({ method: 'POST', path });
  printAnswer(context, body, `${plain(body.deliveryId)} is sent once more.`);
}

/** A change of one webhook by a word of its own. */
const switchTo = (enabled: boolean) => async (context: CommandContext) => {
  const path = pathOf(needWord(context, 'WEBHOOK_ID'));
  const body = await context.call({ method: 'PATCH', path, json: { enabled } });
  printAnswer(context, body, `${plain(body.webhookId)} is ${enabled ? 'enabled' : 'disabled'}.`);
};

/** Operators' commands on webhooks. */
export const webhookCommands: readonly Command[] = [
  { name: 'webhooks list', takes: '', summary: 'shows every webhook and how it does', options: {}, run: list },
  {
    name: 'webhooks add',
    takes: 'URL',
    summary: 'registers a receiver, and prints its secret once',
    options: {
      events: 'kinds with commas between, as request.succeeded,request.failed; needed',
      ...{ chain: 'only of this chain', signer: 'only of this signer', label: 'a name for people' },
    },
    run: add,
  },
  {
    name: 'webhooks remove',
    takes: 'WEBHOOK_ID',
    summary: 'removes a webhook, with all that waits for it',
    options: {},
    async run(context) {
      const body = await context.call({ method: 'DELETE', path: pathOf(needWord(context, 'WEBHOOK_ID')) });
      printAnswer(context, body, plain(body.message));
    },
  },
  {
    name: 'webhooks enable',
    takes: 'WEBHOOK_ID',
    summary: 'enables a disabled webhook again; it gets what waits too',
    options: {},
    run: switchTo(true),
  },
  {
    name: 'webhooks disable',
    takes: 'WEBHOOK_ID',
    summary: 'stops deliveries; events are not kept meanwhile',
    options: {},
    run: switchTo(false),
  },
  {
    name: 'webhooks rotate',
    takes: 'WEBHOOK_ID',
    summary: 'makes a new secret, and prints it once',
    options: {},
    async run(context) {
      const body = await context.call({ method: 'POST', path: pathOf(needWord(context, 'WEBHOOK_ID'), '/rotate') });
      printAnswer(context, body, `The secret before signs for a day more. The new one: ${plain(body.secret)}`);
    },
  },
  {
    name: 'webhooks deliveries',
    takes: 'WEBHOOK_ID',
    summary: 'shows deliveries, newest first',
    options: {
      status: 'waiting, delivered or failed',
      limit: '1 to 100, default 20',
      after: 'the lastKey of the page before',
    },
    run: listDeliveries,
  },
  {
    name: 'webhooks resend',
    takes: 'WEBHOOK_ID DELIVERY_ID',
    summary: 'sends a delivery that has ended once more',
    options: {},
    run: resend,
  },
];
