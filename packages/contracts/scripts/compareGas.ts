/** Compares the gas of a write with OpenZeppelin's ERC2771Forwarder before a plain fee ledger: `npm run bench -- gas`. */
import { startChainRig } from '../test/chainRig.ts';
import { measurePlain } from '../test/comparePlain.ts';
import { measureGas } from '../test/measureGas.ts';

/** A lone write may cost a tenth more, and one in a batch no more. */
const TARGETS = { alone: 1.1, batched: 1 };

const rig = await startChainRig();
try {
  const [ours, plain] = [await measureGas(rig), await measurePlain(rig)];
  const gas = { alone: ours.transactions['WRITE_DATA_FOR, 20 bytes'] ?? 0, batched: ours.writeInBatchOf50 };
  for (const name of ['alone', 'batched'] as const) {
    const ratio = gas[name] / plain[name];
    const words = `${name}: ${gas[name]} gas, ERC2771Forwarder ${plain[name]}, ratio ${ratio.toFixed(3)}`;
    console.log(`write of 20 bytes, ${words} (target ${TARGETS[name]})`);
    if (ratio > TARGETS[name]) process.exitCode = 1;
  }
} finally {
  await rig.devnet.stop();
}
