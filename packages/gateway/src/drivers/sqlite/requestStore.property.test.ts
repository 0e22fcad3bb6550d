import { requestStoreProperty } from '../../../test/contracts/requestStoreProperty.ts';
import { sqliteStore } from '../../../test/rigs/sqliteStores.ts';

requestStoreProperty(
  'sqlite',
  sqliteStore(({ requests }) => requests),
);
