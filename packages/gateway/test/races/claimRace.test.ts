import type { RequestRecord } from '@prism-gateway/protocol';
import { drawSome, sized } from '@prism-gateway/testing/test-size';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { readRecord, updateCall } from '../rigs/gatewayClient.ts';
import type { RelayerClient } from '../rigs/relayerClient.ts';
import { startDynamoPair } from '../rigs/startDynamoPair.ts';
import { type GatewayPair, type StartGatewayPair, startGatewayPair } from '../rigs/startGatewayPair.ts';
import { writeRequestBody } from '../rigs/writeRequestBody.ts';

const CLIENTS = 50;
const RELAYERS = 5;
const REQUESTS = sized({ small: 40, long: 1000 });
/** Clients that claim one request at the same time. */
const RIVALS = sized({ small: 5, long: 10 });
/** Requests that are raced for at the same time, so that all clients are busy. */
const AT_ONCE = CLIENTS / RIVALS;

/** One of the clients: it has a relayer's key and calls one of the two processes. */
interface RaceClient {
  readonly relayer: RelayerClient;
  readonly url: string;
}

/** The two processes, and who calls them. */
interface Race {
  readonly pair: GatewayPair;
  readonly clients: readonly RaceClient[];
}

async function prepareRace(startPair: StartGatewayPair): Promise<Race> {
  const pair = await startPair({ relayers: RELAYERS });
  const clients = Array.from({ length: CLIENTS }, (_, i) => ({
    // Neighbours have different keys and processes; so have those that share either.
    relayer: pair.relayers[i % RELAYERS] as RelayerClient,
    url: pair.urls[Math.floor(i / RELAYERS) % 2] as string,
  }));
  return { pair, clients };
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((value) => ({ value, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
}

/** All clients in a random order in which the two processes take turns, so that rivals always call both. */
function lineUp({ pair, clients }: Race): RaceClient[] {
  const [first, second] = pair.urls.map((url) => shuffled(clients.filter((client) => client.url === url)));
  return (first ?? []).flatMap((client, i) => [client, second?.[i] as RaceClient]); // Both have as many.
}

async function createOne({ pair }: Race): Promise<string> {
  const [url] = pair.urls;
  const answer = await pair.client.call(url, { method: 'POST', path: '/requests', json: writeRequestBody() });
  return readRecord(answer, 201).requestId;
}

/** All rivals claim one request; @returns the winner's record */
async function raceFor({ pair }: Race, requestId: string, rivals: readonly RaceClient[]): Promise<RequestRecord> {
  const answers = await Promise.all(
    rivals.map(({ url, relayer }) => pair.client.call(url, updateCall(requestId, { status: 'processing' }, relayer))),
  );
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses, `answers to the claims of ${requestId}`).toEqual([200, ...rivals.slice(1).map(() => 409)]);
  const winner = answers.findIndex(({ status }) => status === 200);
  const record = readRecord(answers[winner] as (typeof answers)[number]);
  expect(record).toMatchObject({ requestId, status: 'processing' });
  expect(record.claimedBy?.toLowerCase()).toBe(rivals[winner]?.relayer.address);
  for (const url of pair.urls) {
    expect(readRecord(await pair.client.call(url, { method: 'GET', path: `/requests/${requestId}` }))).toEqual(record);
  }
  return record;
}

/** Every relayer reports, at the same time, with its own hash; only the owner's report may be taken. */
async function reportAll({ pair }: Race, { requestId, claimedBy }: RequestRecord): Promise<void> {
  const txHashOf = (index: number) => `0x${String(index).repeat(64)}`;
  const answers = await Promise.all(
    pair.relayers.map((relayer, i) => {
      const report = updateCall(requestId, { status: 'success', txHash: txHashOf(i) }, relayer);
      return pair.client.call(pair.urls[i % 2] as string, report);
    }),
  );
  const owner = pair.relayers.findIndex(({ address }) => address === claimedBy?.toLowerCase());
  expect(answers.map(({ status }) => status)).toEqual(pair.relayers.map((_, i) => (i === owner ? 200 : 409)));
  const after = readRecord(await pair.client.call(pair.urls[0], { method: 'GET', path: `/requests/${requestId}` }));
  expect(after).toMatchObject({ status: 'success', claimedBy, txHash: txHashOf(owner) });
}

/** Races for all requests. @returns how many each relayer won */
async function raceForAll(race: Race): Promise<Map<string, number>> {
  const wins = new Map<string, number>();
  for (let done = 0; done < REQUESTS; done += AT_ONCE) {
    const requestIds = await Promise.all(Array.from({ length: AT_ONCE }, () => createOne(race)));
    const racers = lineUp(race);
    const won = await Promise.all(
      requestIds.map((requestId, i) => raceFor(race, requestId, racers.slice(i * RIVALS, (i + 1) * RIVALS))),
    );
    await Promise.all(won.map((record) => reportAll(race, record)));
    for (const { claimedBy = '' } of won) wins.set(claimedBy, (wins.get(claimedBy) ?? 0) + 1);
  }
  return wins;
}

/** Clients of several relayers, at two processes, go for the same requests: of each, one wins, and only it may report. */
function claimRace(store: string, startPair: StartGatewayPair): void {
  describe(`a race for claims on ${store}`, () => {
    let race: Race | undefined;
    beforeAll(async () => {
      race = await prepareRace(startPair);
    });
    afterAll(() => race?.pair.dispose());

    test(`${CLIENTS} clients of ${RELAYERS} relayers race for ${REQUESTS} requests over two processes`, async () => {
      if (race === undefined) throw new Error('it is prepared before');
      const wins = await raceForAll(race);
      expect([...wins.values()].reduce((sum, count) => sum + count, 0)).toBe(REQUESTS);
      const lost = REQUESTS * (RIVALS - 1);
      const shares = [...wins.values()].join(', ');
      console.info(`race: ${REQUESTS} requests, one winner each, ${lost} claims refused; wins by relayer: ${shares}`);
    });
  });
}

// Each store's contract has races of its own, without processes.
const stores = drawSome(['SQLite', 'DynamoDB'], { of: 'races for claims', small: 1 });

if (stores.includes('SQLite')) claimRace('SQLite', startGatewayPair);

if (stores.includes('DynamoDB')) {
  describeWithDynamo('DynamoDB', () => {
    claimRace('DynamoDB', startDynamoPair);
  });
}
