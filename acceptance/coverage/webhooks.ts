import type { RuleCase } from './ruleCase.ts';

/** Cases of webhooks. What needs a day, a crash or two processes is shown beside the code. */
export const WEBHOOK_CASES = [
  { id: 'webhook.register', rule: 'WEBHOOK-1', says: '201 with the secret, listed without it' },
  { id: 'webhook.refuse', rule: 'WEBHOOK-3', says: '400, 401, 404 and 409 of each route; no private address, no http' },
  { id: 'webhook.change', rule: 'WEBHOOK-2', says: 'changed, disabled, removed; an unknown id is 404' },
  { id: 'webhook.deliver', rule: 'WEBHOOK-4', says: 'the record without its params, signed' },
  { id: 'webhook.rotate', rule: 'WEBHOOK-7', says: 'both secrets sign' },
  { id: 'webhook.resend', rule: 'WEBHOOK-8', says: 'an ended one again under its own id; a waiting one is 409' },
  { id: 'webhook.secret', rule: 'WEBHOOK-7', says: 'neither secrets nor URLs are in the log' },
] as const satisfies readonly RuleCase[];
