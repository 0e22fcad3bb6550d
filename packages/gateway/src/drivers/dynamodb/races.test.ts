import { sized } from '@prism-gateway/testing/test-size';
import { expect, test } from 'vitest';
import { anyAddress, anyChain, claimOf, pendingRequest, reportOf } from '../../../test/contracts/storedRequests.ts';
import { createDynamoOutbox } from '../../../test/rigs/createDynamoOutbox.ts';
import { createDynamoRig, describeWithDynamo } from '../../../test/rigs/dynamoStores.ts';
import { DependencyUnavailableError } from '../../ports/errors.ts';

const RACERS = sized({ small: 10, long: 50 });
const REQUESTS = sized({ small: 8, long: 20 });
/** Processes that the racers call. */
const PROCESSES = 4;
/** Of all tries of a call one in four fails: before it is done, after, or refused. */
const FAULTS = { cutAfter: 0.1, cutBefore: 0.08, throttle: 0.07 };

const shuffled = <T>(list: readonly T[]): T[] =>
  list
    .map((value) => ({ value, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);

describeWithDynamo('races among faults', () => {
  // Shows STATE-1, DYNAMO-4.
  test('each request has one winner, who alone reports, and nobody is told what is untrue', async () => {
    await using rig = await createDynamoRig();
    const processes = Array.from({ length: PROCESSES }, () => rig.open().requests);
    const chainName = anyChain();
    const records = Array.from({ length: REQUESTS }, () => pendingRequest({ chainName }));
    for (const record of records) await rig.open({ client: rig.openClient() }).requests.create(record);
    rig.proxy.setShares(FAULTS);

    const winners = new Map<string, string[]>();
    const refused409 = new Set<string>();
    const violations: string[] = [];
    async function race(relayer: string, number: number): Promise<void> {
      const store = processes[number % PROCESSES]!;
      for (const record of shuffled(records)) {
        // An outage leaves it in doubt whether it was done; the racer asks again by another call.
        for (let isInDoubt = false; ; isInDoubt = true) {
          const answer = await store.claim(claimOf(record, { relayer })).catch((error: unknown) => {
            if (error instanceof DependencyUnavailableError) return undefined;
            throw error;
          });
          if (answer === undefined) continue;
          if (answer.outcome === 'moved')
            winners.set(record.requestId, [...(winners.get(record.requestId) ?? []), relayer]);
          else if (!isInDoubt) refused409.add(`${record.requestId} ${relayer}`);
          break;
        }
      }
    }
    await Promise.all(Array.from({ length: RACERS }, (_, number) => race(anyAddress(), number)));
    const faults = rig.proxy.counts;
    rig.proxy.setShares({});

    for (const { requestId } of records) {
      const { claimedBy = '' } = (await processes[0]!.get(requestId)) ?? {};
      const reported = winners.get(requestId) ?? [];
      if (reported.length > 1 || (reported[0] !== undefined && reported[0] !== claimedBy))
        violations.push(`${requestId}: ${reported}`);
      if (refused409.has(`${requestId} ${claimedBy}`)) violations.push(`${requestId}: its owner was answered 409`);
      const reports = await Promise.all(
        [anyAddress(), claimedBy, anyAddress()].map((relayer) =>
          processes[1]!.report(reportOf({ requestId }, { relayer })),
        ),
      );
      if (reports.map(({ outcome }) => outcome).join() !== 'conflict,moved,conflict')
        violations.push(`${requestId}: reports`);
    }
    expect(violations).toEqual([]);
    expect(faults.cutAfter).toBeGreaterThan(0);

    // The stream, read by two who are given each batch again, counts each move once.
    const { stream, stats, admin } = createDynamoOutbox(rig);
    for (let batch = await stream.read(); batch.length > 0; batch = await stream.read()) {
      await stats.record(batch);
      await stats.record(batch);
    }
    const { chains } = await admin.readStats(Date.now());
    expect(chains).toEqual([{ chainName, pending: 0, processing: 0, success: REQUESTS, failed: 0 }]);
  });
});
