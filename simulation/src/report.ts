import type { WorldEvent } from './core/eventLog.ts';
import type { SimulationResult } from './simulate.ts';

/** Milliseconds of an hour. */
const HOUR_MS = 3_600_000;
/** Most events that the page lists; beyond them it says so. */
const LISTED_EVENTS = 20_000;

const COLOURS = { success: '#2e9e6b', failed: '#c2410c', pending: '#b8c2cc', processing: '#3b82f6' } as const;

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** A bar of the drawing. */
interface Bar {
  readonly fromMs: number;
  readonly toMs: number;
  readonly row: number;
  readonly colour: string;
  readonly title: string;
}

const ROW = 6;

/** Draws bars into rows, as wide as the page. */
function drawBars(bars: readonly Bar[], rows: number, { startMs, endMs }: Span): string {
  const x = (atMs: number) => (((atMs - startMs) / (endMs - startMs)) * 1000).toFixed(2);
  const shapes = bars.map(({ fromMs, toMs, row, colour, title }) => {
    const width = Math.max(1.5, Number(x(toMs)) - Number(x(fromMs))).toFixed(2);
    return `<rect x="${x(fromMs)}" y="${row * ROW}" width="${width}" height="${ROW - 1.5}" fill="${colour}"><title>${escapeHtml(title)}</title></rect>`;
  });
  const height = Math.max(1, rows) * ROW;
  return `<svg viewBox="0 0 1000 ${height}" preserveAspectRatio="none" style="height:${Math.max(12, height * 2)}px">${shapes.join('')}</svg>`;
}

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** Puts bars into as few rows as they need without touching. */
function stack(bars: readonly Omit<Bar, 'row'>[]): { readonly bars: readonly Bar[]; readonly rows: number } {
  const ends: number[] = [];
  const placed = bars.map((bar) => {
    const free = ends.findIndex((end) => end < bar.fromMs);
    const row = free === -1 ? ends.length : free;
    ends[row] = bar.toMs;
    return { ...bar, row };
  });
  return { bars: placed, rows: ends.length };
}

/** Draws the base fee as a line. */
function drawFees({ blocks }: SimulationResult, { startMs, endMs }: Span): string {
  const most = Math.max(1, ...blocks.map(({ baseFeeGwei }) => baseFeeGwei));
  const points = blocks.map(({ atMs, baseFeeGwei }) => {
    const x = ((atMs - startMs) / (endMs - startMs)) * 1000;
    return `${x.toFixed(2)},${(78 - (baseFeeGwei / most) * 74).toFixed(2)}`;
  });
  return `<svg viewBox="0 0 1000 80" preserveAspectRatio="none" style="height:110px"><polyline fill="none" stroke="#7c3aed" stroke-width="1.5" vector-effect="non-scaling-stroke" points="${points.join(' ')}"/></svg><p class="note">highest ${most.toFixed(1)} gwei</p>`;
}

/** Names the hours under a drawing, or the minutes of a short life. */
function drawHours({ startMs, endMs }: Span): string {
  const hours = (endMs - startMs) / HOUR_MS;
  const step = hours > 2 ? Math.ceil(hours / 12) : Math.ceil(hours * 6) / 60;
  const marks: string[] = [];
  for (let at = 0; at < hours; at += step) {
    const name = hours > 2 ? `${at} h` : `${Math.round(at * 60)} min`;
    marks.push(`<span style="left:${((at / hours) * 100).toFixed(2)}%">${name}</span>`);
  }
  return `<div class="hours">${marks.join('')}</div>`;
}

/**
 * Writes a world's life as one page of HTML that needs nothing beside itself: fees, faults, processes, requests and breaches over time.
 *
 * @param result - of `simulate`
 * @param command - repeats it
 * @returns the page
 */
