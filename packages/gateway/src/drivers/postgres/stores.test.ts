import { sized } from '@prism-gateway/testing/test-size';
import { adminStoreContract } from '../../../test/contracts/adminStoreContract.ts';
import { deliveryQueueContract } from '../../../test/contracts/deliveryQueueContract.ts';
import { rateLimitStoreContract } from '../../../test/contracts/rateLimitStoreContract.ts';
import { relayerStoreContract } from '../../../test/contracts/relayerStoreContract.ts';
import { requestStoreContract } from '../../../test/contracts/requestStoreContract.ts';
import { requestStoreProperty } from '../../../test/contracts/requestStoreProperty.ts';
import { retentionContract } from '../../../test/contracts/retentionContract.ts';
import { webhookStoreContract } from '../../../test/contracts/webhookStoreContract.ts';
import { createPostgresRig, openStoresOf, postgresStore } from '../../../test/rigs/postgresStores.ts';

const requests = postgresStore((stores) => stores.requests);

requestStoreContract('postgres', requests);
requestStoreProperty('postgres', { createStore: requests, runs: sized({ small: 20, long: 300 }) });
relayerStoreContract(
  'postgres',
  postgresStore(({ relayers }) => relayers),
);
rateLimitStoreContract(
  'postgres',
  postgresStore(({ rateLimits }) => rateLimits, true),
);
adminStoreContract(
  'postgres',
  postgresStore((stores) => stores),
);
webhookStoreContract(
  'postgres',
  postgresStore(({ webhooks }) => webhooks),
);
deliveryQueueContract('postgres', async () => {
  const rig = await createPostgresRig();
  const outbox = { ...(await rig.open()), flow: async () => undefined };
  const store = { ...outbox, openPeer: async () => (await rig.open()).deliveries };
  return { store, cutOff: rig.close, dispose: rig.close };
});

retentionContract('postgres', async () => {
  const rig = await createPostgresRig();
  const { requests, admin } = await rig.open();
  return {
    store: {
      ...{ requests, admin },
      async sweep(options) {
        const stores = await openStoresOf(rig.url, options);
        await stores.sweep();
        await stores.close();
      },
    },
    cutOff: rig.close,
    dispose: rig.close,
  };
});
