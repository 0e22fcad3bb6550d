// @ts-check
import { callGateway, readGateway } from './api.js';
import { followRequest } from './follow.js';
import { explainParam } from './params.js';
import { ageOf, useDialog } from './parts.js';
import { html, useEffect, useState } from './preact.js';

/** How long a request was where. @param {import('@prism-gateway/protocol').RequestRecord} record */
function tellStory({ status, createdAt, claimedAt, claimedBy, updatedAt }) {
  const lines = [`Stored ${createdAt}.`];
  if (claimedAt !== undefined)
    lines.push(`Claimed after ${(Date.parse(claimedAt) - Date.parse(createdAt)) / 1000} s by ${claimedBy}.`);
  if (status === 'pending') lines.push(`Waiting for ${ageOf(createdAt)}.`);
  if (status === 'processing') lines.push(`Held for ${ageOf(claimedAt)}.`);
  if (claimedAt !== undefined && (status === 'success' || status === 'failed'))
    lines.push(`Ended ${(Date.parse(updatedAt) - Date.parse(claimedAt)) / 1000} s later.`);
  return lines.join(' ');
}

/**
 * @param {import('@prism-gateway/protocol').RequestRecord} record
 * @returns {import('./types.d.ts').Act[]}
 */
function actsOn({ requestId, status }) {
  const path = `admin/requests/${requestId}`;
  if (status !== 'processing') {
    return [
      {
        word: 'Remove for good',
        question: `Remove ${requestId} for good?`,
        run: () => callGateway(path, { method: 'DELETE' }),
      },
    ];
  }
  return [
    {
      word: 'Release',
      question: `Give ${requestId} back, so that others may claim it?`,
      run: () => callGateway(`${path}/release`, { method: 'POST' }),
    },
    {
      ...{ word: 'Fail', question: `End ${requestId} as failed?`, needs: 'Why, which the user sees' },
      run: (errorMessage) => callGateway(`${path}/fail`, { method: 'POST', json: { errorMessage } }),
    },
  ];
}

/** Everything in a relayer's status that names the request. @param {unknown} value @param {string} requestId @returns {Record<string, unknown>[]} */
function findMentions(value, requestId) {
  if (typeof value !== 'object' || value === null) return [];
  const own = /** @type {Record<string, unknown>} */ (value);
  if (own.requestId === requestId) return [own];
  return Object.values(own).flatMap((part) => findMentions(part, requestId));
}

/** What relayers say of a request. @param {string} requestId @returns {Promise<string[]>} */
async function askRelayers(requestId) {
  const { programs } = await readGateway('programs', 'admin/programs');
  return programs.flatMap(({ name, status }) =>
    findMentions(status, requestId).map(({ verdict, state, waitsFor, message }) =>
      [
        `${name}: ${verdict ?? state ?? 'knows it'}`,
        ...(waitsFor === undefined ? [] : [`waits for ${waitsFor}`]),
        ...(message === undefined ? [] : [`${message}`]),
      ].join(', '),
    ),
  );
}

/** Where its transaction is shown. @param {{ record: import('@prism-gateway/protocol').RequestRecord, explorers: Record<string, string> }} props */
function Transaction({ record: { chainName, txHash = '' }, explorers }) {
  const template = explorers[chainName];
  if (template === undefined) return html`<code>${txHash}</code>`;
  return html`<a href=${template.replace('{hash}', txHash)} target="_blank" rel="noopener noreferrer"><code>${txHash}</code></a>`;
}

/** @param {{ record: import('@prism-gateway/protocol').RequestRecord, explorers: Record<string, string>, close: () => void, ask: (act: import('./types.d.ts').Act) => void }} props */
export function Story({ record: first, explorers, close, ask }) {
  const box = useDialog();
  const [record, setRecord] = useState(first);
  const [said, setSaid] = useState(/** @type {string[]} */ ([]));
  useEffect(() => followRequest(first, setRecord), [first.requestId]);
  useEffect(() => {
    askRelayers(first.requestId).then(setSaid, () => undefined);
    return undefined;
  }, [record.status]);
  const { params, ...fields } = record;
  const entry = (/** @type {[string, unknown]} */ [name, value]) => {
    const meaning = explainParam(name, value);
    const raw = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return html`<dt>${name}</dt><dd>${meaning && html`${meaning}<br />`}${name === 'txHash' ? html`<${Transaction} record=${record} explorers=${explorers} />` : html`<code>${raw}</code>`}</dd>`;
  };
  return html`<dialog ref=${box} aria-labelledby="story-title" onClose=${close}>
    <h2 id="story-title">Request</h2>
    <p role="status">${tellStory(record)}</p>
    ${(record.status === 'pending' || record.status === 'processing') && said.map((line) => html`<p>${line}.</p>`)}
    <dl class="story">${Object.entries(fields).map(entry)}</dl>
    <h2>Params</h2>
    <dl class="story">${Object.entries(params).map(entry)}</dl>
    <div class="row">
      <button onClick=${() => box.current.close()}>Close</button>
      ${actsOn(record).map((act) => html`<button class="danger" onClick=${() => ask(act)}>${act.word}</button>`)}
    </div>
  </dialog>`;
}
