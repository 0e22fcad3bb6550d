// @ts-check
import { callGateway, readGateway } from './api.js';
import { ageOf, Confirm, duration, Table, useFollowed } from './parts.js';
import { html, useState } from './preact.js';

/** Of a relayer that has done nothing yet. @type {Partial<import('@prism-gateway/protocol').QueueStatsBody['relayers'][number]>} */
const NO_RECORD = {};

/**
 * @param {import('@prism-gateway/protocol').RelayerList['relayers'][number]} relayer
 * @returns {import('./types.d.ts').Act[]}
 */
function actsOn({ address, suspendedAt }) {
  const path = `admin/relayers/${address}`;
  const post = (/** @type {string} */ act, /** @type {unknown} */ json) =>
    callGateway(`${path}/${act}`, { method: 'POST', ...(json !== undefined && { json }) });
  const suspend =
    suspendedAt === undefined
      ? {
          word: 'Suspend',
          question: `Refuse ${address} until it is resumed?`,
          needs: 'Reason',
          run: (/** @type {string} */ reason) => post('suspend', { reason }),
        }
      : { word: 'Resume', question: `Let ${address} claim again?`, run: () => post('resume', undefined) };
  return [
    suspend,
    { word: 'Release all', question: `Give back all that ${address} holds?`, run: () => post('release', undefined) },
    {
      word: 'Remove',
      question: `Take ${address} off the whitelist? What it claimed stays claimed.`,
      run: () => callGateway(path, { method: 'DELETE' }),
    },
  ];
}

/** The whitelist, and how each relayer does. @param {import('./types.d.ts').ViewProps} props */
export function Relayers({ onFault, tell, stats, maxOpenClaims }) {
  const [asked, ask] = useState(/** @type {import('./types.d.ts').Act | undefined} */ (undefined));
  const { value, again } = useFollowed(() => readGateway('relayers', 'admin/relayers'), 'relayers', onFault);
  const recordOf = (/** @type {string} */ address) =>
    stats?.relayers.find((one) => one.address.toLowerCase() === address.toLowerCase());
  const rows = (value?.relayers ?? []).map((relayer) => {
    const {
      openClaims = 0,
      success = 0,
      failed = 0,
      conflicts = 0,
      medianMs,
      p95Ms,
      lastSeenAt,
    } = recordOf(relayer.address) ?? NO_RECORD;
    const state = relayer.suspendedAt === undefined ? 'active' : `suspended: ${relayer.suspendReason}`;
    const buttons = actsOn(relayer).map(
      (act) =>
        html`<button onClick=${() => ask(act)} aria-label=${`${act.word} ${relayer.address}`}>${act.word}</button> `,
    );
    return [
      html`<code>${relayer.address}</code>`,
      ...[
        relayer.label ?? '',
        state,
        maxOpenClaims === 0 ? openClaims : `${openClaims} of ${maxOpenClaims}`,
        success,
        failed,
        conflicts,
        duration(medianMs),
        duration(p95Ms),
        ageOf(lastSeenAt),
      ],
      buttons,
    ];
  });
  const add = async (/** @type {SubmitEvent & { target: HTMLFormElement }} */ event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const [address, label] = ['address', 'label'].map((name) => form.get(name)?.toString().trim() ?? '');
    const json = { address, ...(label !== '' && { label }) };
    await callGateway('admin/relayers', { method: 'POST', json }).then(() => {
      tell('Added.');
      event.target.reset();
      again();
    }, onFault);
  };
  return html`<h2>Relayers</h2>
    <form class="row" onSubmit=${add}>
      <label>Address<input name="address" required size="44" spellcheck=${false} autocomplete="off" /></label>
      <label>Label<input name="label" maxlength="200" autocomplete="off" /></label>
      <button type="submit" class="primary">Add to the whitelist</button>
    </form>
    <br />
    <${Table} caption="Whitelisted relayers" head=${['Address', 'Label', 'State', 'Open', 'Succeeded', 'Failed', 'Conflicts', 'Median', 'p95', 'Last seen', 'Acts']} rows=${rows} />
    ${
      asked &&
      html`<${Confirm} question=${asked.question} word=${asked.word} needs=${asked.needs}
      act=${async (/** @type {string} */ text) => {
        await asked.run(text);
        tell(`Done: ${asked.word}.`);
        again();
      }} close=${() => ask(undefined)} />`
    }`;
}
