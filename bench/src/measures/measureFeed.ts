import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from '../benchContext.ts';
import { CHAIN_NAME } from '../load/createParams.ts';
import type { BenchRelayer } from '../load/loadRelayers.ts';
import { type Gateway, startGateway } from '../processes/startGateway.ts';
import type { ResultRow } from '../report/summariseRow.ts';
import { alternate } from './alternate.ts';
import { createCall, readRequestId } from './createRequests.ts';

const POSTS_PER_SECOND = 100;
/** How long a call waits for something to come, in seconds: as long as the service allows. */
const WAIT_SECONDS = 25;
/** By then the first call of the feed is there. */
const HEAD_START_MS = 100;

type Times = Map<string, number>;

async function ask(what: string, asking: Promise<Response>): Promise<string> {
  const answer = await asking;
  const body = await answer.text();
  if (!answer.ok) throw new Error(`${what} was answered ${answer.status}: ${body}`);
  return body;
}

/** Posts each when it is due; its time counts from then on. */
async function postAtPace({ url }: Gateway, count: number): Promise<Times> {
  const sent: Times = new Map();
  const calls = Array.from({ length: count }, createCall);
  const startedAt = performance.now();
  const posts = calls.map(async ({ path, ...init }, i) => {
    await sleep(Math.max(0, startedAt + (i * 1000) / POSTS_PER_SECOND - performance.now()));
    const sentAt = performance.now();
    sent.set(readRequestId(await ask('A post', fetch(`${url}${path}`, init))), sentAt);
  });
  await Promise.all(posts);
  return sent;
}

/** Follows the feed as a relayer does. @returns when each request was in its hands */
async function follow({ url }: Gateway, relayer: BenchRelayer, count: number): Promise<Times> {
  const seen: Times = new Map();
  let place = 'from=now';
  while (seen.size < count) {
    const headers = relayer.signHeaders({ method: 'GET', path: '/requests/feed' });
    const query = `chainName=${encodeURIComponent(CHAIN_NAME)}&${place}&wait=${WAIT_SECONDS}`;
    const body = await ask('The feed', fetch(`${url}/requests/feed?${query}`, { headers }));
    const now = performance.now();
    for (const [, requestId = ''] of body.matchAll(/"requestId":"([^"]+)"/g)) {
      if (!seen.has(requestId)) seen.set(requestId, now);
    }
    const { cursor } = JSON.parse(body) as { readonly cursor: string };
    place = `cursor=${encodeURIComponent(cursor)}`;
  }
  return seen;
}

/** Measures the time from a post until a relayer that follows the feed has it. */
export async function measureFeed(context: BenchContext): Promise<ResultRow[]> {
  const { options, scale, relayers } = context;
  const gateway = await startGateway(context);
  let latencies: readonly number[] = [];
  // An index of a list that is not empty.
  const at = (share: number) => latencies[Math.ceil(share * latencies.length) - 1]!;
  const figures = await alternate(options.runs, {
    async p50() {
      const [seen, sent] = await Promise.all([
        // There is always one.
        follow(gateway, relayers[0]!, scale.feedPosts),
        sleep(HEAD_START_MS).then(() => postAtPace(gateway, scale.feedPosts)),
      ]);
      // Every one that was posted was seen.
      latencies = Array.from(sent, ([id, sentAt]) => seen.get(id)! - sentAt).sort((a, b) => a - b);
      return at(0.5);
    },
    p99: async () => at(0.99),
  });
  const title = `POST to seen in the feed, ${POSTS_PER_SECOND} posts/s`;
  const notes = [`${scale.feedPosts} posts a run; from the sending of a post to the answer of the feed, which waits`];
  const atMost = (bound: number) => ({ of: 'value', is: 'at most', bound }) as const;
  return [
    { title: `${title}, p50`, unit: 'ms', values: figures.p50, target: atMost(5), notes },
    { title: `${title}, p99`, unit: 'ms', values: figures.p99, target: atMost(25) },
  ];
}
