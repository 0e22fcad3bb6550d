import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CrashSettings } from './rigs/crashingSender.ts';
import { markedCall, type SenderRig, startSenderRig } from './rigs/createSenderRig.ts';

const PROGRAM = fileURLToPath(new URL('rigs/crashingSender.ts', import.meta.url));

let rig: SenderRig;
let child: ChildProcess | undefined;
beforeEach(async () => {
  rig = await startSenderRig({ isMiningOff: true });
});
afterEach(async () => {
  if (child !== undefined && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await rig.dispose();
});

/** Starts a process that sends, and does not come to an end, since no block comes. */
async function startHolder(): Promise<ChildProcess> {
  const { privateKey, dir, anvil, options } = rig;
  const settings: CrashSettings = {
    journalPath: options.journalPath,
    lockDir: dir,
    rpcUrl: anvil.rpcUrl,
    privateKey,
    intentIds: ['held'],
    crashAt: 0,
    bumpAfterMs: 60_000,
    confirmations: 1,
    mineOn: [],
  };
  const holder = spawn(process.execPath, [PROGRAM, JSON.stringify(settings)], { stdio: 'ignore' });
  child = holder;
  // Its transaction is in the node: it has both locks.
  const status = async () => (await anvil.rpc('txpool_status')) as { pending: string };
  await expect.poll(status).toMatchObject({ pending: '0x1' });
  return holder;
}

// Shows SEND-10.
test('a second process on one key or one journal is refused, until the first is gone, however it went', async () => {
  const holder = await startHolder();
  await expect(rig.open()).rejects.toMatchObject({ code: 'JOURNAL_LOCKED' });
  await expect(rig.open({ journalPath: `${rig.dir}/b.sqlite` })).rejects.toMatchObject({ code: 'KEY_IN_USE' });
  // It has lost nothing by it.
  expect([holder.exitCode, holder.signalCode]).toEqual([null, null]);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const sender = await rig.open();
  expect(sender.get('held')).toMatchObject({ nonce: 0 });
  await rig.anvil.rpc('evm_mine');
  expect(await sender.send('held', markedCall('held'))).toMatchObject({ nonce: 0, status: 'success' });
  expect(await rig.countMined('held')).toBe(1);
});
