// @ts-check
/** Calls to the gateway that serves this page. */

/** The key stays in this tab: it is gone with it, and no other page sees it. */
const KEY_PLACE = 'prism-admin-key';

export const readKey = () => sessionStorage.getItem(KEY_PLACE) ?? '';
/** @param {string} key */
export const keepKey = (key) => sessionStorage.setItem(KEY_PLACE, key);
export const dropKey = () => sessionStorage.removeItem(KEY_PLACE);

/** A refusal of the gateway, with its status; 0: it did not answer. */
export class Refusal extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// The page is at /console, or below the proxy's own prefix.
const base = new URL('..', import.meta.url);

/**
 * Calls the gateway with the key.
 *
 * @param {string} path like `admin/stats`
 * @param {{ method?: string, json?: unknown, query?: Record<string, string>, signal?: AbortSignal }} [call]
 * @returns {Promise<unknown>} the answer's body
 * @throws {Refusal} for any other answer than a success
 */
export async function callGateway(path, { method = 'GET', json, query = {}, signal } = {}) {
  const url = new URL(path, base);
  for (const [name, value] of Object.entries(query)) if (value !== '') url.searchParams.set(name, value);
  /** @type {Record<string, string>} */
  const headers = { 'x-admin-key': readKey() };
  if (json !== undefined) headers['content-type'] = 'application/json';
  const init = {
    method,
    headers,
    ...(json !== undefined && { body: JSON.stringify(json) }),
    ...(signal && { signal }),
  };
  const answer = await fetch(url, init).catch(() => {
    throw new Refusal(0, 'The gateway does not answer.');
  });
  const body = await answer.json().catch(() => ({}));
  if (answer.ok) return body;
  /** @type {{ path: string, message: string }[]} */
  const details = body.details ?? [];
  const faults = details.map(({ path: field, message }) => `${field}: ${message}`);
  throw new Refusal(answer.status, [body.error ?? `The gateway answered ${answer.status}.`, ...faults].join(' '));
}

/**
 * Reads what the gateway knows.
 *
 * @template {keyof import('./types.d.ts').Answers} K
 * @param {K} _kind what the path answers with
 * @param {string} path
 * @param {{ query?: Record<string, string>, signal?: AbortSignal }} [call]
 * @returns {Promise<import('./types.d.ts').Answers[K]>}
 * @throws {Refusal}
 */
export async function readGateway(_kind, path, call = {}) {
  // The gateway's own answers, which its tests hold against the schemas of these types.
  return /** @type {import('./types.d.ts').Answers[K]} */ (await callGateway(path, call));
}
