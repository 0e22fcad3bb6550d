import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** A server that is coming up. */
export interface StartingServer {
  readonly url: string;
  /** Whether the process is gone already. */
  readonly hasEnded: () => boolean;
  readonly logFile: string;
}

const timeoutMs = 20_000;
const pollMs = 20;
const shownLogChars = 2_000;

/**
 * Waits until a gateway's `/ready` answers 200.
 *
 * @param server what to ask
 * @throws Error with the end of the log when the process ended, or did not get ready in 20 s
 */
export async function waitUntilReady(server: StartingServer): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline && !server.hasEnded()) {
    if (await isReady(server.url)) return;
    await sleep(pollMs);
  }
  const log = await readFile(server.logFile, 'utf8');
  throw new Error(`The gateway did not come up. The end of its log:\n${log.slice(-shownLogChars)}`);
}

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/ready`);
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}
