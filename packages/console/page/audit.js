// @ts-check
import { readGateway } from './api.js';
import { Table, useFollowed } from './parts.js';
import { html, useState } from './preact.js';

/** What administrators have done. @param {import('./types.d.ts').ViewProps} props */
export function Audit({ onFault }) {
  const [pages, setPages] = useState(/** @type {string[]} */ ([]));
  const lastKey = pages.at(-1) ?? '';
  const read = () => readGateway('audit', 'admin/audit', { query: { limit: '50', lastKey } });
  const { value } = useFollowed(read, `audit ${lastKey}`, onFault);
  const next = value?.lastKey ?? null;
  const rows = (value?.items ?? []).map(({ at, act, target, reason = '', keyId }) => [
    ...[at, act, html`<code>${target}</code>`, reason, html`<code>${keyId}</code>`],
  ]);
  return html`<h2>Audit log</h2>
    <${Table} caption="Acts of administrators, newest first" head=${['When', 'Act', 'Done to', 'Reason', 'Key']} rows=${rows} />
    <div class="row">
      <button disabled=${pages.length === 0} onClick=${() => setPages(pages.slice(0, -1))}>Back</button>
      <button disabled=${next === null} onClick=${() => next !== null && setPages([...pages, next])}>More</button>
    </div>`;
}
