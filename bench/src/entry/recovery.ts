/** Raw recoveries: baseline of the claim. Started by `startChild`. */
import { measureRecoveries } from '../baselines/measureRecoveries.ts';
import type { RecoveryCalls } from '../baselines/recoveryCalls.ts';
import { serveCalls } from '../processes/serveCalls.ts';
import { loadSecp256k1 } from '../signing/loadSecp256k1.ts';

const secp256k1 = loadSecp256k1();

serveCalls<RecoveryCalls>({
  recover: async ({ count }) => measureRecoveries(secp256k1, count),
});
