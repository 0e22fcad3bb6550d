import { sized } from '@prism-gateway/testing/test-size';
import { TIMEOUT_MS } from '@prism-gateway/testing/timeout';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchangeBytes } from '../rigs/exchangeBytes.ts';
import { parseAnswers } from '../rigs/parseAnswers.ts';
import { residentBytes } from '../rigs/residentBytes.ts';
import { callArbitrary } from './callArbitrary.ts';
import { checkAnswer } from './checkAnswer.ts';
import { type FuzzCall, isWhole, writeCall } from './fuzzCall.ts';
import { type FuzzTarget, startFuzzTarget } from './startFuzzTarget.ts';

/** How long a client that announced more than it sent waits for a word, in milliseconds. */
const GIVE_UP_MS = 100;
/** Calls at a time. */
const LANES = 8;
/** Calls of one round. */
const ROUND = 300;
/** How much of a call and of its failure is shown, in bytes. */
const SHOWN_BYTES = 800;
/** Bound on the process's memory at the end, in bytes: the project's own bound under load and room for the collector. */
const MAX_RESIDENT = 320 * 1024 * 1024;

const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));
let target: FuzzTarget;
beforeAll(async () => {
  target = await startFuzzTarget();
});
afterAll(() => target.gateway.stop());

/** Statuses that the calls must have met, or they do not reach where they should. */
const MUST_MEET = [200, 201, 204, 400, 401, 403, 404, 405, 409, 413, 415, 417, 431];

async function send(call: FuzzCall, met: Map<number, number>): Promise<void> {
  const bytes = await writeCall(call, target.proofs);
  try {
    const patience = { timeoutMs: TIMEOUT_MS, ...(!isWhole(call) && { endAfterMs: GIVE_UP_MS }) };
    const answers = parseAnswers(await exchangeBytes({ port: target.port, bytes, ...patience }));
    if (isWhole(call)) expect(answers.length, 'answers').toBeGreaterThanOrEqual(1);
    for (const answer of answers) {
      met.set(answer.status, (met.get(answer.status) ?? 0) + 1);
      checkAnswer(answer, { secrets: [target.proofs.adminKey], mayBeBusy: bytes.includes('/ready') });
    }
  } catch (cause) {
    const text = JSON.stringify(bytes.toString('latin1', 0, SHOWN_BYTES));
    throw new Error(`FUZZ_SEED=${seed}: ${String(cause).slice(0, SHOWN_BYTES)}\nafter ${text}`, { cause });
  }
}

async function sendAll(calls: readonly FuzzCall[], met: Map<number, number>): Promise<void> {
  const left = calls.values();
  const lane = async () => {
    for (const call of left) await send(call, met);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

test(`whatever is called, no answer is a 5xx and every failure has the error's shape (seed ${seed})`, async () => {
  const met = new Map<number, number>();
  const calls = callArbitrary(target.targets);
  const rounds = sized({ small: 3, long: 40 });
  // Some answers are rare: a few rounds more meet them too.
  const isDone = (round: number) =>
    round >= rounds && (MUST_MEET.every((status) => met.has(status)) || round >= 4 * rounds);
  for (let round = 0; !isDone(round); round++) {
    await sendAll(fc.sample(calls, { seed: seed + round, numRuns: ROUND }), met);
  }
  expect([...met.keys()]).toEqual(expect.arrayContaining(MUST_MEET));
  expect(target.gateway.output.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  await expect.poll(async () => (await fetch(`${target.gateway.url}/ready`)).status).toBe(200);
  // A process that runs has a pid.
  expect(await residentBytes(target.gateway.process.pid as number)).toBeLessThan(MAX_RESIDENT);
});
