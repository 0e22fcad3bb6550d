/** `node packages/payments/src/entry/frontend.ts`: the reference frontend as a program, for trying the payment relayer out. */
import { join } from 'node:path';
import { makeDirectory, waitForSignal } from '@prism-gateway/node';
import { startReferenceFrontend } from '../referenceFrontend/startReferenceFrontend.ts';

const DEFAULT_PORT = '8790';
const DEFAULT_LEASE_MS = '60000';

const {
  DATA_DIR = './data/frontend',
  PORT = DEFAULT_PORT,
  CLAIM_LEASE_MS = DEFAULT_LEASE_MS,
  RELAYER_SECRET,
} = process.env;

if (RELAYER_SECRET === undefined || RELAYER_SECRET === '') {
  console.error('Set RELAYER_SECRET, the secret that the payment relayer is known by.');
  process.exit(1);
}
makeDirectory(DATA_DIR);
const frontend = await startReferenceFrontend({
  file: join(DATA_DIR, 'frontend.db'),
  secret: RELAYER_SECRET,
  leaseMs: () => Number(CLAIM_LEASE_MS),
  port: Number(PORT),
});
console.log(`The reference frontend listens at ${frontend.url}`);
await waitForSignal();
await frontend.close();
process.exit(0);
