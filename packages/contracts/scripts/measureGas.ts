/** Measures the gas of each function and writes it down: `node packages/contracts/scripts/measureGas.ts`. */
import { writeFileSync } from 'node:fs';
import { startChainRig } from '../test/chainRig.ts';
import { measureGas } from '../test/measureGas.ts';

const rig = await startChainRig();
try {
  const measured = await measureGas(rig);
  writeFileSync(new URL('../test/gasSnapshot.json', import.meta.url), `${JSON.stringify(measured, undefined, 2)}\n`);
  console.log(measured);
} finally {
  await rig.devnet.stop();
}
