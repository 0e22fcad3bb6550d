// @ts-check
import { Refusal, readGateway } from './api.js';
import { Icon } from './parts.js';
import { html, useEffect, useRef, useState } from './preact.js';
import { rangeOfPrefix } from './requests.js';
import { addressOf, go } from './router.js';

/** @import { Answers } from './types.d.ts' */

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** The begin of an id, of which the first eight digits give the time within a minute. */
const PREFIX = /^[0-9a-f]{8}-?[0-9a-f-]{0,27}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;
const TX_HASH = /^0x[0-9a-f]{64}$/i;
const PAYMENT = /^[A-Za-z][\w.:-]*$/;

/** @param {string} txHash */
async function findTransaction(txHash) {
  const { items } = await readGateway('requests', 'admin/requests', { query: { txHash, limit: '2' } });
  const [only] = items;
  if (only !== undefined && items.length === 1) return addressOf('requests', { id: only.requestId });
  if (only !== undefined) return addressOf('requests', { query: { tx: txHash } });
  throw new Error('No request was reported with this transaction.');
}

/** @param {string} prefix */
async function findPrefix(prefix) {
  const { items } = await readGateway('requests', 'admin/requests', {
    query: { ...rangeOfPrefix(prefix), limit: '100' },
  });
  const found = items.filter(({ requestId }) => requestId.startsWith(prefix.toLowerCase()));
  const [only] = found;
  if (only !== undefined && found.length === 1) return addressOf('requests', { id: only.requestId });
  if (only !== undefined || items.length === 100) return addressOf('requests', { query: { id: prefix } });
  return undefined;
}

/** @param {string} id */
async function findPayment(id) {
  const { programs } = await readGateway('stats', 'admin/stats', { query: { about: id } });
  return programs.some(({ status }) => status?.story?.payment?.payment === id)
    ? addressOf('payments', { id })
    : undefined;
}

/**
 * Finds where what somebody has is shown.
 *
 * @param {string} what a request's id or its begin, a signer, a relayer's address or label, a transaction, or a payment intent
 * @param {Answers['relayers']['relayers']} relayers
 * @returns {Promise<string>} an address of this page
 * @throws {Error} with a sentence, where nothing is found
 */
async function find(what, relayers) {
  if (UUID.test(what)) {
    const { requestId } = await readGateway('request', `requests/${what}`);
    return addressOf('requests', { id: requestId });
  }
  const named = relayers.filter(
    ({ address, label = '' }) =>
      address.toLowerCase() === what.toLowerCase() || label.toLowerCase().includes(what.toLowerCase()),
  );
  if (ADDRESS.test(what))
    return named.length > 0 ? addressOf('relayers', { id: what }) : addressOf('requests', { query: { signer: what } });
  if (TX_HASH.test(what)) return await findTransaction(what);
  const begun = PREFIX.test(what) ? await findPrefix(what) : undefined;
  if (begun !== undefined) return begun;
  const [relayer] = named;
  if (relayer !== undefined) return addressOf('relayers', { id: relayer.address });
  const payment = PAYMENT.test(what) ? await findPayment(what) : undefined;
  if (payment !== undefined) return payment;
  throw new Error(
    `Nothing is found for “${what}”. Give a request's id or its first eight digits, a signer, a transaction, a payment intent, or a relayer's label.`,
  );
}

/** One box for whatever somebody has; `/` goes to it from anywhere. @param {{ relayers: Answers['relayers']['relayers'] }} props */
export function Search({ relayers }) {
  const box = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [fault, setFault] = useState('');
  useEffect(() => {
    const focus = (/** @type {KeyboardEvent} */ event) => {
      const isWriting = /** @type {Element} */ (event.target).closest('input, select, textarea, dialog') !== null;
      if (event.key !== '/' || isWriting || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      box.current.focus();
      box.current.select();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  const search = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const what = box.current.value.trim();
    setFault('');
    if (what === '') return;
    await find(what, relayers).then(
      (address) => {
        box.current.value = '';
        box.current.blur();
        go(address);
      },
      (error) =>
        setFault(error instanceof Refusal && error.status === 404 ? 'There is no such request.' : error.message),
    );
  };
  return html`<form class="search" role="search" onSubmit=${search}>
    <${Icon} name="search" />
    <input ref=${box} name="what" type="search" aria-label="Find a request, signer, transaction, payment or relayer" placeholder="Find by id, signer, transaction, payment, relayer" spellcheck=${false} autocomplete="off" onInput=${() => setFault('')} />
    <kbd aria-hidden="true">/</kbd>
    <p class="search-fault" role="alert">${fault}</p>
  </form>`;
}
