import { relayerStoreContract } from '../../../test/contracts/relayerStoreContract.ts';
import { sqliteStore } from '../../../test/rigs/sqliteStores.ts';

relayerStoreContract(
  'sqlite',
  sqliteStore(({ relayers }) => relayers),
);
