import { expect, test } from 'vitest';
import { rateLimitStoreContract } from '../../../test/contracts/rateLimitStoreContract.ts';
import { createDynamoRig, describeWithDynamo, dynamoStore } from '../../../test/rigs/dynamoStores.ts';

describeWithDynamo('DynamoDB', () => {
  rateLimitStoreContract(
    'dynamodb',
    dynamoStore(({ rateLimits }) => rateLimits),
  );

  test('clients with names longer than a key of DynamoDB are counted apart', async () => {
    await using rig = await createDynamoRig();
    const { rateLimits } = rig.open();
    const hit = { limit: 1, window: 30_000_000, elapsed: 0 };
    for (const key of [`sign:user:${'x'.repeat(5000)}1`, `sign:user:${'x'.repeat(5000)}2`]) {
      expect((await rateLimits.take({ ...hit, key })).allowed).toBe(true);
      expect((await rateLimits.take({ ...hit, key })).allowed).toBe(false);
    }
  });
});
