import { rateLimitStoreContract } from '../../../test/contracts/rateLimitStoreContract.ts';
import { describeWithDynamo, dynamoStore } from '../../../test/rigs/dynamoStores.ts';

describeWithDynamo('DynamoDB', () => {
  rateLimitStoreContract(
    'dynamodb',
    dynamoStore(({ rateLimits }) => rateLimits),
  );
});
