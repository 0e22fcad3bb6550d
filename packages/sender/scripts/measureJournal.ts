/** Measures the size of a sender's journal after a million writes, each a transaction of its own: `npm run bench -- journal`. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Log, toHex } from 'viem';
import { createLiveIntent } from '../src/intents/liveIntent.ts';
import { type JournalEntry, openJournal } from '../src/journal/openJournal.ts';

const COMMIT = 1000;
/** Bytes of a lone WRITE's calldata with a payload of 20 bytes. */
const CALL_BYTES = 452;
const TARGET_BYTES = 235;
const to = '0x00000000000000000000000000000000005eeDed';

/** A confirmed write as the relayer leaves it: a version, a receipt with three logs. */
function makeWrite(nonce: number): JournalEntry {
  const intentId = `019b76dc-6ab1-7620-${toHex(nonce, { size: 8 }).slice(2, 6)}-${nonce.toString(16).padStart(12, '0')}#1`;
  const data = toHex(nonce, { size: CALL_BYTES });
  const [hash, blockHash] = [toHex(nonce + 1, { size: 32 }), toHex(nonce + 2, { size: 32 })];
  const log = { address: to, topics: [hash, hash], data: hash, blockHash, transactionHash: hash } as unknown as Log;
  const draft = { intentId, label: undefined, call: { to, data, value: 0n } as const, gasLimit: 120_000n };
  const bounds = { confirmations: 2, rejectsHighGas: false, maxFeePerGas: 10n ** 11n, expiresAtMs: undefined };
  const outcome = { blockNumber: BigInt(nonce), blockHash, gasUsed: 87_500n, effectiveGasPrice: 1_234_567_890n };
  const sent = {
    intentId,
    txHash: hash,
    nonce,
    status: 'success',
    ...outcome,
    dataFee: 0n,
    logs: [log, log, log],
  } as const;
  const raw = `0x02f9${'5a'.repeat(40)}${data.slice(2)}${'6b'.repeat(68)}` as const;
  const fees = { gasLimit: 120_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 1n };
  const version = { hash, intentId, nonce, kind: 'call', raw, ...fees, createdAtMs: 1_764_000_000_000 } as const;
  const intent = { ...createLiveIntent({ ...draft, ...bounds }, 1_764_000_000_000 + nonce), nonce, sent };
  return { intents: [{ ...intent, state: 'confirmed' }], versions: [version] };
}

async function measure(writes: number): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'journal-'));
  try {
    const path = join(dir, 'sender.sqlite');
    const journal = openJournal(path);
    for (let from = 0; from < writes; from += COMMIT) {
      const made = Array.from({ length: COMMIT }, (_, i) => makeWrite(from + i));
      journal.commit({ intents: made.flatMap((one) => one.intents), versions: made.flatMap((one) => one.versions) });
      if (from === 0) console.log(`${(await stat(`${path}-wal`)).size} bytes of log for the first ${COMMIT} writes`);
      journal.prune(
        made.flatMap((one) => one.intents.map(({ intentId }) => intentId)),
        from + COMMIT,
      );
    }
    journal.close();
    const { size } = await stat(path);
    const each = size / writes;
    console.log(
      `${writes} writes: ${(size / 1e6).toFixed(1)} MB, ${each.toFixed(0)} bytes a write (target: ${TARGET_BYTES})`,
    );
    if (each > TARGET_BYTES && writes >= 1_000_000) process.exitCode = 1;
  } finally {
    await rm(dir, { recursive: true });
  }
}

await measure(process.argv.includes('--quick') ? 20_000 : 1_000_000);
