import { requestStoreProperty } from '../../../test/contracts/requestStoreProperty.ts';
import { describeWithDynamo, dynamoStore } from '../../../test/rigs/dynamoStores.ts';

describeWithDynamo('DynamoDB', () => {
  requestStoreProperty(
    'dynamodb',
    dynamoStore(({ requests }) => requests),
  );
});
