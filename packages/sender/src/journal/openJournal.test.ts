import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Log, toHex } from 'viem';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TxVersion } from '../intents/intent.ts';
import { checkSameCall, createLiveIntent, type LiveIntent } from '../intents/liveIntent.ts';
import { openJournal, openTables } from './openJournal.ts';

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'journal-'));
  path = join(dir, 'journal.sqlite');
});
afterEach(() => rm(dir, { recursive: true }));

const call = { to: '0x00000000000000000000000000000000005eeDed', data: '0x12', value: 3n } as const;

function signedIntent(intentId: string, nonce: number): { intent: LiveIntent; version: TxVersion } {
  const version: TxVersion = {
    hash: `0x${Buffer.from(intentId).toString('hex').padStart(64, '0')}`,
    intentId,
    nonce,
    kind: 'call',
    raw: '0x02',
    gasLimit: 21_000n,
    maxFeePerGas: 2n ** 70n,
    maxPriorityFeePerGas: 1n,
    createdAtMs: 5,
  };
  const bounds = { confirmations: 2, rejectsHighGas: false, maxFeePerGas: 2n ** 80n, expiresAtMs: 9 };
  const draft = { intentId, label: 'x', call, gasLimit: 21_000n, ...bounds };
  const intent = {
    ...createLiveIntent(draft, 4),
    state: 'signed' as const,
    nonce,
    versions: [version],
    isJournalled: true,
  };
  return { intent, version };
}

describe('a journal', () => {
  // Shows SEND-2.
  test('waits for the disk at every commit, with a write-ahead log', () => {
    const database = openTables(path);
    const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
    // 2 is FULL. https://sqlite.org/pragma.html#pragma_synchronous
    expect([pragma('journal_mode'), pragma('synchronous')]).toEqual(['wal', 2]);
    database.close();
  });

  test('prunes the bytes of what has ended on nonces that are final, and nothing else; a million writes take little', () => {
    const journal = openJournal(path);
    const bytes = `0x${'5a'.repeat(900)}` as const;
    const log = { address: call.to, topics: [], data: bytes } as unknown as Log;
    const ids = Array.from({ length: 2000 }, (_, i) => `019b76dc-6ab1-7620-96ca-${String(i).padStart(12, '0')}#1`);
    const writes = [...ids.entries()].map(([nonce, intentId]) => {
      const { intent, version } = signedIntent(intentId, nonce);
      const hash = toHex(nonce + 1, { size: 32 });
      const sent = {
        ...{
          intentId,
          txHash: hash,
          nonce,
          status: 'success' as const,
          blockNumber: 1n,
          blockHash: hash,
          gasUsed: 50_000n,
        },
        ...{ effectiveGasPrice: 10n ** 9n, dataFee: 0n, logs: [log, log] },
      } as const;
      const data = nonce % 2 === 0 ? bytes : '0x12';
      return {
        intent: { ...intent, call: { ...call, data }, state: 'confirmed' as const, sent },
        version: { ...version, hash, raw: bytes },
      };
    });
    journal.commit({ intents: writes.map(({ intent }) => intent), versions: writes.map(({ version }) => version) });
    expect(journal.prune(ids, 1990)).toEqual(ids.slice(0, 1990));
    const [gone, kept] = [journal.ended(ids[0]!)!, journal.get(ids[1990]!)!];
    expect([journal.get(ids[0]!), gone.sent?.nonce, gone.txHashes]).toEqual([undefined, 0, [toHex(1, { size: 32 })]]);
    expect([kept.call.data, kept.versions[0]?.raw, kept.sent?.logs]).toEqual([bytes, bytes, [log, log]]);
    // The same question has the same answer, and another call is refused.
    expect(() => checkSameCall(gone, { call: { ...call, data: bytes } })).not.toThrow();
    expect(() => checkSameCall(gone, { call })).toThrow(/known with another call/);
    // Once more it changes nothing, and the highest nonce outlives its version.
    expect(journal.prune(ids, 2000)).toEqual(ids);
    expect([journal.prune(ids, 2000), journal.highestNonce(), journal.list(['confirmed'])]).toEqual([ids, 1999, []]);
    expect(journal.ended(ids[0]!)).toEqual(gone);
    journal.close();
    const database = openTables(path);
    database.exec('VACUUM');
    const read = (name: string) => Number(Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
    const megabytesOfAMillion = (read('page_count') * read('page_size')) / ids.length;
    database.close();
    expect(megabytesOfAMillion).toBeLessThan(235);
  });

  test('gives back what was written, by another opening', () => {
    const { intent, version } = signedIntent('a', 7);
    const first = openJournal(path);
    first.commit({ intents: [intent], versions: [version] });
    first.close();
    const second = openJournal(path);
    expect(second.get('a')).toEqual(intent);
    expect(second.list(['signed'])).toEqual([intent]);
    expect([second.list(['queued']), second.get('b')]).toEqual([[], undefined]);
    expect([second.highestNonce(), second.versionsOn(7), second.versionsOn(8)]).toEqual([7, [version], []]);
    second.close();
  });

  test('writes all of an entry, or nothing', () => {
    const journal = openJournal(path);
    const [a, b] = [signedIntent('a', 1), signedIntent('b', 1)];
    // Two intents never share a nonce.
    const both = { intents: [a.intent, b.intent], versions: [a.version, b.version] };
    expect(() => journal.commit(both)).toThrow(expect.objectContaining({ code: 'JOURNAL_FAILED' }));
    expect([journal.get('a'), journal.highestNonce()]).toEqual([undefined, undefined]);
    journal.commit({ intents: [a.intent], versions: [a.version] });
    expect(journal.get('a')).toEqual(a.intent);
    journal.close();
  });

  test('keeps a fact as it was written first', () => {
    const journal = openJournal(path);
    expect([journal.pinFact('chainId', '1'), journal.pinFact('chainId', '2')]).toEqual(['1', '1']);
    journal.close();
  });

  test('of a later version is refused, and left alone', () => {
    const database = new DatabaseSync(path);
    database.exec("CREATE TABLE schema_versions (store, version); INSERT INTO schema_versions VALUES ('sender', 99)");
    expect(() => openJournal(path)).toThrow(expect.objectContaining({ code: 'JOURNAL_FAILED' }));
    expect(() => openJournal(path)).toThrow(/version 99.*newer version/);
    expect(database.prepare('SELECT * FROM sqlite_schema').all()).toHaveLength(1);
    database.close();
  });
});
