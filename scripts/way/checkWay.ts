/**
 * `npm run check:way`: counts the files that a reader opens who follows a call from the socket to the disk, and fails where they are too
 * many. A real gateway answers the call many times while V8 counts the calls of its functions, on both threads. A file is run for the
 * call if one of its functions is called each time, and it is on the way unless ./beside.ts says what else it does there.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAdminClient, createRelayerClient } from '@prism-gateway/sdk';
import { startGateway } from '@prism-gateway/testing';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { BESIDE } from './beside.ts';

/** More than any timer of the gateway ticks meanwhile. */
const CALLS = 200;
/** Most files on the way that one can hold in mind. */
const MAX_FILES = 22;
const ROOT = new URL('../../', import.meta.url).href;
const OURS = /^(?!.*node_modules).*\.ts$/;

type Hex = `0x${string}`;

/** How often each function was called, by its file, its name and its place there. */
type Counts = ReadonlyMap<string, number>;

/** What is read here of a report of V8. */
interface Report {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
}

const hex = (bytes: number): Hex => `0x${randomBytes(bytes).toString('hex')}`;

async function submit(url: string): Promise<string> {
  const signed = { signer: hex(20), v: 27, r: hex(32), s: hex(32) };
  const data = { cloudId: hex(32), dataId: hex(32), payload: '0x00', relayerFee: '1', timestamp: '1767225600' };
  const body = JSON.stringify({ chainName: 'eip155:31337', action: 'WRITE_DATA_FOR', params: { ...data, ...signed } });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/requests`, { method: 'POST', headers, body });
  if (answer.status !== 201) throw new Error(`POST /requests answered ${answer.status}: ${await answer.text()}`);
  // The answer's form is the specification's.
  return ((await answer.json()) as { requestId: string }).requestId;
}

async function readCounts(folder: string): Promise<Counts> {
  const counts = new Map<string, number>();
  for (const name of await readdir(folder)) {
    const report: Report = JSON.parse(await readFile(join(folder, name), 'utf8'));
    for (const { url, functions } of report.result) {
      if (!url.startsWith(ROOT) || !OURS.test(url)) continue;
      for (const { functionName, ranges } of functions) {
        const [{ startOffset, count } = { startOffset: 0, count: 0 }] = ranges;
        const key = `${url.slice(ROOT.length)} ${functionName || '<callback>'} ${startOffset}`;
        counts.set(key, (counts.get(key) ?? 0) + count);
      }
    }
  }
  return counts;
}

/** Starts a gateway, has it answer, and reads what it has run. */
async function countCalls(act: (url: string) => Promise<void>): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), 'prism-way-'));
  const gateway = await startGateway({
    env: { NODE_V8_COVERAGE: folder, RATE_LIMIT_WRITES: '1000000', RATE_LIMIT_CLAIMS: '1000000' },
  });
  await act(gateway.url);
  await gateway.stop();
  const counts = await readCounts(folder);
  await rm(folder, { recursive: true });
  return counts;
}

/** Submits, and claims each as one relayer or, in the run to compare with, not at all. */
function submitAll(claims: 'claimed' | 'left') {
  return async (url: string) => {
    const account = privateKeyToAccount(generatePrivateKey());
    await createAdminClient({ url, adminKey: 'change-me-admin-key' }).addRelayer({ address: account.address });
    const relayer = createRelayerClient({ url, account });
    for (let i = 0; i < CALLS; i++) {
      const requestId = await submit(url);
      if (claims === 'claimed') await relayer.claim(requestId);
    }
  };
}

/** @returns by file, the functions that were called once more a call than without it */
function wayOf(counts: Counts, without: Counts): ReadonlyMap<string, ReadonlySet<string>> {
  const way = new Map<string, Set<string>>();
  for (const [key, count] of [...counts].sort()) {
    if (count - (without.get(key) ?? 0) < CALLS) continue;
    const [file, name] = key.split(' ') as [string, string];
    way.set(file, (way.get(file) ?? new Set()).add(name));
  }
  return way;
}

/** @returns whether few enough are to be opened; where none seem to be, nothing was counted */
function judge(call: string, way: ReturnType<typeof wayOf>): boolean {
  const opened = [...way].filter(([file]) => BESIDE[file] === undefined);
  console.log(`${call}: ${opened.length} files to open (at most ${MAX_FILES}), of ${way.size} that run`);
  for (const [file, names] of opened) console.log(`  ${file}: ${[...names].join(', ')}`);
  for (const [file] of way) if (BESIDE[file] !== undefined) console.log(`  beside the way: ${file}, ${BESIDE[file]}`);
  return opened.length > 0 && opened.length <= MAX_FILES;
}

const submitted = await countCalls(submitAll('left'));
const claimed = await countCalls(submitAll('claimed'));
const judged = [
  judge('POST /requests', wayOf(submitted, new Map())),
  judge('PATCH /requests/{requestId} with a claim', wayOf(claimed, submitted)),
];
if (!judged.every(Boolean)) {
  console.error(
    `Expected 1 to ${MAX_FILES}: merge what belongs together, or tell in scripts/way/beside.ts what is beside the way.`,
  );
  process.exitCode = 1;
}
