import { requestStoreContract } from '../../../test/contracts/requestStoreContract.ts';
import { sqliteStore } from '../../../test/rigs/sqliteStores.ts';

requestStoreContract(
  'sqlite',
  sqliteStore(({ requests }) => requests),
);
