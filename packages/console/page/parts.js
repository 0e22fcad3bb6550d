// @ts-check
import { onMove } from './follow.js';
import { html, useEffect, useRef, useState } from './preact.js';

/** @param {unknown} time ISO 8601 @returns {string} like `4 min` */
export function ageOf(time) {
  if (typeof time !== 'string') return '–';
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(time)) / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}

/** @param {unknown} ms */
export const duration = (ms) => (typeof ms === 'number' ? `${(ms / 1000).toFixed(1)} s` : '–');

/** A table that scrolls by itself, by keyboard too. @param {{ caption: string, head: string[], rows: unknown[][] }} props */
export function Table({ caption, head, rows }) {
  // A column of numbers is one from its heading on, where a word stands for a number too.
  const classes = head.map((_, i) => (rows.some((cells) => typeof cells[i] === 'number') ? 'number' : ''));
  return html`<div class="scroll" role="region" aria-label=${caption} tabindex="0">
    <table>
      <caption>${caption}</caption>
      <thead><tr>${head.map((name, i) => html`<th scope="col" class=${classes[i]}>${name}</th>`)}</tr></thead>
      <tbody>
        ${rows.map((cells) => html`<tr>${cells.map((cell, i) => html`<td class=${classes[i]}>${cell}</td>`)}</tr>`)}
        ${rows.length === 0 && html`<tr><td colspan=${head.length}>None.</td></tr>`}
      </tbody>
    </table>
  </div>`;
}

/** Fills in the parts in which nothing happened, which the gateway leaves out. @param {import('./types.d.ts').Activity[]} parts @param {import('./types.d.ts').Grid} grid */
function fillParts(parts, { stepMs, count }) {
  const known = new Map(parts.map((part) => [Date.parse(part.start), part]));
  const last = Math.floor(Date.now() / stepMs) * stepMs;
  const starts = Array.from({ length: count }, (_, back) => last - (count - 1 - back) * stepMs);
  return starts.map((start) => ({ posts: 0, claims: 0, success: 0, failed: 0, ...known.get(start), start }));
}

/** What happened over time, as lines. @param {{ title: string, parts: import('./types.d.ts').Activity[], grid: import('./types.d.ts').Grid }} props */
export function Plot({ title, parts, grid }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const box = /** @type {HTMLElement} */ (place.current);
    const filled = fillParts(parts, grid);
    const ink = getComputedStyle(box).color;
    const colours = { posts: '#2f7ed8', claims: '#e08e0b', success: '#2e9e5b', failed: '#d5443c' };
    const kinds = /** @type {(keyof typeof colours)[]} */ (Object.keys(colours));
    /** @type {import('uplot').AlignedData} */
    const data = [filled.map(({ start }) => start / 1000), ...kinds.map((kind) => filled.map((part) => part[kind]))];
    const axis = { stroke: ink, grid: { stroke: `color-mix(in srgb, ${ink} 15%, transparent)` } };
    const series = [
      {},
      ...kinds.map((kind) => ({ label: kind, stroke: colours[kind], width: 2, points: { show: false } })),
    ];
    // uPlot comes as a script of its own.
    const plot = new window.uPlot({ width: box.clientWidth, height: 220, series, axes: [axis, axis] }, data, box);
    const resize = () => plot.setSize({ width: box.clientWidth, height: 220 });
    addEventListener('resize', resize);
    return () => {
      removeEventListener('resize', resize);
      plot.destroy();
    };
  }, [JSON.stringify(parts)]);
  const total = (/** @type {'posts' | 'claims' | 'success' | 'failed'} */ kind) =>
    parts.reduce((sum, part) => sum + part[kind], 0);
  const words = `${total('posts')} posted, ${total('claims')} claimed, ${total('success')} succeeded, ${total('failed')} failed`;
  return html`<figure>
    <h2>${title}</h2>
    <div ref=${place} role="img" aria-label=${`${title}: ${words}`}></div>
    <figcaption>${words}.</figcaption>
  </figure>`;
}

/** Opens the dialog that it is the reference of. */
export function useDialog() {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    box.current.showModal();
    return undefined;
  }, []);
  return box;
}

/** Asks before something is done. @param {{ question: string, word: string, needs?: string, act: (text: string) => Promise<void>, close: () => void }} props */
export function Confirm({ question, word, needs, act, close }) {
  const box = useDialog();
  const [text, setText] = useState('');
  const [fault, setFault] = useState('');
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    await act(text).then(close, (error) => setFault(error.message));
  };
  return html`<dialog ref=${box} aria-label=${question} onClose=${close}>
    <form onSubmit=${submit}>
      <p>${question}</p>
      ${needs && html`<label>${needs}<input required maxlength="1000" value=${text} onInput=${(/** @type {{ target: HTMLInputElement }} */ event) => setText(event.target.value)} /></label>`}
      <p class="fault" role="alert">${fault}</p>
      <div class="row">
        <button type="submit" class="danger">${word}</button>
        <button type="button" onClick=${() => box.current.close()}>Keep it as it is</button>
      </div>
    </form>
  </dialog>`;
}

/**
 * Reads what a view shows, and again whenever the queue has moved. A fault is taken back once a read succeeds.
 *
 * @template T
 * @param {() => Promise<T>} read
 * @param {unknown} key what is read: another one begins anew
 * @param {import('./types.d.ts').OnFault} onFault
 */
export function useFollowed(read, key, onFault) {
  const [value, setValue] = useState(/** @type {T | undefined} */ (undefined));
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isOver = false;
    let isFaulty = false;
    const look = () =>
      read().then(
        (found) => {
          if (isOver) return;
          if (isFaulty) onFault(undefined);
          isFaulty = false;
          setValue(found);
        },
        (error) => {
          if (isOver) return;
          isFaulty = true;
          onFault(error);
        },
      );
    void look();
    const end = onMove(look);
    return () => {
      isOver = true;
      end();
    };
  }, [key, turn]);
  return { value, again: () => setTurn(turn + 1) };
}
