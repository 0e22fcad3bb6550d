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
 * @param {string} path like `admin/stats`
 * @param {{ method?: string, json?: unknown, query?: Record<string, string> }} [call]
 * @returns {Promise<any>} the answer's body
 */
export async function callGateway(path, { method = 'GET', json, query = {} } = {}) {
  const url = new URL(path, base);
  for (const [name, value] of Object.entries(query)) if (value !== '') url.searchParams.set(name, value);
  /** @type {Record<string, string>} */
  const headers = { 'x-admin-key': readKey() };
  if (json !== undefined) headers['content-type'] = 'application/json';
  const init = { method, headers, ...(json !== undefined && { body: JSON.stringify(json) }) };
  const answer = await fetch(url, init).catch(() => {
    throw new Refusal(0, 'The gateway does not answer.');
  });
  const body = await answer.json().catch(() => ({}));
  if (answer.ok) return body;
  const faults = (body.details ?? []).map((/** @type {any} */ fault) => `${fault.path}: ${fault.message}`);
  throw new Refusal(answer.status, [body.error ?? `The gateway answered ${answer.status}.`, ...faults].join(' '));
}
