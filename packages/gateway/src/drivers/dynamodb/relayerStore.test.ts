import { relayerStoreContract } from '../../../test/contracts/relayerStoreContract.ts';
import { describeWithDynamo, dynamoStore } from '../../../test/rigs/dynamoStores.ts';

describeWithDynamo('DynamoDB', () => {
  relayerStoreContract(
    'dynamodb',
    dynamoStore(({ relayers }) => relayers),
  );
});
