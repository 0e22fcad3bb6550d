import { sized } from '@prism-gateway/testing/test-size';
import { requestStoreProperty } from '../../../test/contracts/requestStoreProperty.ts';
import { describeWithDynamo, dynamoStore } from '../../../test/rigs/dynamoStores.ts';

describeWithDynamo('DynamoDB', () => {
  requestStoreProperty('dynamodb', {
    createStore: dynamoStore(({ requests }) => requests),
    // A run takes a second of both cores here, other ones each time; `npm test -- --long` has them in full.
    runs: sized({ small: 10, long: 1000 }),
  });
});
