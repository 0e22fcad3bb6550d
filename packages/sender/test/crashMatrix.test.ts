import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type Anvil, startAnvil } from '@prism-gateway/testing';
import { drawSome, isLong, sized } from '@prism-gateway/testing/test-size';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import { afterEach, describe, expect, test } from 'vitest';
import type { Sender } from '../src/index.ts';
import type { CrashSettings } from './rigs/crashingSender.ts';
import { badCall, createSenderRig, markedCall, type SenderRig } from './rigs/createSenderRig.ts';

const PROGRAM = fileURLToPath(new URL('rigs/crashingSender.ts', import.meta.url));
/** Processes at once; the machine has two cores. */
const LANES = 2;
/** Points of each scenario in the small size. */
const SMALL_COUNT = 2;

let anvil: Anvil | undefined;
afterEach(async () => {
  await anvil?.stop();
});

interface Scenario {
  readonly intentIds: readonly string[];
  readonly bumpAfterMs: number;
  readonly confirmations: number;
  readonly mineOn: CrashSettings['mineOn'];
  readonly badIntentId?: string;
  readonly takesNonce?: boolean;
}

/** Runs the process. @returns how many steps it made, or undefined where it was killed */
async function run(rig: SenderRig, scenario: Scenario, crashAt: number): Promise<number | undefined> {
  const { journalPath } = rig.options;
  const { privateKey, dir: lockDir } = rig;
  const settings: CrashSettings = { journalPath, lockDir, rpcUrl: rig.anvil.rpcUrl, privateKey, crashAt, ...scenario };
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const timer = setTimeout(() => child.kill('SIGTERM'), TIMEOUT_MS);
  const [output, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  clearTimeout(timer);
  if (signal === 'SIGKILL') return undefined;
  expect({ code, signal }).toEqual({ code: 0, signal: null });
  return Number(output);
}

async function expectRefused(what: { rig: SenderRig; sender: Sender; intentId: string }): Promise<void> {
  const { rig, sender, intentId } = what;
  await expect(sender.send(intentId, badCall(intentId))).rejects.toMatchObject({ code: 'TRANSACTION_REFUSED' });
  expect(await rig.countMined(intentId)).toBe(0);
}

/** The result of one crash. */
interface Recovery {
  /** Whether the process reached the step at which it was to be killed. */
  readonly wasKilled: boolean;
  /** How many intents its journal held afterwards. */
  readonly knownCount: number;
}

/** Crashes at a step, goes on in this process, and looks at the chain. */
async function crashAndRecover(chain: Anvil, scenario: Scenario, crashAt: number): Promise<Recovery> {
  const rig = await createSenderRig(chain);
  const name = (id: string) => `${id}-${rig.account.address}`;
  const { badIntentId } = scenario;
  const bad = badIntentId === undefined ? {} : { badIntentId: name(badIntentId) };
  const own = { ...scenario, ...bad, intentIds: scenario.intentIds.map(name) };
  try {
    // Where time decides how many steps there are, it may have come to its end before this one; then it must have been right, too.
    const wasKilled = (await run(rig, own, crashAt)) === undefined;
    const { bumpAfterMs, confirmations } = own;
    const onEvent: SenderRig['options']['onEvent'] = (event) => {
      if (own.mineOn.includes(event.type)) void chain.rpc('evm_mine');
    };
    const sender = await rig.open({ bumpAfterMs, confirmations, onEvent });
    const known = sender.list().map(({ intentId }) => intentId);
    const sent = await Promise.all(own.intentIds.map((id) => sender.send(id, markedCall(id))));
    // What the killed process had not come to know is not there yet; nothing else ever is.
    expect([...own.intentIds, own.badIntentId]).toEqual(expect.arrayContaining(known));
    if (own.badIntentId !== undefined) await expectRefused({ rig, sender, intentId: own.badIntentId });
    const mined = await Promise.all(own.intentIds.map(rig.countMined));
    expect({ crashAt, mined }).toEqual({ crashAt, mined: own.intentIds.map(() => 1) });
    expect(sent.map(({ status }) => status)).toEqual(own.intentIds.map(() => 'success'));
    // No nonce was spent on anything else.
    const others = own.badIntentId === undefined && own.takesNonce === undefined ? 0 : 1;
    const spent = (await rig.accountNonce()) - own.intentIds.length;
    expect(spent).toBeGreaterThanOrEqual(0);
    expect(spent).toBeLessThanOrEqual(others);
    return { wasKilled, knownCount: known.length };
  } finally {
    await rig.dispose();
  }
}

/** Goes through all steps; in the small size, through some from the first to the last. @returns how many killed a process */
async function crashEverywhere(chain: Anvil, scenario: Scenario): Promise<number> {
  const probe = await createSenderRig(chain);
  const steps = (await run(probe, scenario, 0)) ?? 0;
  await probe.dispose();
  const count = isLong ? steps : SMALL_COUNT;
  const points = Array.from({ length: count }, (_, place) => 1 + Math.floor(((place + 0.5) * steps) / count));
  const recoveries: Recovery[] = [];
  const lane = async () => {
    for (let point = points.shift(); point !== undefined; point = points.shift()) {
      recoveries.push(await crashAndRecover(chain, scenario, point));
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  // Late in its life a process has written down all that it sends.
  expect(Math.max(...recoveries.map(({ knownCount }) => knownCount))).toBeGreaterThanOrEqual(scenario.intentIds.length);
  return recoveries.filter(({ wasKilled }) => wasKilled).length;
}

const SCENARIOS: readonly (Scenario & { readonly name: string; readonly isMiningOff?: boolean })[] = [
  { name: 'two intents', intentIds: ['a', 'b'], bumpAfterMs: 10_000, confirmations: 1, mineOn: [] },
  {
    name: 'an intent whose fees are raised',
    isMiningOff: true,
    ...{ intentIds: ['a'], bumpAfterMs: 30, confirmations: 1, mineOn: ['bumped'] },
  },
  {
    name: 'intents that wait for depth',
    isMiningOff: true,
    ...{ intentIds: ['a', 'b'], bumpAfterMs: 200, confirmations: 2, mineOn: ['broadcast', 'mined'] },
  },
  {
    name: 'an intent beside one that is refused, whose nonce it frees,',
    ...{ intentIds: ['good'], badIntentId: 'bad', bumpAfterMs: 10_000, confirmations: 1, mineOn: [] },
  },
  {
    name: 'intents whose nonces somebody else has taken',
    ...{ intentIds: ['a', 'b'], takesNonce: true, bumpAfterMs: 10_000, confirmations: 1, mineOn: [] },
  },
];

describe('a process that is killed between any two steps', () => {
  // Shows SEND-2, SEND-3.
  test.each(drawSome(SCENARIOS, { of: 'crashes of a sender', small: 1 }))(
    'sends $name once, all the same',
    async ({ name: _, isMiningOff = false, ...scenario }) => {
      anvil = await startAnvil({ isMiningOff });
      // Three calls at the start, fees, balance, broadcasts, receipts, two before and after each; two commits; the end.
      expect(await crashEverywhere(anvil, scenario)).toBeGreaterThanOrEqual(sized({ small: 1, long: 12 }));
    },
  );
});
