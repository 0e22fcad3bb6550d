import { sized } from '@prism-gateway/testing/test-size';
import { requestStoreProperty } from '../../../test/contracts/requestStoreProperty.ts';
import { sqliteStore } from '../../../test/rigs/sqliteStores.ts';

requestStoreProperty('sqlite', {
  createStore: sqliteStore(({ requests }) => requests),
  runs: sized({ small: 60, long: 1000 }),
});
