import { countEnded, type Tally } from '../watch/tally.ts';
import { formatSeconds } from './formats.ts';

/** What the progress lines show. */
export interface Progress {
  readonly tally: Tally;
  readonly total: number;
  readonly submitted: number;
  readonly elapsedMs: number;
  readonly relayers: readonly { readonly name: string; readonly address: string; readonly note: string }[];
}

/** With it the longest line has less than 80 characters. */
const BAR_WIDTH = 16;

function drawBar(part: number): string {
  const full = Math.round(part * BAR_WIDTH);
  return '█'.repeat(full).padEnd(BAR_WIDTH, '░');
}

/**
 * Writes how far the requests are: one line for all, and one a relayer.
 *
 * @param progress - see each field
 */
export function formatProgress({ tally, total, submitted, elapsedMs, relayers }: Progress): readonly string[] {
  const { counts, held, reported } = tally;
  const ended = countEnded(tally);
  const signed = submitted < total ? `signed ${submitted} · ` : '';
  const states = `${signed}pending ${counts.pending} · processing ${counts.processing} · failed ${counts.failed}`;
  const head = `${formatSeconds(elapsedMs).padStart(7)}  ${drawBar(ended / total)} ${ended}/${total}  ${states}`;
  const lines = relayers.map(({ name, address, note }) => {
    const [holds, has] = [held.get(address.toLowerCase()) ?? 0, reported.get(address.toLowerCase()) ?? 0];
    return `         ${name} ${note.padEnd(14)} holds ${String(holds).padStart(2)} · reported ${String(has).padStart(3)}`;
  });
  return [head, ...lines];
}
