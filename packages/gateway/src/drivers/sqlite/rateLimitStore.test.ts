import { rateLimitStoreContract } from '../../../test/contracts/rateLimitStoreContract.ts';
import { sqliteStore } from '../../../test/rigs/sqliteStores.ts';

rateLimitStoreContract(
  'sqlite',
  sqliteStore(
    ({ rateLimits }) => rateLimits,
    async (opened) => {
      for (const { rateLimits } of opened) await rateLimits.flush();
    },
  ),
);
