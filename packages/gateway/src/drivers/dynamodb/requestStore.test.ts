import { requestStoreContract } from '../../../test/contracts/requestStoreContract.ts';
import { describeWithDynamo, dynamoStore } from '../../../test/rigs/dynamoStores.ts';

describeWithDynamo('DynamoDB', () => {
  requestStoreContract(
    'dynamodb',
    dynamoStore(({ requests }) => requests),
  );
});
