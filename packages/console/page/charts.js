// @ts-check
import { writeDuration, zoneOf } from './format.js';
import { html, useEffect, useRef, useState } from './preact.js';

/** @import { Activity } from './types.d.ts' */

/** Fills in the parts in which nothing happened, which the gateway leaves out. @param {readonly Activity[]} parts @param {{ stepMs: number, count: number }} grid */
export function fillParts(parts, { stepMs, count }) {
  const known = new Map(parts.map((part) => [Date.parse(part.start), part]));
  const last = Math.floor(Date.now() / stepMs) * stepMs;
  const starts = Array.from({ length: count }, (_, back) => last - (count - 1 - back) * stepMs);
  return starts.map((start) => ({ posts: 0, claims: 0, success: 0, failed: 0, ...known.get(start), start }));
}

/**
 * How many requests were open at the end of each part, back from those that are open now.
 *
 * @param {ReturnType<typeof fillParts>} parts @param {number} openNow
 */
export function depthOf(parts, openNow) {
  let open = openNow;
  const depths = parts.toReversed().map(({ posts, success, failed }) => {
    const depth = Math.max(0, open);
    open -= posts - success - failed;
    return depth;
  });
  return depths.reverse();
}

/**
 * How long the oldest open request had waited at the end of each part, if they are served in their order.
 *
 * @param {ReturnType<typeof fillParts>} parts @param {readonly number[]} depths @param {number} stepMs
 */
export function waitOf(parts, depths, stepMs) {
  return depths.map((depth, end) => {
    let left = depth;
    let at = end;
    for (; at >= 0 && left > 0; at--) left -= parts[at]?.posts ?? 0;
    return depth === 0 ? 0 : ((end - at) * stepMs) / 1000;
  });
}

/** The colours that the page has now, which change with the scheme. */
function useScheme() {
  const [isDark, setDark] = useState(matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const look = () => setDark(scheme.matches);
    scheme.addEventListener('change', look);
    return () => scheme.removeEventListener('change', look);
  }, []);
  return isDark;
}

const HEIGHT = 168;

/**
 * Lines over time from zero on, in the viewer's time zone, with a legend beside its title.
 *
 * @param {{ title: string, xs: readonly number[], series: readonly { label: string, tone: string, values: readonly number[], isArea?: boolean }[], seconds?: boolean }} props
 */
export function Chart({ title, xs, series, seconds = false }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const isDark = useScheme();
  useEffect(() => {
    const box = /** @type {HTMLElement} */ (place.current);
    const style = getComputedStyle(box);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
    const grid = { stroke: colour('line'), width: 1 };
    const isLong = (xs.at(-1) ?? 0) - (xs[0] ?? 0) > 2 * 86_400;
    const moment = new Intl.DateTimeFormat(
      undefined,
      isLong ? { weekday: 'short', day: 'numeric' } : { hour: '2-digit', minute: '2-digit', hour12: false },
    );
    const axis = { stroke: colour('soft-ink'), grid, ticks: { show: false }, font: `11px ${style.fontFamily}` };
    const most = Math.max(1, ...series.flatMap(({ values }) => values));
    const write = (/** @type {unknown} */ _, /** @type {number[]} */ marks) =>
      marks.map((mark) =>
        seconds ? (mark === 0 ? '0' : writeDuration(mark * 1000)) : mark >= 1000 ? `${mark / 1000}k` : String(mark),
      );
    // uPlot comes as a script of its own.
    const plot = new window.uPlot(
      {
        ...{ width: box.clientWidth, height: HEIGHT, padding: [8, 8, 0, 0], legend: { show: false } },
        cursor: { y: false, points: { size: 6 } },
        scales: { y: { range: [0, most * 1.15] } },
        series: [
          {},
          ...series.map(({ label, tone, isArea = false }) => ({
            ...{ label, stroke: colour(`${tone}-line`), width: 2, points: { show: false } },
            ...(isArea && { fill: `color-mix(in srgb, ${colour(`${tone}-line`)} 18%, transparent)` }),
          })),
        ],
        axes: [
          {
            ...axis,
            size: 28,
            space: 64,
            values: (/** @type {unknown} */ _, /** @type {number[]} */ marks) =>
              marks.map((mark) => moment.format(mark * 1000)),
          },
          {
            ...axis,
            size: 52,
            values: write,
            incrs: seconds
              ? [1, 5, 15, 60, 300, 900, 3600, 21_600, 86_400]
              : [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000],
          },
        ],
      },
      [[...xs], ...series.map(({ values }) => [...values])],
      box,
    );
    const resize = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height: HEIGHT }));
    resize.observe(box);
    return () => {
      resize.disconnect();
      plot.destroy();
    };
  }, [isDark, JSON.stringify([xs.at(-1), series])]);
  const last = series
    .map(
      ({ label, values }) => `${label} ${seconds ? writeDuration((values.at(-1) ?? 0) * 1000) : (values.at(-1) ?? 0)}`,
    )
    .join(', ');
  return html`<figure class="chart">
    <figcaption><h3>${title}</h3><ul class="legend">${series.map(({ label, tone }) => html`<li class=${`dot ${tone}`}>${label}</li>`)}</ul></figcaption>
    <div class="plot" ref=${place} role="img" aria-label=${`${title}, over time; now ${last}`}></div>
    <p class="unseen">Times are in ${zoneOf()}.</p>
  </figure>`;
}

/** A small course, without axes. @param {{ points: readonly (readonly [number, number])[], label: string }} props */
export function Spark({ points, label }) {
  if (points.length < 2) return null;
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [left, right, top] = [Math.min(...xs), Math.max(...xs), Math.max(...ys, Number.MIN_VALUE)];
  const place = (/** @type {readonly [number, number]} */ [x, y]) =>
    `${(100 * (x - left)) / Math.max(1, right - left)},${30 - (28 * y) / top}`;
  return html`<svg class="spark" viewBox="0 0 100 32" preserveAspectRatio="none" role="img" aria-label=${label}>
    <polyline points=${points.map(place).join(' ')} />
  </svg>`;
}

/** A share as a bar. @param {{ share: number, label: string, tone?: string }} props */
export function Bar({ share, label, tone = 'good' }) {
  const width = Math.max(0, Math.min(100, 100 * share));
  return html`<svg class=${`bar ${tone}`} viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label=${label}>
    <rect class="rail" width="100" height="8" /><rect width=${width} height="8" />
  </svg>`;
}
