import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyPair } from '../signing/createKeyPair.ts';
import type { SigningCrypto } from '../signing/loadSigningCrypto.ts';
import { chainName } from '../signing/writeRequestBody.ts';
import { createFollower } from './createFollower.ts';
import { findRequestIds } from './findRequestIds.ts';
import type { LatencySummary } from './loadResult.ts';
import { type Line, openLine } from './openLine.ts';
import { prepareCreates } from './prepareCreates.ts';
import { readRequestId } from './readRequestId.ts';
import { summariseLatency } from './summariseLatency.ts';

/** Posts at a steady pace, and one relayer that follows the feed. */
export interface FeedRun {
  readonly port: number;
  readonly relayer: KeyPair;
  readonly posts: number;
  readonly perSecond: number;
}

/** Connections that post, so that a slow answer holds up no other post. */
const lines = 16;

type Times = Map<string, number>;

/** Posts each call when it is due; its time counts from then on, also where it had to wait for a connection. */
async function postAtPace(posting: readonly Line[], creates: readonly Buffer[], perSecond: number): Promise<Times> {
  const due: Times = new Map();
  const startedAt = performance.now();
  let taken = 0;
  async function postInTurn(line: Line): Promise<void> {
    for (let i = taken++; i < creates.length; i = taken++) {
      const dueAt = startedAt + (i * 1000) / perSecond;
      const early = dueAt - performance.now();
      if (early > 0) await sleep(early);
      // A timer may be late, which is not the server's doing.
      const sentAt = early > 0 ? performance.now() : dueAt;
      const { status, body } = await line.ask(creates[i]!);
      if (status !== 201) throw new Error(`A post was answered ${status}: ${body.toString('utf8')}`);
      due.set(readRequestId(body), sentAt);
    }
  }
  await Promise.all(posting.map(postInTurn));
  return due;
}

async function follow(crypto: SigningCrypto, line: Line, { relayer, posts }: FeedRun): Promise<Times> {
  const seen: Times = new Map();
  const follower = createFollower(crypto, { relayer, chainName });
  while (seen.size < posts) {
    const { status, body } = await line.ask(follower.next());
    const now = performance.now();
    if (status !== 200) throw new Error(`The feed was answered ${status}: ${body.toString('utf8')}`);
    for (const id of findRequestIds(body)) if (!seen.has(id)) seen.set(id, now);
    follower.learn(body);
  }
  return seen;
}

/**
 * Measures how long it takes from a post until a relayer that follows the feed has it in its hands.
 *
 * @param crypto the curve and the hash
 * @param run how many, how fast
 * @returns latencies from a post's sending to the feed's answer
 */
export async function runFeed(crypto: SigningCrypto, run: FeedRun): Promise<LatencySummary> {
  const creates = prepareCreates(crypto, run.posts);
  const feed = await openLine(run.port);
  const posting = await Promise.all(Array.from({ length: lines }, () => openLine(run.port)));
  try {
    const [seen, due] = await Promise.all([
      follow(crypto, feed, run),
      // The first call of the feed is there before the first post.
      sleep(100).then(() => postAtPace(posting, creates, run.perSecond)),
    ]);
    // Every one that was seen was posted.
    return summariseLatency(Float64Array.from(due, ([id, sentAt]) => seen.get(id)! - sentAt));
  } finally {
    for (const line of [feed, ...posting]) line.close();
  }
}
