import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forwarderAbi } from '../src/index.ts';
import { type ChainRig, startChainRig } from './chainRig.ts';
import { type GasMeasurement, measureGas } from './measureGas.ts';

/**
 * A signature or an address with more zero bytes than another costs a little less calldata. More than this is a change of
 * the contracts: `node packages/contracts/scripts/measureGas.ts` writes the new figures down.
 */
const TOLERANCE = 0.01;

/** At most this part of a single write's gas is a write in a batch of 50. */
const MAX_BATCH_RATIO = 0.7;
/** Most gas of a write of 20 bytes, alone and in a batch of 50. */
const MAX_GAS = { alone: 92_000, batched: 48_000 };

let rig: ChainRig;
let measured: GasMeasurement;
const path = new URL('./gasSnapshot.json', import.meta.url);
// Written by the script from this very type.
const snapshot = JSON.parse(readFileSync(path, 'utf8')) as GasMeasurement;

beforeAll(async () => {
  rig = await startChainRig();
  measured = await measureGas(rig);
});
afterAll(() => rig?.devnet.stop());

describe('gas', () => {
  it('is measured for all that is in the snapshot, and the other way round', () => {
    expect(Object.keys(measured.transactions)).toEqual(Object.keys(snapshot.transactions));
  });

  it('is in the snapshot for every function that carries an action out', () => {
    const names = forwarderAbi.flatMap((part) => (part.type === 'function' ? [part.name] : []));
    const acts = names.filter((name) => name.endsWith('For') || name === 'batchMultiUserWriteData');
    const actions = acts.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase());
    expect(actions).toHaveLength(12);
    const labels = Object.keys(snapshot.transactions).map((label) => label.split(',')[0]);
    expect(actions.filter((action) => !labels.includes(action))).toEqual([]);
  });

  it.each(Object.entries(snapshot.transactions))('of %s is as it was', (label, gas) => {
    expect(Math.abs((measured.transactions[label] ?? 0) - gas) / gas).toBeLessThan(TOLERANCE);
  });

  it('of a write in a batch of 50 is at most 0.7 of a single write', () => {
    console.log(`write in a batch of 50: ${measured.writeInBatchOf50} gas, ${measured.batchRatio} of a single write`);
    expect(measured.batchRatio).toBeLessThanOrEqual(MAX_BATCH_RATIO);
    expect(measured.writeInBatchOf50).toBeLessThanOrEqual(MAX_GAS.batched);
    expect(measured.transactions['WRITE_DATA_FOR, 20 bytes']).toBeLessThanOrEqual(MAX_GAS.alone);
    expect(measured.batchRatio).toBeCloseTo(snapshot.batchRatio, 2);
  });
});
