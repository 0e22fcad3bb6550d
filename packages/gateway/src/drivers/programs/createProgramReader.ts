import { setTimeout as sleep } from 'node:timers/promises';
import type { ProgramReport } from '../../ports/gatewayPorts.ts';

/** How long a program has for its answer, in milliseconds. */
const TIMEOUT_MS = 3000;
/** How long one that did not answer last time has, in milliseconds. */
const SILENT_TIMEOUT_MS = 250;
/** Most bytes of one program's answer. */
const MAX_BYTES = 1024 * 1024;
/** How long one answer of all serves whoever asks, in milliseconds: pages that follow the queue ask every second. */
const SHARED_MS = 2000;

/** @throws Error with a sentence for the operator */
async function readBounded({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) throw new Error('its answer is too large');
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

async function readStatus(statusUrl: string, about?: string): Promise<Readonly<Record<string, unknown>>> {
  const url = new URL(statusUrl);
  if (about !== undefined) url.searchParams.set('about', about);
  // Only what the operator has set is ever asked: an answer that leads elsewhere is not followed.
  const options = { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) } as const;
  const answer = await fetch(url, options).catch(() => {
    throw new Error('it does not answer');
  });
  if (!answer.ok) {
    await answer.body?.cancel();
    throw new Error(`it answers ${answer.status}`);
  }
  const status: unknown = JSON.parse(await readBounded(answer));
  if (typeof status !== 'object' || status === null || Array.isArray(status))
    throw new Error('its answer is no status');
  return status as Readonly<Record<string, unknown>>;
}

/** Where a program is, stays out of what is shown of it. */
const describe = (error: unknown) =>
  error instanceof SyntaxError ? 'its answer is no JSON' : error instanceof Error ? error.message : 'it failed';

/**
 * Makes the reader of the operator's other programs, such as the relayer and the payment relayer.
 *
 * @param statusUrls - `STATUS_URLS`, by name
 * @returns asks them all at once, about a request or a payment if one is given; one that does not answer within three seconds is reported so, and
 *   waited for a quarter of a second until it answers again
 * @see docs/specification.md ADMIN-13
 */
export function createProgramReader(
  statusUrls: Readonly<Record<string, string>>,
): (about?: string) => Promise<readonly ProgramReport[]> {
  /** Those that did not answer last time: nobody waits for them that long again. */
  const silent = new Map<string, ProgramReport>();
  async function askOne(name: string, url: string, about?: string): Promise<ProgramReport> {
    try {
      const status = await readStatus(url, about);
      silent.delete(name);
      return { name, status };
    } catch (error) {
      const report = { name, error: describe(error) };
      silent.set(name, report);
      return report;
    }
  }
  const ask = (about?: string) =>
    Promise.all(
      Object.entries(statusUrls).map(([name, url]) => {
        const known = silent.get(name);
        const asked = askOne(name, url, about);
        return known === undefined ? asked : Promise.race([asked, sleep(SILENT_TIMEOUT_MS, known, { ref: false })]);
      }),
    );
  let shared: { readonly untilMs: number; readonly programs: Promise<readonly ProgramReport[]> } | undefined;
  return (about) => {
    if (about !== undefined) return ask(about);
    const nowMs = performance.now();
    if (shared === undefined || nowMs >= shared.untilMs) shared = { untilMs: nowMs + SHARED_MS, programs: ask() };
    return shared.programs;
  };
}