export function writeReport(result: SimulationResult, command: string): string {
  const { seed, startMs, virtualMs, stories, payments, faults, breaches, events, digest } = result;
  const span = { startMs, endMs: startMs + virtualMs };
  const clock = (atMs: number) => new Date(atMs).toISOString().slice(5, 19).replace('T', ' ');
  const requests = stack(
    stories.map(({ requestId, kind, status, postedAtMs, endedAtMs }) => ({
      fromMs: postedAtMs,
      toMs: endedAtMs ?? span.endMs,
      colour: COLOURS[status],
      title: `${kind} ${requestId}: ${status}, posted ${clock(postedAtMs)}${endedAtMs === undefined ? '' : `, ended after ${Math.round((endedAtMs - postedAtMs) / 1000)} s`}`,
    })),
  );
  const cards = stack(
    payments.map(({ id, amount, frontend, expects, payouts, postedAtMs, completedAtMs }) => ({
      fromMs: postedAtMs,
      toMs: completedAtMs ?? span.endMs,
      colour: completedAtMs !== undefined ? COLOURS.success : expects === 'paid' ? COLOURS.pending : COLOURS.failed,
      title: `${id}: ${Number(amount) / 1e6} at ${frontend}, to be ${expects}, paid ${payouts.length} times, listed ${clock(postedAtMs)}${completedAtMs === undefined ? '' : `, completed after ${Math.round((completedAtMs - postedAtMs) / 1000)} s`}`,
    })),
  );
  const wrongs = stack(
    faults.map(({ name, fromMs, toMs = span.endMs }) => ({
      fromMs,
      toMs,
      colour: '#f59e0b',
      title: `${name}, ${clock(fromMs)} to ${clock(toMs)}`,
    })),
  );
  const broken = stack(
    breaches.map(({ atMs, invariant, text }) => ({
      fromMs: atMs,
      toMs: atMs,
      colour: '#dc2626',
      title: `${invariant}: ${text}`,
    })),
  );
  const deaths = stack(
    events
      .filter(({ kind }) => kind === 'process')
      .map(({ atMs, who, text }) => ({
        fromMs: atMs,
        toMs: atMs,
        colour: text === 'killed' ? '#111827' : '#60a5fa',
        title: `${who} ${text} ${clock(atMs)}`,
      })),
  );
  const accused = stack(
    events
      .filter(({ kind, who, text }) => kind === 'log' && who.startsWith('watchtower') && text.includes('"relayer"'))
      .map(({ atMs, text }) => ({ fromMs: atMs, toMs: atMs, colour: '#be185d', title: `${clock(atMs)} ${text}` })),
  );
  const storiesOf = new Map<WorldEvent, Set<string>>();
  for (const id of new Set(breaches.map(({ about }) => about))) {
    for (const event of result.story(id)) storiesOf.set(event, (storiesOf.get(event) ?? new Set()).add(id));
  }
  const rows = events
    .filter((event, index) => index < LISTED_EVENTS || storiesOf.has(event))
    .map((event) => {
      const { atMs, kind, who, text } = event;
      const about = [...event.about, ...(storiesOf.get(event) ?? [])].join(' ');
      return `<tr class="${kind}" data-about="${escapeHtml(about)}"><td>${clock(atMs)}<td>${escapeHtml(kind)}<td>${escapeHtml(who)}<td>${escapeHtml(text.slice(0, 400))}`;
    });
  const listed = breaches.map(
    ({ atMs, invariant, text, about }) =>
      `<li><b>${escapeHtml(invariant)}</b> at ${clock(atMs)}: ${escapeHtml(text)} <button data-id="${escapeHtml(about)}">its story</button>`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Seed ${escapeHtml(seed)}</title><style>
body{font:14px/1.45 system-ui,sans-serif;margin:24px auto;max-width:1280px;padding:0 16px;color:#1f2933;background:#fbfbfa}
h1{font-size:22px;margin:0}h2{font-size:14px;margin:20px 0 4px;color:#52606d}svg{width:100%;display:block;background:#fff;border:1px solid #e4e7eb}
.hours{position:relative;height:18px;color:#7b8794;font-size:12px}.hours span{position:absolute}.note{color:#7b8794;margin:0;font-size:12px}
table{border-collapse:collapse;width:100%;font:12px/1.4 ui-monospace,monospace}td{padding:1px 8px 1px 0;vertical-align:top;border-bottom:1px solid #eef0f2;word-break:break-word}
td:nth-child(-n+3){white-space:nowrap}tr.breach{background:#fee2e2}tr.fault{background:#fef3c7}input{width:100%;padding:6px;margin:6px 0;font:inherit}
.key i{display:inline-block;width:10px;height:10px;margin:0 4px 0 12px}</style>
<h1>Seed ${escapeHtml(seed)}</h1><p>${(virtualMs / HOUR_MS).toFixed(1)} virtual hours, ${stories.length} requests, ${payments.length} card payments, ${events.length} events, digest <code>${digest.slice(0, 16)}</code>. Again: <code>${escapeHtml(command)}</code></p>
${breaches.length === 0 ? '<p>All that must hold holds.</p>' : `<h2>What must hold and does not</h2><ol>${listed.join('')}</ol>${drawBars(broken.bars, broken.rows, span)}`}
<h2>Base fee</h2>${drawFees(result, span)}
<h2>Faults</h2>${drawBars(wrongs.bars, wrongs.rows, span)}
<h2>Processes: starts (blue) and ends (black)</h2>${drawBars(deaths.bars, deaths.rows, span)}
<h2>Accusations</h2>${drawBars(accused.bars, accused.rows, span)}
<h2>Requests</h2><p class="key note">${Object.entries(COLOURS)
    .map(([name, colour]) => `<i style="background:${colour}"></i>${name}`)
    .join('')}</p>${drawBars(requests.bars, requests.rows, span)}${drawHours(span)}
<h2>Card payments: completed (green), held or refused (red), open (grey)</h2>${drawBars(cards.bars, cards.rows, span)}${drawHours(span)}
<h2>Events${events.length > LISTED_EVENTS ? `, the first ${LISTED_EVENTS} of ${events.length} and those of what breaks` : ''}</h2><input id="find" placeholder="Only lines with this text: an id, a name, a kind">
<table id="events">${rows.join('')}</table><script>
const find=document.getElementById('find'),rows=[...document.querySelectorAll('#events tr')];
function show(){const text=find.value.toLowerCase();for(const row of rows)row.hidden=text!==''&&!(row.textContent+' '+row.dataset.about).toLowerCase().includes(text)}
find.addEventListener('input',show);document.addEventListener('click',({target})=>{if(target.dataset?.id!==undefined){find.value=target.dataset.id;show();find.scrollIntoView()}});
</script></html>
`;
}
