import type { KeyPair } from '../signing/createKeyPair.ts';
import type { SigningCrypto } from '../signing/loadSigningCrypto.ts';
import { writeRelayerCall } from '../signing/writeRelayerCall.ts';
import { chainName } from '../signing/writeRequestBody.ts';
import { createFollower } from './createFollower.ts';
import { type Line, openLine } from './openLine.ts';
import { prepareCreates } from './prepareCreates.ts';

/** Relayers that all want whatever comes into one queue. */
export interface RaceRun {
  readonly port: number;
  readonly relayers: readonly KeyPair[];
  readonly posts: number;
}

/** What came of it. */
export interface RaceResult {
  readonly won: number;
  /** Claims that a rival was faster with: entries of `conflicts`, and answers with 409. */
  readonly lost: number;
  readonly elapsedMs: number;
}

/** Connections that post. */
const posters = 8;
/** Most requests of one claim. */
const claimLimit = 10;

const countForm = /"count":(\d+),"conflicts":(\[[^\]]*\])/;

/** One relayer: waits until the feed has something, and claims the oldest until there is nothing left. */
async function raceAs(
  crypto: SigningCrypto,
  { line, relayer, tell }: { line: Line; relayer: KeyPair; tell: (won: number, lost: number) => boolean },
): Promise<void> {
  const follower = createFollower(crypto, { relayer, chainName });
  const body = JSON.stringify({ chainName, limit: claimLimit });
  for (;;) {
    follower.learn((await line.ask(follower.next())).body);
    for (let won = claimLimit; won === claimLimit; ) {
      const call = { relayer, method: 'POST', path: '/requests/claims', body } as const;
      const answer = await line.ask(writeRelayerCall(crypto, call));
      const [, count, conflicts = '[]'] = countForm.exec(answer.body.toString('latin1')) ?? [];
      if (answer.status !== 200 && answer.status !== 409) throw new Error(`A claim was answered ${answer.status}`);
      won = Number(count ?? 0);
      const isOver = tell(won, answer.status === 409 ? 1 : (JSON.parse(conflicts) as unknown[]).length);
      if (isOver) return;
    }
  }
}

async function postInTurn(line: Line, creates: Buffer[]): Promise<void> {
  for (let call = creates.pop(); call !== undefined; call = creates.pop()) {
    const { status } = await line.ask(call);
    if (status !== 201) throw new Error(`A post was answered ${status}`);
  }
}

/**
 * Lets relayers race for all that is posted, until all of it is claimed.
 *
 * @param crypto the curve and the hash
 * @param run how many, by whom
 * @returns how many claims were won and lost
 */
export async function runRace(crypto: SigningCrypto, run: RaceRun): Promise<RaceResult> {
  const { port, relayers, posts } = run;
  const creates = prepareCreates(crypto, posts);
  const over = Promise.withResolvers<void>();
  const opened = await Promise.all(Array.from({ length: relayers.length + posters }, () => openLine(port)));
  const posting = opened.splice(0, posters);
  let [won, lost] = [0, 0];
  const tell = (more: number, less: number) => {
    won += more;
    lost += less;
    if (won === posts) over.resolve();
    return won === posts;
  };
  const startedAt = performance.now();
  try {
    // Those that still wait for the feed when all is claimed are not awaited; their failures before that are.
    const racing = opened.map((line, i) => raceAs(crypto, { line, relayer: relayers[i]!, tell }));
    for (const one of racing) one.catch(over.reject);
    await Promise.all([over.promise, ...posting.map((line) => postInTurn(line, creates))]);
    return { won, lost, elapsedMs: performance.now() - startedAt };
  } finally {
    for (const line of [...opened, ...posting]) line.close();
  }
}
