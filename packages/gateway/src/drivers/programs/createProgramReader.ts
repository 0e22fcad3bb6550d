import type { ProgramReport } from '../../ports/gatewayPorts.ts';

/** How long a program has for its answer, in milliseconds. */
const PATIENCE_MS = 3000;
/** Most bytes of one program's answer. */
const MAX_BYTES = 1024 * 1024;

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

async function readStatus(url: string): Promise<Readonly<Record<string, unknown>>> {
  // Only what the operator has set is ever asked: an answer that leads elsewhere is not followed.
  const options = { redirect: 'error', signal: AbortSignal.timeout(PATIENCE_MS) } as const;
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

/** Where a program is, stays out of what is told of it. */
const describe = (error: unknown) =>
  error instanceof SyntaxError ? 'its answer is no JSON' : error instanceof Error ? error.message : 'it failed';

/**
 * Makes the reader of the operator's other programs, such as the relayer and the payment relayer.
 *
 * @param statusUrls - `STATUS_URLS`, by name
 * @returns asks them all at once; one that does not answer within three seconds is reported so
 * @see docs/specification.md ADMIN-13
 */
export function createProgramReader(
  statusUrls: Readonly<Record<string, string>>,
): () => Promise<readonly ProgramReport[]> {
  return () =>
    Promise.all(
      Object.entries(statusUrls).map(([name, url]) =>
        readStatus(url).then(
          (status) => ({ name, status }),
          (error: unknown) => ({ name, error: describe(error) }),
        ),
      ),
    );
}
