import { sized } from '@prism-gateway/testing/test-size';
import { describeWithDynamo } from '../rigs/dynamoStores.ts';
import { startDynamoPair } from '../rigs/startDynamoPair.ts';
import { startGatewayPair } from '../rigs/startGatewayPair.ts';
import { pagingRace } from './pagingRace.ts';

pagingRace('SQLite', startGatewayPair, {
  records: sized({ small: 1000, long: 10_000 }),
  ordersLateRecords: true,
});

describeWithDynamo('DynamoDB', () => {
  pagingRace('DynamoDB', startDynamoPair, {
    records: sized({ small: 200, long: 4000 }),
    ordersLateRecords: false,
  });
});
